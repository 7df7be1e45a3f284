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
    yield "They are all total: no value makes them fail, and the result is NULL if there is no answer. On results"
    yield "(after the noise) most of DuckDB's other pure functions work too."
    for family in FAMILIES:
        yield from ("", f"## {family.__name__.rpartition('.')[2].capitalize()}", "")
        yield from _table(("function", "what it is"), ((f"`{f.signature}`", f.doc) for f in family.FUNCTIONS))


def aggregates() -> Iterator[str]:
    yield "# Aggregates: the statistics of private rows"
    yield from ("", MADE, "")
    yield from _table(("aggregate", "what it is"), ((f"`{a.signature}`", a.doc) for a in AGGREGATES))
    yield ""
    yield "All of them take `FILTER (WHERE …)`. What several columns of a query share is measured once: `AVG(x)`,"
    yield "`SUM(x)` and `COUNT(x)` together are one measurement. On results, all of DuckDB's aggregates work."


def settings() -> Iterator[str]:
    yield "# Options of a query, and settings of a connection"
    yield from ("", MADE, "")
    yield "`SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5, delta = 1e-9) …` is for one query;"
    yield "`SET epsilon = 0.5` is for all later queries of the connection. OPTIONS override SET, SET overrides connect()"
    yield "and the command line, and these override the metadata's `per_query`."
    yield ""
    specs = {**OPTIONS, **SETTINGS}.values()
    rows = ((f"`{s.name}`", s.takes, _where(s.name), f"`{s.example}`") for s in specs)
    yield from _table(("name", "takes", "where", "example"), rows)
    yield ""
    yield "`max_rows_contributed` is a contribution limit: the rows of one unit that count in the whole query, over"
    yield "all its groups together; if it has more, each counts less. `max_groups_contributed` is the number of groups"
    yield "in which one unit counts as one, where units are counted or sums are bounded per unit. The defaults are the"
    yield "metadata's `rows_per_unit` and `groups_per_unit`. With `'auto'` the data choose the limit for a part of ε,"
    yield "even if one is declared; `'released'` takes the one they chose for an earlier query over the same tables,"
    yield "at no cost (refused if there was none)."
    yield ""
    yield "`accuracy` finds the least ε for which the confidence intervals (95 %, or `confidence`) are narrow enough,"
    yield "and charges it, but never more than `epsilon`; EXPLAIN shows it at no cost. It is for counts and sums, and"
    yield "for averages and ratios if the number of rows is known (`assumed_rows`, or a count that was released)."
    yield "`'5%'` is a part of the smallest number above its noise that an earlier query of yours showed, over the"
    yield "same rows and keys and with the same limits; the oldest one counts, so that the same query stays the same."
    yield "Contribution limits that are left to the data are chosen first, in a release of their own for a part of"
    yield "`epsilon`; the query then spends as little as the accuracy needs with them. `if_not_enough` decides what"
    yield "happens if `epsilon` is too small: `'stop'` (the default) refuses the query, perhaps after that choice;"
    yield "`'best'` spends all of `epsilon`. With `assumed_rows`, EXPLAIN estimates the intervals of averages and"
    yield "ratios for so many rows in each group. The default is the number in an earlier count of yours, or the"
    yield "metadata's `units`."
    yield ""
    yield "`over_limit` spends a twentieth of ε to count the units that are over a contribution limit: the count is in"
    yield "the notes of the answer, and in `privacy.over_limits`. `nonnegative` shows counts as the nearest"
    yield "non-negative whole numbers with the noisy total; ROLLUP's levels stay the sums of their parts. It is"
    yield "post-processing and free, but it adds a bias: on average small counts become too large, and large ones too"
    yield "small. AVG and VAR keep the noisy count, histograms their bins. `max_rows_per_group` is an older form: with"
    yield "`max_groups_contributed` (or the metadata's `max_groups`) it is the number of rows of a unit that count for"
    yield "each group."


def _where(name: str) -> str:
    return " and ".join(word for word, names in (("OPTIONS", OPTIONS), ("SET", SETTINGS)) if name in names)


