"""Text to Statement: kinds, limits, the privacy clause, parameters, places."""

from __future__ import annotations

import logging
import sys
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest
from sqlglot import exp

from dpsql.domain import types
from dpsql.errors import Error, Refused, SqlError
from dpsql.sql.allow import allow
from dpsql.sql.limits import CHAIN_LIMIT, INSERT_TOKEN_LIMIT, LENGTH_LIMIT, NESTING_LIMIT, TOKEN_LIMIT
from dpsql.sql.parse import parse
from dpsql.sql.statement import Bounds
from dpsql.sql.tokens import span
from tests.cases.reading import read

REFUSED = [case.text for case in read("parse/refused_statements.sql")]


def refusal(text: str, parameters: object = None) -> Error:
    with pytest.raises(Error) as caught:
        allow(parse(text, parameters))  # type: ignore[arg-type]  # wrong types are among the cases
    return caught.value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT 1", "query"),
        ("select 1;", "query"),
        ("  -- hello\n (SELECT 1) ;; -- bye", "query"),
        ("WITH c AS (SELECT 1) SELECT * FROM c", "query"),
        ("FROM t", "query"),
        ("EXPLAIN SELECT 1", "explain"),
        ("explain\n(SELECT 1)", "explain"),
        ("SHOW BUDGET", "show_budget"),
        ("show tables;", "show_tables"),
        ("DESCRIBE t", "describe"),
        ('DESC "my table"', "describe"),
        ("SET epsilon = 0.5", "set"),
        ("CREATE TABLE t AS SELECT 1 AS x", "create_table_as"),
        ("CREATE OR REPLACE TEMP TABLE t AS (SELECT 1 AS x)", "create_table_as"),
        ("CREATE TABLE IF NOT EXISTS t (a INTEGER, b VARCHAR)", "create_table"),
        ("INSERT INTO t VALUES (1, 'a')", "insert"),
        ("INSERT INTO t (a, b) SELECT 1, 2", "insert"),
        ("INSERT INTO t (SELECT 1)", "insert"),
        ("DROP TABLE IF EXISTS t", "drop_table"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    statement = parse(text)
    allow(statement)
    assert statement.kind == kind
    assert statement.text == text
    assert (statement.tree is not None) == (kind in ("query", "explain", "create_table_as", "insert"))


@pytest.mark.parametrize("text", REFUSED)
def test_refused_statements(text: str) -> None:
    error = refusal(text)
    assert isinstance(error, Refused)
    assert error.code == "DPSQL-122"
    assert error.at is not None
    assert error.fix


def test_the_list_of_refused_statements_is_long() -> None:
    assert len(REFUSED) > 40


def test_names_columns_and_flags() -> None:
    created = parse(
        'CREATE OR REPLACE TABLE "my t" (a INTEGER, "b c" DECIMAL(5, 2), d DOUBLE PRECISION, e text, f numeric)'
    )
    assert created.name == "my t"
    assert created.flags == {"or replace"}
    assert [(c.name, c.type) for c in created.columns] == [
        ("a", types.INTEGER),
        ("b c", types.decimal(5, 2)),
        ("d", types.REAL),
        ("e", types.TEXT),
        ("f", types.decimal(18, 3)),
    ]
    inserted = parse("INSERT INTO t (a, b) VALUES (1, 2)")
    assert [(c.name, c.type) for c in inserted.columns] == [("a", None), ("b", None)]
    assert isinstance(inserted.tree, exp.Values)
    assert parse("DROP TABLE IF EXISTS t").flags == {"if exists"}
    assert parse('DESCRIBE "T"').name == "T"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CREATE TABLE t", 100),
        ("CREATE TABLE t ()", 100),
        ("CREATE TABLE t (a)", 100),
        ("CREATE TABLE t (a INTEGER PRIMARY KEY)", 100),
        ("CREATE TABLE t (a INTEGER,)", 100),
        ("CREATE TABLE t (a INTEGER, A TEXT)", 100),
        ("CREATE TABLE t (a BLOB)", 105),
        ("CREATE TABLE t (a DECIMAL(39, 2))", 105),
        ("CREATE TABLE t (a DECIMAL(2, 3))", 105),
        ("CREATE TABLE s.t (a INTEGER)", 100),
        ("CREATE TABLE 't' (a INTEGER)", 100),
        ("CREATE TABLE t AS", 100),
        ("CREATE TABLE t AS 1", 100),
        ("DROP TABLE t CASCADE", 100),
        ("DROP TABLE t, u", 100),
        ("DESCRIBE t u", 100),
        ("DESCRIBE", 100),
        ("INSERT INTO t VALUES (1) RETURNING a", 100),
        ("INSERT INTO t SELECT 1 ON CONFLICT DO NOTHING", 100),
        ("EXPLAIN", 122),
        ("EXPLAIN EXPLAIN SELECT 1", 122),
        ("", 100),
        ("   \n", 100),
        (";", 100),
        ("-- nothing", 100),
        ("/* nothing */", 100),
        ("SELECT 1 -- a\r, 2", 100),
        ("SELECT 'abc", 100),
        ('SELECT "abc', 100),
        ("SELECT /* abc", 100),
        ('SELECT ""', 100),
        ("SELECT\u00a01", 100),
        ("SELECT x\u200b FROM t", 100),
        ("SELECT \x00", 100),
        ("SELECT '\ud800'", 100),
        ("SELECT ₂", 100),
    ],
)
def test_malformed(text: str, code: int) -> None:
    assert refusal(text).number == code


