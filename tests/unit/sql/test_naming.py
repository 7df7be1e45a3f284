"""Names of unnamed columns, compared with DuckDB's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from dpsql.engine.printing import parser, printed
from dpsql.sql.naming import ITEM_META, column_names
from dpsql.sql.parse import parse
from tests.cases.reading import read

TABLE = (
    'CREATE TABLE t (x INTEGER, y DOUBLE, s VARCHAR, d DATE, b BOOLEAN, ts TIMESTAMP, dc DECIMAL(9, 2), "a b" INTEGER, '
    '"select" INTEGER, "Camel" INTEGER, "left" INTEGER, "ü" INTEGER, "1a" INTEGER, "q""q" INTEGER, year INTEGER)'
)
EXPRESSIONS = [case.text for case in read("parse/names.sql")]


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(TABLE)
        yield connection


def query(expression: str) -> str:
    tail = " WINDOW w AS (PARTITION BY s ORDER BY x)" if "OVER w" in expression or "OVER (w" in expression else ""
    return f"SELECT {expression} FROM t{tail}"


def ours(text: str) -> str:
    tree = parse(text).tree
    assert tree is not None
    return column_names(tree.expressions, printed)[0]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_names_are_duckdbs(engine: duckdb.DuckDBPyConnection, expression: str) -> None:
    text = query(expression)
    assert ours(text) == engine.execute(f"DESCRIBE {text}").fetchall()[0][0]


TWICE = (
    "EXTRACT(month FROM (d - INTERVAL 7 DAY))",
    "EXTRACT(month FROM (TIMESTAMP '2020-01-01 10:00:00' - INTERVAL 10 DAY)), LOWER(CAST(DATE '2020-03-01' AS VARCHAR))",
    "EXTRACT(day FROM (INTERVAL 1 MONTH + d)), CAST((x + 1)::INTEGER AS BIGINT)",
    "CAST(CAST(x AS INTEGER)::VARCHAR AS VARCHAR)",
)


@pytest.mark.parametrize("expressions", TWICE)
def test_what_stands_in_group_by_too_keeps_its_name(engine: duckdb.DuckDBPyConnection, expressions: str) -> None:
    text = f"SELECT {expressions} FROM t GROUP BY {expressions}"
    tree = parse(text).tree
    assert tree is not None
    shown = [row[0] for row in engine.execute(f"DESCRIBE {text}").fetchall()]
    assert column_names(tree.expressions, printed) == shown


def test_there_are_many() -> None:
    assert len(EXPRESSIONS) >= 200


def test_a_column_keeps_its_spelling() -> None:
    assert ours("SELECT T.Camel FROM t") == "Camel"
    assert ours('SELECT ("a b") FROM t') == "a b"


def test_parameters_are_numbered(engine: duckdb.DuckDBPyConnection) -> None:
    text = "SELECT x + ? + ? FROM t"
    tree = parse(text, [1, 2]).tree
    assert tree is not None
    assert column_names(tree.expressions, printed)[0] == engine.execute(text, [1, 2]).description[0][0]


CUT_OUT = {
    "SELECT x IS NOT DISTINCT FROM 1, -x FROM t": ["(x IS NOT DISTINCT FROM 1)", "(-(x))"],
    "SELECT DISTINCT x + 1, [1, 2] FROM t": ["(x + 1)", "list_value(1, 2)"],
    "SELECT ALL NULL, (SELECT max(y), FROM t), TRUE": ["NULL", "(SELECT max(y) FROM t)", "true"],
    "FROM t SELECT x*2 /* , */, (x)/2 -- FROM": ["(x * 2)", "(x / 2)"],
    "SELECT sum(x, contribution_bounds_per_group => (0, 1)) + .5 FROM t": ["(sum(x) + .5)"],
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) count(*), a.x FROM t AS a": ["count_star()", "x"],
    "SELECT sum(x) OVER w, 1 FROM t WINDOW w AS (ORDER BY x), v AS (w) ORDER BY 2": ["sum(x) OVER (ORDER BY x)", "1"],
    "SELECT x::double AS b, try_cast(x AS double) FROM t": ["b", "TRY_CAST(x AS double)"],
}


@pytest.mark.parametrize("text", CUT_OUT)
def test_an_item_is_cut_out_of_any_statement(text: str) -> None:
    tree = parse(text).tree
    assert tree is not None
    assert column_names(tree.expressions, printed) == CUT_OUT[text]


def test_items_below_have_their_own_names() -> None:
    tree = parse(
        "WITH a AS (SELECT NULL, x+1 FROM t) SELECT (SELECT -y FROM t), NULL UNION SELECT 2*x, x||s FROM a"
    ).tree
    assert tree is not None
    names = {tuple(column_names(select.expressions, printed)) for select in tree.find_all(exp.Select)}
    assert names == {
        ("NULL", "(x + 1)"),
        ("(SELECT (-(y)) FROM t)", "NULL"),
        ("(-(y))",),
        ("(2 * x)", "(x || s)"),
    }


def test_what_duckdb_cannot_read_is_called_by_its_text() -> None:
    assert printed(("x+1", "count(* FILTER", "y")) == ("(x + 1)", None, "y")
    lone = exp.Add(this=exp.column("x"), expression=exp.Literal.number(1))
    assert column_names([lone], printed)[0] == "(x + 1)"  # a node that was never written has a text, too
    lone.meta[ITEM_META] = "x +"
    assert column_names([lone], printed)[0] == "x +"


def test_no_name_holds_nul() -> None:
    """Text may; no name, in DuckDB's own printing neither, where it would end."""
    assert ours("SELECT count(*) FILTER (WHERE s = 'a\x00b')") == "count(*) FILTER (WHERE s = 'ab')"


