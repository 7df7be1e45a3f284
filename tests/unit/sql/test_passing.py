"""How texts that are passed on are taken apart: pieces, PIVOT's columns, private parts, aggregates under other functions."""

from __future__ import annotations

import pytest

import dpsql
from dpsql.sql.lifting import Lifting
from dpsql.sql.mixing import Mixed
from dpsql.sql.passing import parameters_of, passed_query, values_of
from dpsql.sql.pieces import pieces, without_pivots


def test_pieces_know_texts_names_comments_and_parameters() -> None:
    read = pieces("SELECT {'a': 1}, $$x$y$$, E'it''s', $a, ?, x->y -- c\n/* d */, \"q\"\"x\"; ")
    assert [p.text for p in read if p.kind in ("text", "parameter", "name")] == [
        "'a'", "$$x$y$$", "E'it''s'", "$a", "?", '"q""x"',
    ]  # fmt: skip
    assert read[-1].identifier == 'q"x' and [p.depth for p in read if p.text in "{}"] == [0, 0]


@pytest.mark.parametrize(
    ("text", "without", "columns"),
    [
        ("PIVOT t ON x USING sum(y)", "PIVOT t ON x IN (0) USING sum(y)", ["x"]),
        ("PIVOT t ON x, y IN (1) GROUP BY z", "PIVOT t ON x IN (0), y IN (1) GROUP BY z", ["x"]),
        ("PIVOT t ON a || 'b', c", "PIVOT t ON x IN (0), x IN (0)", ["a || 'b'", "c"]),
        ("PIVOT (FROM t JOIN u ON a = b) ON c", "PIVOT (FROM t JOIN u ON a = b) ON x IN (0)", ["c"]),
        ("SELECT 1 FROM t JOIN u ON a = b", "SELECT 1 FROM t JOIN u ON a = b", []),
    ],
)
def test_pivots_without_in(text: str, without: str, columns: list[str]) -> None:
    assert without_pivots(text) == (without, columns)


def test_parameters_as_duckdb_takes_them() -> None:
    for text, given, wanted in (
        ("SELECT ?, ?", [1, "x"], ((None, 1), (None, "x"))),
        ("SELECT $2 + $1 + $2", [1, 2], (("2", 2), ("1", 1))),
        ("SELECT $a, $b, $a", {"a": 1, "b": None}, (("a", 1), ("b", None))),
    ):
        read = pieces(text)
        assert parameters_of(read, values_of(read, given)) == wanted
    with pytest.raises(dpsql.SqlError, match="DPSQL-109"):
        values_of(pieces("SELECT ?"), [1, 2])


def _split(text: str) -> tuple[str, list[str]] | None:
    asked = passed_query(text)
    assert asked is not None
    cut = Mixed(text, asked.pieces, lambda name: name.lower() == "v", lambda part: "COUNT" in part).split()
    return None if cut is None else (cut.text, [" ".join(part.split()) for part in cut.parts.values()])