@pytest.mark.parametrize("text", [None, 1, b"SELECT 1", ["SELECT 1"]])
def test_only_text_is_parsed(text: object) -> None:
    with pytest.raises(SqlError):
        parse(text)  # type: ignore[arg-type]  # what is tested


def test_a_message_points_at_the_token_and_quotes_nothing_else() -> None:
    error = refusal("SELECT secret_a\nFROM secret_b secret_c 42")
    assert (error.line, error.column) == (2, 24)
    assert "42" in error.what
    assert "secret" not in error.what + error.why + error.fix
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert str(error).splitlines()[1:3] == [
        "  FROM secret_b secret_c 42          (line 2, column 24)",
        "                         ^^",
    ]


# Limits


@pytest.mark.slow
def test_length_and_token_limits() -> None:
    parse("SELECT 1" + " " * (LENGTH_LIMIT - 8))
    assert "longer" in refusal("SELECT 1" + " " * LENGTH_LIMIT).what
    assert "words and signs" in refusal("SELECT " + "1," * TOKEN_LIMIT + "1").what
    rows = "(1)," * (INSERT_TOKEN_LIMIT // 4 - 2)  # rows of constants are no plan
    parse(f"INSERT INTO t VALUES {rows}(1)")
    rows += "(1),(1),"
    assert "words and signs" in refusal(f"INSERT INTO t VALUES {rows}(1),(2)").what


@pytest.mark.parametrize(
    ("opening", "middle", "closing"),
    [
        ("(", "1", ")"),
        ("abs(", "1", ")"),
        ("CASE WHEN true THEN ", "1", " END"),
        ("(SELECT ", "1", ")"),
        ("NOT ", "true", ""),
        ("- ", "1", ""),
        ("[", "1", "]"),
        ("EXISTS (SELECT ", "1", ")"),
        ("CAST(", "1", " AS INTEGER)"),
        ("coalesce(1, ", "1", ")"),
        ("x IN (", "1", ")"),
    ],
)
def test_nesting_limit(opening: str, middle: str, closing: str) -> None:
    before = sys.getrecursionlimit()
    parse("SELECT " + opening * (NESTING_LIMIT - 1) + middle + closing * (NESTING_LIMIT - 1))
    for depth in (NESTING_LIMIT + 1, 500, 1000):
        assert "nested too deeply" in refusal("SELECT " + opening * depth + middle + closing * depth).what
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize(
    "link",
    [
        " + 1",
        " AND true",
        " || 'a'",
        "::INTEGER",
        " = 1",
        " IS NULL",
        " UNION ALL SELECT 1",
        " JOIN t ON true",
        "[1]",
        ".a",
    ],
)
def test_chains_of_operators_end_in_an_answer(link: str) -> None:
    start = "SELECT 1 FROM t" if "JOIN" in link else "SELECT x"
    for length in (CHAIN_LIMIT // 2, CHAIN_LIMIT + 1, 5000):
        try:
            allow(parse(start + link * length))
        except Error:
            continue


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 FROM t JOIN u",
        "SELECT 1 FROM t LEFT JOIN u WHERE true",
        "SELECT 1 FROM (t JOIN u) JOIN v ON true",
        "SELECT 1 FROM t JOIN u, v",
        "SELECT 1 FROM t SEMI JOIN u",
        "SELECT 1 FROM t" + " JOIN u" * 50,
        "SELECT 1 FROM t" + " JOIN u" * 50 + " ON true" * 50,
    ],
)
def test_joins_need_a_condition(text: str) -> None:
    assert "JOIN" in refusal(text).what


