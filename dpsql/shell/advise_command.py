"""`dpsql advise METADATA --epsilon E`: limits and bounds that nobody declared, found once and privately."""

from __future__ import annotations

import os
import shutil
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from dpsql.shell.commands import CONTEXT
from dpsql.shell.stderr import Exit, hint, warn


@click.command(context_settings=CONTEXT)
@click.argument("metadata")
@click.option("--epsilon", required=True, metavar="E", help="The most that it may cost in total.")
@click.option("--source", multiple=True, metavar="[TABLE=]PATH", help="Use this data instead of the metadata's.")
@click.option("--write", is_flag=True, help="Write the limits and bounds into the metadata.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def advise(metadata: str, epsilon: str, source: tuple[str, ...], write: bool, yes: bool) -> int:
    """Find contribution limits and bounds that are not declared.

    The data choose each of them privately. The cost is charged and on record; later queries use them at no cost.
    """
    from dpsql.metadata.load import load
    from dpsql.shell.advice import shares, steps
    from dpsql.shell.opening import check_path, connection_of, number_text

    check_path(metadata)
    whole = Fraction(number_text(epsilon, "--epsilon"))
    todo = steps(load(metadata))
    if not todo:
        print("nothing to do: every limit and every bound is declared")
        return Exit.OK
    parts = shares(todo, whole)
    for step, part in zip(todo, parts, strict=True):
        hint(f"ε = {float(part):.4g}: {_described(step)}")
    if not yes:
        click.confirm(f"Spend ε = {float(whole):g} of the budget on this?", abort=True)
    with connection_of(metadata, {"source": source}) as connection:
        proposals = _proposals(connection, todo, parts, whole)
    return _write(metadata, proposals, whole) if write else Exit.OK


def _described(step: Any) -> str:
    match step.what:
        case "rows":
            return f"{step.table}: how many rows of a unit count"
        case "spread":
            return f"{step.table}: how many rows units have"
        case "bounds":
            return f"{step.table}.{step.column}: which bounds its values have"
        case _:
            return f"{step.table}: how many cells are NULL or do not convert"


def _proposals(connection: Any, todo: Any, parts: Any, whole: Fraction) -> list[Any]:
    """Each finding is printed at once, because it is already paid for."""
    from dpsql.shell.advice import advice, check_budget
    from dpsql.shell.spinner import spinner

    def ask(columns: str, epsilon: Fraction, options: str) -> tuple[Any, Any]:
        given = f"epsilon = {float(epsilon)!r}" + (f", {options}" if options else "")
        cursor = connection.execute(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({given}) {columns}")
        return cursor.fetchall(), cursor.privacy

    check_budget(connection._session, whole)
    proposals: list[Any] = []
    for step, part in zip(todo, parts, strict=True):
        with spinner():
            new = list(advice(connection._session, step, part, ask))
        for one in new:
            print(_line(one), flush=True)
        proposals += new
    return proposals


def _line(one: Any) -> str:
    where = one.table if one.column is None else f"{one.table}.{one.column}"
    return f"{where}: {one.key}   # {one.text}" if one.key else f"{where}: {one.text}"


def _write(metadata: str, proposals: list[Any], epsilon: Fraction) -> int:
    from dpsql.metadata.load import load
    from dpsql.metadata.rewriting import Change, rewritten, says

    path = Path(metadata).resolve()
    note = f"chosen by dpsql advise, ε = {float(epsilon):g}"
    changes = [Change(one.table, one.column, one.key, note) for one in proposals if one.key]
    before = load(metadata)
    text, left = rewritten(path.read_text(encoding="utf-8"), changes)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix, delete=False
    ) as file:
        file.write(text)
    try:
        made = [change for change in changes if change not in left]
        if not says(before, load(file.name), made):
            warn(f"{metadata} cannot be changed safely: add the lines above by hand")
            return Exit.FAILED
        shutil.copymode(path, file.name)
        os.replace(file.name, path)
    finally:
        Path(file.name).unlink(missing_ok=True)
    for change in left:
        warn(f"add by hand: {change.table}{'' if change.column is None else '.' + change.column}: {change.words}")
    hint(f"written into {metadata}: {len(made)} line{'s' if len(made) != 1 else ''}")
    return Exit.OK
