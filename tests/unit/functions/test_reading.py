"""Every spelling DuckDB has reads as the function that computes the same: parsed, read, made, printed, compared."""

from __future__ import annotations

import functools

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from dpsql.domain.types import BIGINT, BOOLEAN, DATE, REAL, TEXT, TIMESTAMP, Type, decimal
from dpsql.errors import Error, Refused, SqlError
from dpsql.functions import REFUSED, literal_of, make, number_literal, suggest, totalise
from dpsql.ir.expr import Column, Expr
from dpsql.plan.dialects import scratch
from dpsql.plan.dialects.duckdb import functions as vault
from dpsql.sql.allow import ALLOWED
from dpsql.sql.call_reading import read
from dpsql.sql.type_reading import read_interval, read_type
from tests.unit.functions.world import connection

TYPES: dict[str, Type] = {
    "b": BOOLEAN,
    "i": BIGINT,
    "d": decimal(9, 2),
    "r": REAL,
    "t": DATE,
    "ts": TIMESTAMP,
    "s": TEXT,
}
COLUMNS = {name: Column(i, type_, name) for i, (name, type_) in enumerate(TYPES.items())}
ROWS = """(VALUES (true, 7, 12.50, 2.5, DATE '2020-02-29', TIMESTAMP '2020-02-29 13:45:59.25', 'a,Bc'),
    (false, -3, -0.05, -0.75, DATE '1999-12-31', TIMESTAMP '1999-12-31 23:59:59', ' x%y '),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL)) v(b, i, d, r, t, ts, s)"""
SOURCE = "(SELECT b, i::BIGINT i, d::DECIMAL(9,2) d, r::DOUBLE r, t, ts, s FROM " + ROWS + ")"