def test_nested_joins_are_fine() -> None:
    joins = "a JOIN b JOIN c ON true ON true NATURAL LEFT OUTER JOIN d CROSS JOIN e LEFT JOIN f USING (x)"
    allow(parse(f"SELECT 1 FROM {joins}"))


@pytest.mark.parametrize(
    "piece", ["DATE(", "STRUCT(", "ROW(x, ", "(TEXT ", "LATERAL (", "(FROM t, ", "FROM t, (", "MAP("]
)
@pytest.mark.parametrize("start", ["SELECT ", "SELECT 1 FROM ", "SELECT 1 FROM t, "])
def test_what_the_parser_reads_twice_ends_before_it(start: str, piece: str) -> None:
    """Without the limit each of these takes sqlglot minutes to years."""
    text = start + piece * 60
    refusal(text)
    refusal(text + "1" + ")" * text.count("("))


def test_long_lists_are_fine() -> None:
    parse("SELECT x IN (" + ", ".join(map(str, range(3900))) + ") FROM t")
    parse("SELECT " + ", ".join(f"sum(x) + {i} AS c{i}" for i in range(800)) + " FROM t")


# The privacy clause


def options_of(text: str) -> dict[str, object]:
    statement = parse(text)
    allow(statement)
    return {name: option.value for name, option in statement.options.items()}


def test_options_are_taken_and_places_stay() -> None:
    text = (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, delta=1e-9, max_groups_contributed=2, "
        "max_rows_per_group=3, mechanism='Laplace', split=(2, 1), fresh=true, intervals=.95, top_k=false, "
        "privacy_unit_column=id)\n  k, sum(x) FROM t"
    )
    statement = parse(text)
    allow(statement)
    assert options_of(text) == {
        "epsilon": Fraction(1, 2),
        "delta": Fraction(1, 10**9),
        "max_groups_contributed": 2,
        "max_rows_per_group": 3,
        "mechanism": "laplace",
        "split": (Fraction(2), Fraction(1)),
        "fresh": True,
        "intervals": Fraction(19, 20),
        "top_k": False,
        "privacy_unit_column": "id",
    }
    assert statement.tree is not None
    total = statement.tree.find(exp.Sum)
    assert total is not None
    where = span(total, text)
    assert where is not None
    assert text[where.start : where.end].startswith("sum(x")
    epsilon = statement.options["epsilon"].at
    assert epsilon is not None
    assert text[epsilon.start : epsilon.end] == "0.5"


@pytest.mark.parametrize(
    "text",
    [
        "EXPLAIN SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) 1",
        "CREATE TABLE t AS SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) 1 AS x",
        "INSERT INTO t SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) 1",
        "WITH c AS (SELECT 1) SELECT with differential_privacy options (epsilon = 1) * FROM c",
        "((SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) 1))",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) 1 UNION ALL SELECT 2",
        "(SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) 1) UNION ALL SELECT 2",
        "FROM t SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) x",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=+1.0,) 1",
    ],
)
def test_where_the_clause_may_stand(text: str) -> None:
    if text.endswith(",) 1"):
        assert refusal(text).number == 119
        return
    assert options_of(text) == {"epsilon": 1}