def refused() -> Iterator[str]:
    yield "# What dpsql does not answer, and what to write instead"
    yield from ("", MADE, "")
    yield "This is about statements that name private tables. What names none is DuckDB's, and what reads released rows from"
    yield "parentheses is, too (`dpsql help sql`)."
    yield from ("", "## Statements", "")
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


def pandas_verbs() -> Iterator[str]:
    from dpsql.frames.pandas_names import WITHOUT, WITHOUT_DT, WITHOUT_STR

    yield "# pandas' verbs: which a PrivateFrame has, which not, and why"
    yield from ("", MADE, "")
    yield "A PrivateFrame (`dpsql help frames`) is asked in pandas' words. Every question is charged once, whatever it"
    yield "measures; the same question of the same frame is free. Answers are frames of their own: `answer.df()`."
    yield from ("", "## Yes", "")
    yield from _table(("of", "verbs"), ((of, _code(names)) for of, names in _verbs_that_are_there()))
    yield from ("", "## Yes, with a difference", "")
    yield from _table(("verb", "here"), DIFFERENCES)
    yield from ("", "## No", "")
    yield from _table(("verbs", "why", "instead"), ((_code(e.names), e.why, e.instead) for e in WITHOUT))
    yield ""
    yield f"`.dt` has no {_code(WITHOUT_DT.split())}. `.str` has no {_code(WITHOUT_STR.split())}."


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _verbs_that_are_there() -> Iterator[tuple[str, list[str]]]:
    from dpsql.frames import PrivateFrame
    from dpsql.frames.accessors import Moments, Texts
    from dpsql.frames.column import PrivateColumn
    from dpsql.frames.groups import PrivateGroups

    kinds = {
        "a frame": PrivateFrame,
        "a column": PrivateColumn,
        "`groupby`, `resample`": PrivateGroups,
        "`.dt`": Moments,
        "`.str`": Texts,
    }
    for of, kind in kinds.items():
        yield of, [name for name in sorted(dir(kind)) if not name.startswith("_") and name not in ("over", "check_of")]


DIFFERENCES = (
    ("`agg`", "several statistics of several columns are called duration_mean, not (duration, mean)"),
    (
        "`agg` with a lambda",
        "it is called once, with the column: it must be one statistic, as in lambda x: x.quantile(0.9)",
    ),
    ("`frame.x`", "the column, where no verb has its name; `frame.groupby(…).x`, too"),
    ("`groupby`", "keys are columns of the answer (as_index=False); groups come in the order of their keys"),
    ("`count` of a frame", "the rows, as size; of a column, the rows where it is not missing"),
    ("`quantile`", "of a list of fractions one list, at the price of about log2 of their number"),
    ("`min`, `max`", "the least and greatest value with a few rows beyond it"),
    ("`resample`", "needs on=; periods of the calendar, no multiples such as 2W"),
    ("`pivot_table`", "one statistic, without margins; `.df()` is laid out as pandas does it, `.half_widths()` too"),
    ("`crosstab`", "a method: frame.crosstab(index, columns, normalize=)"),
    ("`hist`", "a table of bins, never taken from the data; `.plot()` draws it with its intervals"),
    ("`merge`", "with public frames, or on the unit with private ones"),
    ("`round`", "halves away from zero"),
    ("`filter`, `query`", "SQL conditions, or comparisons of columns"),
    ("`fillna`, `astype`, `rename`, `drop` of a frame", "take a dict or a list of columns"),
    ("`.dt.week`", "in pandas `.dt.isocalendar().week`"),
    ("`.str.split`", "then `.str[0]` or `.get(0)`; no negative positions"),
)


def by_engine() -> Iterator[str]:
    from dpsql.help.engine_matrix import engines

    yield "# Which engine does what: DuckDB, PostgreSQL, Spark"
    yield from ("", MADE, "")
    yield from engines()


TOPICS: Mapping[str, Callable[[], Iterator[str]]] = {
    "functions": functions,
    "aggregates": aggregates,
    "engines": by_engine,
    "settings": settings,
    "refusals": refused,
    "commands": commands,
    "pandas": pandas_verbs,
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