SPELLINGS = """
-i | +i | i + 1 | i - d | i * d | i / 2 | i // 2 | i % 2 | mod(i, 2) | add(i, 2) | subtract(i, 2) | multiply(i, 2)
divide(i, 2) | s || 'x' | s || i | concat(s, i) | i = 1 | i == 7 | i <> 1 | i != 1 | i < 1 | i <= 1 | i > 1 | i >= 1
i IS DISTINCT FROM 1 | i IS NOT DISTINCT FROM NULL | b AND i > 1 | b OR i > 1 | NOT b | i IS NULL | i IS NOT NULL
i ISNULL | i NOTNULL | b IS TRUE | b IS NOT TRUE | b IS FALSE | b IS NOT FALSE | b IS UNKNOWN | b IS NOT UNKNOWN
i IN (1, 7) | i NOT IN (1, 7) | s IN ('a,Bc') | t IN ('2020-02-29') | i BETWEEN 1 AND 9 | i NOT BETWEEN 1 AND 9
s LIKE 'a%' | s NOT LIKE 'a%' | s ILIKE '%b%' | s NOT ILIKE 'A%' | s LIKE '%!%%' ESCAPE '!'
s NOT LIKE '%!%%' ESCAPE '!' | s ~~ 'a%' | s !~~ 'a%' | s ~~* 'A%' | s ~ 'a.*' | s !~ 'a.*'
regexp_matches(s, '[abc]') | regexp_full_match(s, 'a.*') | CASE WHEN i > 1 THEN 1 END
CASE WHEN i > 1 THEN 1 ELSE 2.5 END | CASE i WHEN 7 THEN 'seven' ELSE 'no' END | IF(b, 1, 2) | COALESCE(i, 0)
IFNULL(i, 0) | NULLIF(i, 7) | LEAST(i, 3) | GREATEST(i, 3, d) | CAST(i AS DOUBLE) | i::DECIMAL | i::DECIMAL(9,2)
i::VARCHAR | TRY_CAST(s AS BIGINT) | CAST(i AS SMALLINT) | t::TIMESTAMP | ts::DATE | b::INT | i::TEXT | i::HUGEINT
i::TINYINT | d::INTEGER | r::BIGINT | i::STRING | i::INT8 | i::NUMERIC(9, 1) | abs(i) | @i | sign(d) | floor(r)
ceil(r) | ceiling(d) | trunc(d) | round(d) | round(r, 1) | round(i, -1) | sqrt(i) | cbrt(r) | exp(r) | ln(i)
log(i) | log10(i) | log2(i) | log(3, i) | power(i, 2) | pow(i, 2) | i ** 2 | i ^ 2 | sin(r) | cos(r) | tan(r)
cot(r) | asin(r) | acos(r) | atan(r) | atan2(r, i) | sinh(r) | cosh(r) | tanh(r) | degrees(r) | radians(r) | pi()
isnan(r) | isinf(r) | isfinite(r) | lower(s) | lcase(s) | upper(s) | ucase(s) | left(s, 2) | right(s, 2)
substring(s, 2, 2) | substr(s, 2) | substring(s FROM 2 FOR 1) | trim(s) | ltrim(s) | rtrim(s, ' ')
trim(BOTH ' ' FROM s) | trim(s, ' a') | reverse(s) | replace(s, ',', '') | translate(s, 'a,', 'bc')
split_part(s, ',', 2) | length(s) | len(s) | char_length(s) | strlen(s) | starts_with(s, 'a') | s ^@ 'a'
ends_with(s, 'c') | suffix(s, 'c') | prefix(s, 'a') | contains(s, 'B') | strpos(s, 'B') | instr(s, 'B')
position('B' IN s) | extract(year FROM t) | extract('month' FROM ts) | date_part('dow', t) | datepart('hour', ts)
year(t) | month(ts) | day(t) | quarter(t) | week(t) | weekofyear(t) | dayofweek(t) | isodow(t) | weekday(t)
dayofyear(t) | dayofmonth(t) | hour(ts) | minute(ts) | second(ts) | isoyear(t) | yearweek(t) | era(t) | decade(t)
century(t) | millennium(t) | epoch(ts) | epoch_ms(ts) | epoch_us(ts) | extract(epoch FROM ts) | millisecond(ts)
microsecond(ts) | date_trunc('month', t) | datetrunc('week', ts) | date_trunc('hour', ts) | last_day(t) | dayname(t)
monthname(t) | date_diff('day', t, DATE '2020-03-05') | datediff('month', t, ts) | date_sub('month', t, ts)
datesub('year', t, ts) | t + 1 | 1 + t | t - 1 | t - DATE '2020-01-01' | t + INTERVAL 1 MONTH
t - INTERVAL '1 month 2 days' | ts + INTERVAL '3' HOUR | t + INTERVAL (-1) YEAR | date_add(t, INTERVAL 1 DAY)
t = '2020-02-29' | ts < '2020-01-01 10:00' | t BETWEEN '2020-01-01' AND '2020-12-31' | strftime(t, '%Y/%m')
strptime('2020-01', '%Y-%m') | try_strptime(s, '%Y') | ((i)) + (1) | i + 9223372036854775000 * 0 | 1_000 + i
1e3 + i | .5 + i | NULL + i
"""


@functools.cache
def con() -> duckdb.DuckDBPyConnection:
    return connection()


def bound(node: exp.Expression) -> Expr:
    """A small binder, enough for these expressions."""
    match node:
        case exp.Paren():
            return bound(node.this)
        case exp.Column():
            return COLUMNS[node.name.lower()]
        case exp.Literal():
            return literal_of(node.this) if node.is_string else number_literal(node.this)
        case exp.Boolean():
            return literal_of(node.this)
        case exp.Null():
            return literal_of(None)
        case exp.Interval():
            return read_interval(node)
    expression = read(node)
    assert expression is not None, node
    name, args = expression
    to = read_type(node.args["to"]) if isinstance(node, exp.Cast) else None
    return make(name, tuple(map(bound, args)), at=None, to=to)


