"""How each scalar function may be written, as templates with typed holes. To cover a new function, add a line.

Holes: {I} integer, {M} decimal, {X} real, {N} any number, {B} boolean, {D} date, {S} timestamp, {W} date or timestamp,
{T} text; {i} {t} {d} small constants. Results are given as the same letters.
"""

from __future__ import annotations

Form = tuple[str, str]  # (result, template)


def _each(*forms: str) -> tuple[Form, ...]:
    return tuple((form[0], form[2:]) for form in forms)


PARTS = ("year", "quarter", "month", "week", "day", "dow", "isodow", "doy", "hour", "minute", "decade", "century")
STEPS = ("year", "quarter", "month", "week", "day", "hour", "minute", "decade")
COMPARED = ("N", "D", "S", "T")


def _compare(operator: str) -> tuple[Form, ...]:
    return tuple(("B", f"({{{kind}}} {operator} {{{kind}}})") for kind in COMPARED)


def _any(template: str, result: str | None = None, kinds: str = "IMXBDST") -> tuple[Form, ...]:
    return tuple((result or kind, template.replace("@", f"{{{kind}}}")) for kind in kinds)


SCALAR_FORMS: dict[str, tuple[Form, ...]] = {
    "negate": _any("(-@)", kinds="IMX"),
    "add": (*_any("(@ + @)", kinds="IMX"), *_each("N:({N} + {i})", "D:({D} + {i})", "S:({W} + INTERVAL {i} MONTH)")),
    "subtract": (*_any("(@ - @)", kinds="IMX"), *_each("I:({D} - {D})", "S:({W} - INTERVAL {i} DAY)")),
    "multiply": _each("I:({I} * {i})", "M:({M} * {i})", "X:({X} * {X})", "X:({X} * {N})", "N:({N} * {N})"),
    "divide": _each("X:({N} / {N})", "X:({N} / {i})"),
    "integer_divide": _each("I:({I} // {i})", "I:({I} // {I})"),
    "modulo": _each("I:({I} % {i})", "N:MOD({N}, {i})", "X:({X} % {X})"),
    "equal": _compare("="),
    "not_equal": _compare("<>"),
    "less": _compare("<"),
    "less_equal": _compare("<="),
    "greater": _compare(">"),
    "greater_equal": _compare(">="),
    "is_distinct": _compare("IS DISTINCT FROM"),
    "is_not_distinct": _compare("IS NOT DISTINCT FROM"),
    "between": _each("B:({N} BETWEEN {i} AND {N})", "B:({D} BETWEEN {D} AND {D})", "B:({T} BETWEEN {t} AND {T})"),
    "in": _each("B:({I} IN ({i}, {i}, {i}))", "B:({T} IN ({t}, {t}))", "B:({N} NOT IN ({i}, {N}))"),
    "and": _each("B:({B} AND {B})", "B:({B} AND {B} AND {B})"),
    "or": _each("B:({B} OR {B})"),
    "not": _each("B:(NOT {B})"),
    "is_null": _any("(@ IS NULL)", "B"),
    "is_not_null": _any("(@ IS NOT NULL)", "B"),
    "is_true": _each("B:({B} IS TRUE)"),
    "is_false": _each("B:({B} IS FALSE)"),
    "is_not_true": _each("B:({B} IS NOT TRUE)"),
    "is_not_false": _each("B:({B} IS NOT FALSE)"),
    "case": (*_any("CASE WHEN {B} THEN @ ELSE @ END"), *_any("CASE WHEN {B} THEN @ WHEN {B} THEN @ END")),
    "coalesce": (*_any("COALESCE(@, @)"), *_each("N:IFNULL({N}, {i})", "T:COALESCE({T}, {t})")),
    "nullif": (*_any("NULLIF(@, @)"), *_each("I:NULLIF({I}, {i})")),
    "least": (*_any("LEAST(@, @)", kinds="IMXDST"), *_each("N:LEAST(GREATEST({N}, 0), 9)")),
    "greatest": (*_any("GREATEST(@, @)", kinds="IMXDST"), *_each("N:GREATEST(LEAST({N}, 7), -3)")),
    "cast": _each(
        "I:CAST({N} AS BIGINT)",
        "I:CAST({T} AS INTEGER)",
        "I:CAST({B} AS SMALLINT)",
        "M:CAST({N} AS DECIMAL(12, 3))",
        "X:CAST({N} AS DOUBLE)",
        "T:CAST({I} AS VARCHAR)",
        "T:CAST({D} AS VARCHAR)",
        "D:CAST({S} AS DATE)",
        "S:CAST({D} AS TIMESTAMP)",
        "B:CAST({I} AS BOOLEAN)",
        "X:({T}::DOUBLE)",
    ),
    "try_cast": _each(
        "I:TRY_CAST({N} AS TINYINT)",
        "X:TRY_CAST({T} AS DOUBLE)",
        "M:TRY_CAST({T} AS DECIMAL(9, 2))",
        "D:TRY_CAST({T} AS DATE)",
        "S:TRY_CAST({T} AS TIMESTAMP)",
        "I:TRY_CAST({X} AS INTEGER)",
    ),
    "abs": _any("ABS(@)", kinds="IMX"),
    "sign": _each("I:SIGN({N})"),
    "floor": _each("X:FLOOR({X})", "M:FLOOR({M})", "I:CAST(FLOOR({X}) AS INTEGER)"),
    "ceil": _each("X:CEIL({X})", "M:CEIL({M})"),
    "trunc": _each("X:TRUNC({X})", "M:TRUNC({M})"),
    "round": _each("X:ROUND({X})", "X:ROUND({X}, 1)", "M:ROUND({M}, 1)", "M:ROUND({M})", "I:ROUND({I}, -1)"),
    "sqrt": _each("X:SQRT({N})"),
    "cbrt": _each("X:CBRT({N})"),
    "exp": _each("X:EXP({N})"),
    "ln": _each("X:LN({N})"),
    "log10": _each("X:LOG10({N})"),
    "log2": _each("X:LOG2({N})"),
    "log": _each("X:LOG({N}, {N})"),
    "power": _each("X:POWER({N}, {i})", "X:({X} ** {X})"),
    **{
        name: _each(f"X:{name.upper()}({{N}})")
        for name in ("sin", "cos", "tan", "cot", "asin", "acos", "atan", "sinh", "cosh", "tanh", "degrees", "radians")
    },
    "atan2": _each("X:ATAN2({N}, {N})"),
    "pi": _each("X:(PI() * {N})"),
    "isnan": _each("B:ISNAN({X})"),
    "isinf": _each("B:ISINF({X})"),
    "isfinite": _each("B:ISFINITE({X})"),
    "concat": _each("T:({T} || {T})"),
    "concat_all": _each("T:CONCAT({T}, {t}, {T})"),
    **{name: _each(f"T:{name.upper()}({{T}})") for name in ("lower", "upper", "reverse", "trim", "ltrim", "rtrim")},
    "left": _each("T:LEFT({T}, {i})"),
    "right": _each("T:RIGHT({T}, {i})"),
    "substring": _each("T:SUBSTRING({T}, {i}, {i})", "T:SUBSTRING({T}, {i})"),
    "replace": _each("T:REPLACE({T}, 'a', 'b')"),
    "translate": _each("T:TRANSLATE({T}, 'ab', 'x')"),
    "split_part": _each("T:SPLIT_PART({T}, ',', {i})"),
    "length": _each("I:LENGTH({T})"),
    "strlen": _each("I:STRLEN({T})"),
    "starts_with": _each("B:STARTS_WITH({T}, {t})"),
    "ends_with": _each("B:ENDS_WITH({T}, {t})"),
    "contains": _each("B:CONTAINS({T}, {t})"),
    "strpos": _each("I:STRPOS({T}, {t})"),
    "like": _each("B:({T} LIKE 'a%')", "B:({T} LIKE '%b_')"),
    "not_like": _each("B:({T} NOT LIKE '%a%')"),
    "ilike": _each("B:({T} ILIKE 'A%')"),
    "not_ilike": _each("B:({T} NOT ILIKE '_b%')"),
    "regexp_matches": _each("B:REGEXP_MATCHES({T}, '[a-c]+')"),
    "regexp_full_match": _each("B:REGEXP_FULL_MATCH({T}, 'a.*')"),
    "date_part": (
        *(("I", f"EXTRACT({part} FROM {{W}})") for part in PARTS),
        *_each("I:YEAR({W})", "I:MONTH({W})", "I:DATE_PART('day', {W})"),
    ),
    "date_trunc": tuple(("W", f"DATE_TRUNC('{step}', {{W}})") for step in STEPS),
    "date_diff": tuple(("I", f"DATE_DIFF('{step}', {{W}}, {{W}})") for step in ("day", "month", "year", "hour")),
    "date_sub": tuple(("I", f"DATE_SUB('{step}', {{W}}, {{W}})") for step in ("day", "month", "year")),
    "dayname": _each("T:DAYNAME({W})"),
    "monthname": _each("T:MONTHNAME({W})"),
    "last_day": _each("D:LAST_DAY({W})"),
    "epoch_ms": _each("I:EPOCH_MS({S})"),
    "epoch_us": _each("I:EPOCH_US({S})"),
    "strftime": _each("T:STRFTIME({W}, '%Y-%m')"),
    "strptime": _each("S:STRPTIME({T}, '%Y-%m-%d')"),
    "try_strptime": _each("S:TRY_STRPTIME({T}, '%Y')"),
}
