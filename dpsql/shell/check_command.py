"""`dpsql check METADATA`: whether the metadata is right, what in it may not be meant, whether the source fits it."""

from __future__ import annotations

from typing import Any

import click

from dpsql.shell.commands import CONTEXT
from dpsql.shell.stderr import Exit, warn

DECLARED = "declared"


@click.command(context_settings=CONTEXT)
@click.argument("metadata")
@click.option(
    "--source",
    multiple=True,
    is_flag=False,
    flag_value=DECLARED,
    metavar="[[TABLE=]PATH]",
    help="Compare with the source's columns: this one, or the metadata's own.",
)
def check(metadata: str, source: tuple[str, ...]) -> int:
    """Check metadata and show all problems at once. It also warns of what is allowed but probably a mistake.

    With --source the columns of the data are compared too (names and types, never a value).
    """
    from dpsql.metadata.delta import meaning
    from dpsql.metadata.lint import lint
    from dpsql.metadata.load import load
    from dpsql.shell.opening import check_path

    check_path(metadata)
    catalog = load(metadata)
    for warning in lint(catalog):
        warn(warning)
    private = sum(not table.public for table in catalog.tables)
    tables = f"{len(catalog.tables)} table{'s' if len(catalog.tables) != 1 else ''}"
    print(f"{metadata}: dataset {catalog.dataset}, {tables} ({private} private): OK")
    for line in meaning(catalog):
        print(line)
    return _compare(catalog, source) if source else Exit.OK


def _compare(catalog: Any, source: tuple[str, ...]) -> int:
    from dpsql.plan.dialects.literals import identifier
    from dpsql.shell.drift import drift, not_known
    from dpsql.shell.opening import source_of

    given = source_of([word for word in source if word != DECLARED])
    differences, unknown = drift(catalog, given), not_known(catalog, given)
    for difference in differences:
        warn(difference.text)
    broken = any(difference.breaks for difference in differences)
    if not differences:
        print("the sources have every column, with types that fit" if not unknown else "the sources have every column")
    for table, columns in unknown.items():
        example = columns[0]
        print(
            f"{table} is a CSV: its cells are text, and whether {', '.join(columns)} convert is not known. "
            "A cell that does not convert is NULL, without a warning (129,95 needs format: {decimal: ','}). "
            "To measure how many there are, at a cost: dpsql advise, or "
            f"SELECT COUNT(*), COUNT({identifier(example)}) FROM {identifier(table)}"
        )
    return Exit.METADATA if broken else Exit.OK