def test_the_clause_without_options() -> None:
    assert options_of("SELECT WITH DIFFERENTIAL_PRIVACY count(*) FROM t") == {}
    assert options_of("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS() count(*) FROM t") == {}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) 1)",
        "WITH c AS (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) 1) SELECT * FROM c",
        "SELECT 1 UNION ALL SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) 2",
        "SELECT (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) 1)",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) x IN (SELECT WITH DIFFERENTIAL_PRIVACY 1)",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, epsilon=2) 1",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1 delta=0) 1",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon) 1",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=) 1",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1+1) 1",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=(SELECT 1)) 1",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS('epsilon'=1) 1",
    ],
)
def test_where_the_clause_may_not_stand(text: str) -> None:
    error = refusal(text)
    assert error.number == 119
    assert error.at is not None


def test_contribution_bounds() -> None:
    text = (
        "SELECT SUM(x + (1), contribution_bounds_per_group => (-1.5, 900)), "
        "mean(y, Contribution_Bounds_Per_Group=>(0,?)) FROM t"
    )
    statement = parse(text, [7])
    allow(statement)
    assert statement.call_options == {
        text.index("SUM"): {"contribution_bounds_per_group": Bounds(Fraction(-3, 2), Fraction(900))},
        text.index("mean"): {"contribution_bounds_per_group": Bounds(Fraction(0), Fraction(7))},
    }
    assert statement.tree is not None
    for node in (statement.tree.find(exp.Sum), statement.tree.find(exp.Anonymous)):
        assert node is not None
        assert node.meta["start"] in statement.call_options


@pytest.mark.parametrize(
    "call",
    [
        "sum(contribution_bounds_per_group => (0, 1))",
        "max(x, contribution_bounds_per_group => (0, 1))",
        "(x, contribution_bounds_per_group => (0, 1))",
        "sum(x, contribution_bounds_per_group => (1, 0))",
        "sum(x, contribution_bounds_per_group => 1)",
        "sum(x, contribution_bounds_per_group => ('a', 1))",
        "sum(x, contribution_bounds_per_group => (true, 1))",
        "sum(x, contribution_bounds_per_group => (0, 1, 2))",
        "sum(x, contribution_bounds_per_group => (0, y))",
        "sum(x, contribution_bounds_per_group => (0, 1), contribution_bounds_per_group => (0, 1))",
    ],
)
def test_wrong_contribution_bounds(call: str) -> None:
    assert refusal(f"SELECT {call} FROM t").number == 119


# Parameters


@pytest.mark.parametrize(
    ("text", "given", "values"),
    [
        ("SELECT ?, ?", [1, "a"], [1, "a"]),
        ("SELECT ?::INTEGER", (None,), [None]),
        ("SELECT $2, $1, $2", [True, Decimal("1.5")], [Decimal("1.5"), True, Decimal("1.5")]),
        ("SELECT $b + $a", {"a": date(2020, 1, 1), "b": 0.5}, [0.5, date(2020, 1, 1)]),
        ("SELECT x FROM t WHERE x IN (?, ?) LIMIT ?", [1, 2, 3], [1, 2, 3]),
        ("SELECT ?", [numpy.int64(5)], [5]),
        ("SELECT ?", [numpy.float64(0.5)], [0.5]),
        ("SELECT INTERVAL (?) DAY", [3], [3]),
    ],
)
def test_parameters(text: str, given: object, values: list[object]) -> None:
    statement = parse(text, given)  # type: ignore[arg-type]  # the parametrised union
    allow(statement)
    assert statement.tree is not None
    placeholders = sorted(statement.tree.find_all(exp.Placeholder), key=lambda node: int(node.meta["start"]))
    assert [statement.placeholder_value(node) for node in placeholders] == values
    assert [type(statement.placeholder_value(node)) for node in placeholders] == [type(value) for value in values]
    assert all(text[node.meta["start"]] in "?$" for node in placeholders)