def test_the_largest_private_queries_are_cut_out_with_the_ctes_that_they_name() -> None:
    one = 'FROM "dpsql_part_1"'
    assert _split("SELECT [n] FROM (SELECT COUNT(*) AS n FROM v)") == (
        f"SELECT [n] FROM ({one})", ["SELECT COUNT(*) AS n FROM v"],
    )  # fmt: skip
    assert _split("WITH a(x) AS (FROM v), b AS (SELECT COUNT(*) FROM a) PIVOT b ON c") == (
        f"WITH a(x) AS (SELECT NULL), b AS ({one}) PIVOT b ON c",
        ["WITH a(x) AS (FROM v) (SELECT COUNT(*) FROM a)"],
    )
    assert _split("WITH a AS (FROM v) SELECT (SELECT COUNT(*) FROM a), x FROM a") is None
    assert _split("SELECT [x] FROM v") is None
    assert _split("SELECT list_value((SELECT COUNT(*) FROM v), 1)") == (
        f"SELECT list_value(({one}), 1)", ["SELECT COUNT(*) FROM v"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "left", "parts"),
    [
        ("SELECT COUNT(*) FROM v UNION SELECT [1]", "FROM P1 UNION SELECT [1]", ["SELECT COUNT(*) FROM v"]),
        (
            "SELECT 1 UNION ALL BY NAME FROM v SELECT COUNT(*) ORDER BY 1",
            "SELECT 1 UNION ALL BY NAME FROM P1 ORDER BY 1",
            ["FROM v SELECT COUNT(*)"],
        ),
        (
            "WITH a AS (FROM v) SELECT [1] UNION SELECT COUNT(*) FROM a",
            "WITH a AS (SELECT NULL) SELECT [1] UNION FROM P1",
            ["WITH a AS (FROM v) SELECT COUNT(*) FROM a"],
        ),
        (
            "SELECT f((SELECT COUNT(*) FROM v UNION SELECT [2] LIMIT 1))",
            "SELECT f((FROM P1))",
            ["SELECT COUNT(*) FROM v UNION SELECT [2] LIMIT 1"],
        ),
        ("SUMMARIZE SELECT COUNT(*) FROM v", "SUMMARIZE FROM P1", ["SELECT COUNT(*) FROM v"]),
        ("SUMMARIZE (SELECT COUNT(*) FROM v)", "SUMMARIZE (FROM P1)", ["SELECT COUNT(*) FROM v"]),
        ("SELECT 1 IS DISTINCT FROM x FROM v", None, []),
        ("SELECT x FROM v UNION SELECT [1]", None, []),
        ("WITH RECURSIVE r AS (SELECT 1 UNION SELECT COUNT(*) FROM v, r) FROM r", None, []),
    ],
)  # fmt: skip
def test_operands_and_what_is_summarized_need_no_parentheses(text: str, left: str | None, parts: list[str]) -> None:
    assert _split(text) == (None if left is None else (left.replace("P1", '"dpsql_part_1"'), parts))


def _lifted(text: str, *, intervals: bool = False) -> tuple[str, str] | None:
    names = frozenset({"count", "sum"})
    lifted = Lifting(text, pieces(text), names, names | {"list"}, lambda items: items, "part", intervals).lifted()
    return None if lifted is None else (" ".join(lifted.below.split()), " ".join(lifted.above.split()))


def test_aggregates_and_keys_are_below_and_the_rest_above() -> None:
    assert _lifted("SELECT [COUNT(*)] AS l, w FROM v GROUP BY w HAVING COUNT(*) > 5 ORDER BY w") == (
        "SELECT COUNT(*), w FROM v GROUP BY w",
        'SELECT ["COUNT(*)"] AS l, "c1" AS w FROM "part" WHERE "COUNT(*)" > 5 ORDER BY "c1"',
    )
    below, above = _lifted("SELECT f(SUM(x) FILTER (WHERE y)), g(k) FROM v GROUP BY 2") or ("", "")
    assert below == "SELECT SUM(x) FILTER (WHERE y), g(k) FROM v GROUP BY 2" and '"c1" AS' in above
    assert 'f("SUM(x) FILTER (WHERE y)")' in above


def test_ends_stand_beside_aggregates_that_are_items() -> None:
    _, above = _lifted(
        "SELECT COUNT(*) AS n, [SUM(x)] AS l, k FROM v GROUP BY k HAVING COUNT(*) > 2", intervals=True
    ) or ("", "")
    assert above == ("""SELECT COLUMNS('^(n|n_low|n_high)$'), ["SUM(x)"] AS l, "c2" AS k FROM "part" WHERE "n" > 2""")
    _, above = _lifted('SELECT COUNT(*) AS "it\'s.", [SUM(x)] AS n FROM v', intervals=True) or ("", "")
    assert "COLUMNS('^(it''s\\.|it''s\\._low|it''s\\._high)$')" in above
    _, above = _lifted("SELECT COUNT(*) AS n, SUM(x) AS n, [1] AS l FROM v", intervals=True) or ("", "")
    assert "COLUMNS" not in above  # two of one name


@pytest.mark.parametrize(
    "text",
    [
        "SELECT list(COUNT(*)) FROM v",
        "SELECT [COUNT(*)], list(x) FROM v",
        "SELECT [COUNT(*)] FROM v UNION SELECT 1",
        "SELECT [COUNT(*)], (SELECT 1) FROM v",
        "SELECT f(w) AS w, COUNT(*) FROM v GROUP BY w, x ORDER BY w",
        "SELECT [COUNT(*)], * FROM v",
        "SELECT x FROM v",
        "SELECT",
        "SELECT [COUNT(*)",
    ],
)
def test_what_is_not_lifted(text: str) -> None:
    assert _lifted(text) is None
