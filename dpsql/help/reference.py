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
    yield "# Scalar functions: what may be computed for each row"
    yield from ("", MADE, "")
    yield "Every one is total: no value makes it fail; what has no answer is NULL. On results (above the noise) most of"
    yield "DuckDB's other pure functions work too."
    for family in FAMILIES:
        yield from ("", f"## {family.__name__.rpartition('.')[2].capitalize()}", "")
        yield from _table(("function", "what it is"), ((f"`{f.signature}`", f.doc) for f in family.FUNCTIONS))


def aggregates() -> Iterator[str]:
    yield "# Aggregates: what may be asked about private rows"
    yield from ("", MADE, "")
    yield from _table(("aggregate", "what it is"), ((f"`{a.signature}`", a.doc) for a in AGGREGATES))
    yield ""
    yield "Each takes `FILTER (WHERE …)`. Equal questions of one query are measured once: `AVG(x)`, `SUM(x)` and `COUNT(x)`"
    yield "together are one measurement. On results all of DuckDB's aggregates work."


def settings() -> Iterator[str]:
    yield "# Options of a query, and settings of a connection"
    yield from ("", MADE, "")
    yield "`SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5, delta = 1e-9) …` is for one query;"
    yield "`SET epsilon = 0.5` for all that follow on the connection. OPTIONS come before SET, SET before what connect() or"
    yield "the command line said, and that before the metadata's `per_query`."
    yield ""
    specs = {**OPTIONS, **SETTINGS}.values()
    rows = ((f"`{s.name}`", s.takes, _where(s.name), f"`{s.example}`") for s in specs)
    yield from _table(("name", "takes", "where", "example"), rows)
    yield ""
    yield "`max_rows_contributed`: rows of one unit that count in the whole query, over all its groups together; if it has"
    yield "more, each counts less. `max_groups_contributed`: groups in which one unit counts as one, where units are"
    yield "counted or sums are bounded per unit. Without them the metadata's `rows_per_unit` and `groups_per_unit` stand."
    yield "`'auto'`: the data choose, for a part of ε, whatever is declared; `'released'`: what they chose for an earlier"
    yield "query over the same tables, for nothing (refused where there was none)."
    yield "`accuracy`: the least ε for which 95 % (`confidence`) of the intervals are no wider is found from the plan, up to"
    yield "`epsilon`, and charged; EXPLAIN shows it for nothing. Of counts and sums; of averages and ratios where the number"
    yield "of rows is known (`assumed_rows`, or a count that was released). `'5%'` is a part of the smallest number above"
    yield "its noise that an earlier query of yours showed, over the same rows and keys and with the same limits; the"
    yield "oldest counts, so that the same query stays the same. Limits that are left to the data are chosen first, in a"
    yield "release of their own for a part of `epsilon`; then as little is spent as the accuracy needs with them."
    yield "`if_not_enough`: where `epsilon` is too little, `'stop'` (the default) refuses the query, after the"
    yield "choice if that shows it; `'best'` spends all of `epsilon`."
    yield "`assumed_rows`: EXPLAIN estimates how near averages and ratios will be with so many rows in each group. Without"
    yield "it, with as many as an earlier count of yours said, or as the metadata's `units` promise."
    yield "`over_limit`: for a twentieth of ε the answer also says how many units are over its limits, so that what they"
    yield "have counts less: in its notes, and as `privacy.over_limits`."
    yield "`nonnegative`: counts are shown as the nearest whole numbers from 0 on with the noisy total; ROLLUP's levels"
    yield "stay the sums of their parts. It costs nothing: with and without it a question is paid once. But on average small"
    yield "counts are too large then, and large ones too small. AVG and VAR keep the noisy count, histograms their bins."
    yield "`max_rows_per_group` is older: with `max_groups_contributed` (or the metadata's `max_groups`) it says how many"
    yield "rows of a unit count in all: so many for each group."


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
