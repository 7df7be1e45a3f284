"""`python -m dpsql.help.reference` writes the topics that are made of the code's own tables; a test compares them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from dpsql.aggregates import AGGREGATES
from dpsql.functions import REFUSED
from dpsql.functions.table import FAMILIES
from dpsql.help.topics import HERE
from dpsql.sql import instead, refusals
from dpsql.sql.options import OPTIONS, SETTINGS

MADE = "<!-- made by `python -m dpsql.help.reference`; edit the code's tables instead -->"
WIDTH = 96


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def functions() -> Iterator[str]:
    yield "# Scalar functions: what you can compute for each row"
    yield from ("", MADE, "")
    yield "Each of them is total: no value makes it fail; if there is no answer, it is NULL. On results (after the noise)"
    yield "most of DuckDB's other pure functions work too."
    for family in FAMILIES:
        yield from ("", f"## {family.__name__.rpartition('.')[2].capitalize()}", "")
        yield from _table(("function", "what it is"), ((f"`{f.signature}`", f.doc) for f in family.FUNCTIONS))


def aggregates() -> Iterator[str]:
    yield "# Aggregates: the statistics of private rows"
    yield from ("", MADE, "")
    yield from _table(("aggregate", "what it is"), ((f"`{a.signature}`", a.doc) for a in AGGREGATES))
    yield ""
    yield "Each takes `FILTER (WHERE …)`. What several columns of a query share is measured once: `AVG(x)`, `SUM(x)` and"
    yield "`COUNT(x)` together are one measurement. On results all of DuckDB's aggregates work."


def settings() -> Iterator[str]:
    yield "# Options of a query, and settings of a connection"
    yield from ("", MADE, "")
    yield "`SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5, delta = 1e-9) …` is for one query;"
    yield "`SET epsilon = 0.5` for all that follow on the connection. OPTIONS come before SET, SET before what connect() or"
    yield "the command line set, and that before the metadata's `per_query`."
    yield ""
    specs = {**OPTIONS, **SETTINGS}.values()
    rows = ((f"`{s.name}`", s.takes, _where(s.name), f"`{s.example}`") for s in specs)
    yield from _table(("name", "takes", "where", "example"), rows)
    yield ""
    yield "`max_rows_contributed` is a contribution limit: the rows of one unit that count in the whole query, over all its"
    yield "groups together; if it has more, each counts less. `max_groups_contributed`: the groups in which one unit counts"
    yield "as one, where units are counted or sums are bounded per unit. The defaults are the metadata's `rows_per_unit` and"
    yield "`groups_per_unit`. With `'auto'` the data choose the limit for a part of ε, even if one is declared; `'released'`"
    yield "takes the one they chose for an earlier query over the same tables, at no cost (refused if there was none)."
    yield ""
    yield "`accuracy` finds the least ε for which the confidence intervals (95 %, or `confidence`) are narrow enough, and"
    yield "charges it, but never more than `epsilon`; EXPLAIN shows it at no cost. It is for counts and sums, and for"
    yield "averages and ratios if the number of rows is known (`assumed_rows`, or a count that was released). `'5%'` is a"
    yield "part of the smallest number above its noise that an earlier query of yours showed, over the same rows and keys"
    yield "and with the same limits; the oldest one counts, so that the same query stays the same. Contribution limits"
    yield "that are left to the data are chosen first, in a release of their own for a part of `epsilon`; the query then"
    yield "spends as little as the accuracy needs with them. `if_not_enough`: if `epsilon` is too small, `'stop'` (the"
    yield "default) refuses the query, perhaps after that choice; `'best'` spends all of `epsilon`. `assumed_rows`:"
    yield "EXPLAIN estimates the intervals of averages and ratios for so many rows in each group. The default is the"
    yield "number in an earlier count of yours, or the metadata's `units`."
    yield ""
    yield "`over_limit` spends a twentieth of ε to count the units that are over a contribution limit: the count is in the"
    yield "notes of the answer, and in `privacy.over_limits`. `nonnegative` shows counts as the nearest whole numbers from 0"
    yield "on with the noisy total; ROLLUP's levels stay the sums of their parts. It is post-processing and free, but it"
    yield "adds a bias: on average small counts become too large, and large ones too small. AVG and VAR keep the noisy"
    yield "count, histograms their bins. `max_rows_per_group` is an older form: with `max_groups_contributed` (or the"
    yield "metadata's `max_groups`) it is the number of rows of a unit that count for each group."


def _where(name: str) -> str:
    return " and ".join(word for word, names in (("OPTIONS", OPTIONS), ("SET", SETTINGS)) if name in names)


def refused() -> Iterator[str]:
    yield "# What dpsql does not answer, and what to write instead"
    yield from ("", MADE, "", "## Statements", "")
    yield from _table(("statement", "instead"), ((f"`{name}`", fix) for name, fix in instead.INSTEAD.items()))
    yield from ("", "## Syntax", "")
    forms = dict.fromkeys([*refusals.NODES.values(), *refusals.ARGUMENTS.values()])
    yield from _table(("form", "instead"), forms)
    yield from ("", "## Functions of private rows", "")
    by_words: dict[tuple[str, str], list[str]] = {}
    for name, words in REFUSED.items():
        by_words.setdefault(words, []).append(f"`{name}`")
    rows = ((", ".join(names), why, fix) for (why, fix), names in by_words.items())
    yield from _table(("functions", "why", "instead"), rows)


def commands() -> Iterator[str]:
    import click

    from dpsql.shell.commands import root
    from dpsql.shell.prompt_commands import overview
    from dpsql.shell.stderr import MEANINGS

    yield "# The dpsql command"
    yield from ("", MADE, "", "```", *help_of(root, None, "dpsql").splitlines(), "```")
    with click.Context(root, info_name="dpsql", terminal_width=WIDTH) as context:
        for name in root.list_commands(context):
            command = root.get_command(context, name)
            assert command is not None
            yield from ("", f"## {name}", "", "```")
            yield from help_of(command, context, name).splitlines()
            if isinstance(command, click.Group):
                for inner in command.list_commands(context):
                    within = click.Context(command, info_name=name, parent=context, terminal_width=WIDTH)
                    yield from ("", *help_of(command.commands[inner], within, inner).splitlines())
            yield "```"
    yield from ("", "## The shell's own commands", "", "```", *overview().splitlines(), "```")
    yield from ("", "## Exit codes", "")
    yield from _table(("code", "meaning"), ((str(int(code)), words) for code, words in MEANINGS.items()))


def help_of(command: object, parent: object, name: str) -> str:
    import click

    assert isinstance(command, click.Command)
    assert parent is None or isinstance(parent, click.Context)
    settings = {**command.context_settings, "terminal_width": WIDTH}
    with click.Context(command, info_name=name, parent=parent, **settings) as context:
        return "\n".join(line.rstrip() for line in command.get_help(context).splitlines())


TOPICS: Mapping[str, Callable[[], Iterator[str]]] = {
    "functions": functions,
    "aggregates": aggregates,
    "settings": settings,
    "refusals": refused,
    "commands": commands,
}


def text(topic: str) -> str:
    return "\n".join(TOPICS[topic]()) + "\n"


def main() -> None:
    for topic in TOPICS:
        path = HERE / f"{topic}.md"
        path.write_text(text(topic), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