def parsed(text: str) -> exp.Expression:
    select = sqlglot.parse_one(f"SELECT {text}", dialect="duckdb")
    return select.expressions[0]


def spellings() -> list[str]:
    lines = [line for line in SPELLINGS.splitlines() if line.strip()]
    return [part.strip() for line in lines for part in line.replace(" || ", " @@ ").split(" | ")]


@pytest.mark.parametrize("text", [s.replace("@@", "||") for s in spellings()])
def test_a_spelling_means_what_duckdb_means(text: str) -> None:
    expr = bound(parsed(text))
    total, _ = totalise(expr, {})
    vault_form = vault.render(total, lambda c: c.name)
    scratch_form = scratch.render(expr, lambda c: f'v."{c.name}"')
    rows = con().execute(f"SELECT {text}, {vault_form}, {scratch_form} FROM {SOURCE} v").fetchall()
    for wanted, *answered in rows:
        assert [repr(value) for value in answered] == [repr(wanted)] * 2, (vault_form, scratch_form)
    described = con().execute(f"DESCRIBE SELECT {text}, {vault_form}, {scratch_form} FROM {SOURCE} v").fetchall()
    assert [row[1] for row in described] == [expr.type.sql] * 3


@pytest.mark.parametrize("text", [s.replace("@@", "||") for s in spellings()])
def test_only_allowed_arguments_are_set(text: str) -> None:
    for node in parsed(text).walk():
        if isinstance(node, exp.Column | exp.Identifier):
            continue
        assert type(node) in ALLOWED, type(node)
        given = {key for key, value in node.args.items() if value not in (None, False, [], "")}
        assert given <= ALLOWED[type(node)], (type(node), given)


@pytest.mark.parametrize(
    "text",
    [
        "s < 1",
        "i < s",
        "t = 5",
        "b + b",
        "s + 1",
        "i IN (1, 'x')",
        "t = '2020-02-30'",
        "i = '1.5'",
        "upper(i)",
        "ts - ts",
        "t + i",
        "left(s, i)",
        "s LIKE s",
        "regexp_matches(s, '(')",
        "s LIKE 'a!' ESCAPE '!'",
        "date_trunc('x', t)",
        "extract(nonsense FROM t)",
        "round(d, i)",
        "replace(s, 'a', 'bb')",
        "CASE WHEN i THEN 1 END",
        "coalesce(i, s)",
        "strftime(t, '%Q')",
        "t::BIGINT",
        "i::DATE",
        "i + t",
        "split_part(s, ',', i)",
        "i + 1e400",
    ],
)
def test_what_does_not_fit_is_refused_by_name(text: str) -> None:
    with pytest.raises(SqlError) as caught:
        bound(parsed(text))
    assert caught.value.code == "DPSQL-105"
    assert caught.value.what


@pytest.mark.parametrize("text", ["s::TIMESTAMPTZ", "i::UBIGINT", "s::BLOB", "s::JSON", "i::INT[]"])
def test_unknown_types_are_refused(text: str) -> None:
    with pytest.raises(Refused):
        bound(parsed(text))


@pytest.mark.parametrize(
    "text", ["foo(i)", "random()", "i IN (SELECT 1)", "[1]", "s COLLATE nocase", "ts AT TIME ZONE 'x'"]
)
def test_unknown_functions_are_not_read(text: str) -> None:
    node = parsed(text)
    assert read(node) is None


@pytest.mark.parametrize("name", ["cast", "case", "equal", "in", "checked_add", "is_true", "not_like"])
def test_syntax_is_not_a_function(name: str) -> None:
    assert read(exp.Anonymous(this=name, expressions=[exp.column("i")])) is None


def test_suggestions_and_refusals() -> None:
    assert suggest("lowr") == "lower"
    assert suggest("date_trnc") == "date_trunc"
    assert suggest("zzz") is None
    assert all(why and instead for why, instead in REFUSED.values())
    assert issubclass(Refused, Error)