def test_parameters_reach_options_and_settings() -> None:
    statement = parse("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=?, mechanism=?) ?", [0.1, "gaussian", 5])
    assert statement.options["epsilon"].value == Fraction(1, 10)
    assert statement.options["mechanism"].value == "gaussian"
    setting = parse("SET epsilon = $e", {"e": 0.3})
    assert setting.value is not None
    assert (setting.name, setting.value.value) == ("epsilon", Fraction(3, 10))


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("SELECT ?", None),
        ("SELECT ?", []),
        ("SELECT ?", [1, 2]),
        ("SELECT 1", [1]),
        ("SELECT 1", {"a": 1}),
        ("SELECT $a", {}),
        ("SELECT $a", {"b": 1}),
        ("SELECT $a", {"a": 1, "b": 1}),
        ("SELECT $a", [1]),
        ("SELECT ?", {"a": 1}),
        ("SELECT $1", {"1": 1}),
        ("SELECT $0", [1]),
        ("SELECT $2", [1]),
        ("SELECT $2", [1, 2]),
        ("SELECT ?, $1", [1]),
        ("SELECT $a, $1", {"a": 1}),
        ("SELECT $", [1]),
        ("SELECT $ a", {"a": 1}),
        ("SELECT ?", "a"),
        ("SELECT ?", b"a"),
        ("SELECT ?", 1),
        ("SELECT ?", {1, 2}),
        ("SELECT ?", [object()]),
        ("SELECT ?", [[1]]),
        ("SELECT ?", [b"a"]),
        ("SELECT ?", [1j]),
        ("SELECT x AS ? FROM t", [1]),
    ],
)
def test_wrong_parameters(text: str, given: object) -> None:
    assert refusal(text, given).number in (109, 100)


def test_a_named_parameter_is_suggested() -> None:
    assert "$start" in refusal("SELECT $strat", {"start": 1}).why


# Places


@pytest.mark.parametrize(
    ("expression", "kind", "shown"),
    [
        ("min(a)", exp.Min, "min(a"),
        ("max(min(a))", exp.Min, "min(a"),
        ("a + b", exp.Add, "a + b"),
        ("EXTRACT(year FROM d)", exp.Extract, "EXTRACT(year FROM d"),
        ("string_agg(s, ',')", exp.GroupConcat, "string_agg(s, ','"),
        ("CAST(a AS DATE)", exp.DataType, "DATE"),
        ("(a + 1)::BIGINT", exp.DataType, "BIGINT"),
        ("DATE '2020-01-01'", exp.DataType, "DATE"),
        ("a + NULL", exp.Null, "a"),
        ("quantile_cont(x, 0.5)", exp.PercentileCont, "quantile_cont(x, 0.5"),
    ],
)
def test_spans(expression: str, kind: type[exp.Expr], shown: str) -> None:
    text = f"SELECT 1, {expression} FROM t"
    tree = parse(text).tree
    assert tree is not None
    node = tree.find(kind)
    assert node is not None
    where = span(node, text)
    assert where is not None
    assert text[where.start : where.end] == shown


def test_nothing_is_logged(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    with caplog.at_level(logging.DEBUG):
        for text in (*REFUSED, "SELECT json_extract(x, '$[') FROM t", "SELECT 1"):
            try:
                parse(text)
            except Error:
                continue
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("sign", ["+", "||", ",", "-", "*", "=", "<", "::INTEGER+", "+'$'||"])
def test_named_parameters_that_touch(sign: str) -> None:
    """What stands between two dollar signs is no quote's tag."""
    parsed = parse(f"SELECT $a{sign}$b, ($a)", {"a": 1, "b": 2})
    assert list(parsed.parameters.values()) == [1, 2, 1]


@pytest.mark.parametrize("text", ["$$x$$", "$t$x$t$", "$a$b", "$a$", "$$"])
def test_quotes_by_dollar_signs(text: str) -> None:
    with pytest.raises(Refused, match="only plain quotes"):
        parse(f"SELECT {text}", {"a": 1})