def test_printing_reaches_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n", "utf-8")
    with pytest.raises(duckdb.PermissionException):
        parser().execute(f"FROM '{tmp_path / 'a.csv'}'")
    with pytest.raises(duckdb.InvalidInputException):
        parser().execute("SET enable_external_access = true")


NUMBERS = st.sampled_from(["x", "y", "dc", "t.x", '"a b"', "1", "2.5", "1e2", "year", "Camel"])
ARITHMETIC = ["+", "-", "*", "/", "//", "%", "^"]
COMPARE = ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"]


def numbers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from(ARITHMETIC), inner),
        st.builds("({})".format, inner),
        st.builds("-{}".format, NUMBERS),
        st.builds("-({})".format, inner),
        st.builds("{}::DOUBLE".format, NUMBERS),
        st.builds("abs({})".format, inner),
        st.builds("coalesce({}, {})".format, inner, inner),
        st.builds("greatest({}, {})".format, inner, inner),
        st.builds("CAST({} AS DOUBLE)".format, inner),
        st.builds("({})::BIGINT".format, inner),
        st.builds("CASE WHEN {} > {} THEN {} ELSE {} END".format, inner, inner, inner, inner),
    )


ARITHMETIC_EXPRESSIONS = st.recursive(NUMBERS, numbers, max_leaves=6)
CONDITIONS = st.recursive(
    st.one_of(
        st.builds("{} {} {}".format, ARITHMETIC_EXPRESSIONS, st.sampled_from(COMPARE), ARITHMETIC_EXPRESSIONS),
        st.builds("{} {} {} AND {}".format, NUMBERS, st.sampled_from(["BETWEEN", "NOT BETWEEN"]), NUMBERS, NUMBERS),
        st.builds("{} {} ({}, {})".format, NUMBERS, st.sampled_from(["IN", "NOT IN"]), NUMBERS, NUMBERS),
        st.builds("{} {}".format, NUMBERS, st.sampled_from(["IS NULL", "IS NOT NULL", "ISNULL", "NOTNULL"])),
        st.builds("s || s {} 'a%'".format, st.sampled_from(["LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"])),
        st.just("b"),
        st.just("b IS NOT TRUE"),
    ),
    lambda inner: st.one_of(
        st.builds("{} AND {}".format, inner, inner),
        st.builds("{} OR {}".format, inner, inner),
        st.builds("({})".format, inner),
        st.builds("NOT {}".format, inner),
        st.builds("NOT ({})".format, inner),
        st.builds("{} IS NOT NULL".format, inner),
        st.builds("{} IS NOT TRUE".format, inner),
        st.builds("{} = {} IS NULL".format, NUMBERS, NUMBERS),
        st.builds("({}) = ({})".format, inner, inner),
        st.builds("({}) IN (true, {})".format, inner, inner),
    ),
    max_leaves=5,
)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(expression=st.one_of(ARITHMETIC_EXPRESSIONS, CONDITIONS))
def test_generated_names_are_duckdbs(expression: str) -> None:
    """Agreement on the parentheses is agreement on precedence: both parsers saw the same expression."""
    text = f"SELECT {expression} AS anything, {expression} FROM t"
    tree = parse(text).tree
    assert tree is not None
    theirs = ENGINE.execute(f"DESCRIBE {text}").fetchall()[1][0]
    item = tree.expressions[1]
    if isinstance(item.unnest(), exp.Column):  # DuckDB takes the table's spelling
        assert column_names([item], printed)[0].lower() == theirs.lower()
    else:
        assert column_names([item], printed)[0] == theirs


ENGINE = duckdb.connect()
ENGINE.execute(TABLE)
