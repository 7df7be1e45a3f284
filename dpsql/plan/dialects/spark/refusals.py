"""What Spark has no form of that never fails and means the same as on the other engines: why, and the other way."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dpsql.domain.types import HUGEINT, Kind, as_decimal
from dpsql.functions.date_parts import CLOCK, the_part
from dpsql.functions.function import unchecked
from dpsql.ir.expr import AggregateCall, Call, Expr, Literal, WindowCall
from dpsql.plan.dialects.reasons import ASCII, DIGITS, FAR_DAYS, FAR_MONTHS, FAR_TIME, LIBRARY, OUTSIDE, TYPED
from dpsql.plan.dialects.spark.rows import extreme

CASES = f"Its letters beyond ASCII have other small and large forms than DuckDB's. Write {ASCII}."
PATTERNS = (
    "Its regular expressions are Java's, which can take for ever. Write LIKE, STARTS_WITH, ENDS_WITH or CONTAINS."
)


def refusal(expr: Expr) -> str | None:
    """Of the outermost call (or constant) alone."""
    match expr:
        case Literal():
            return _constant(expr)
        case AggregateCall():
            return _aggregate(expr)
        case WindowCall():
            return _window(expr)
        case Call():
            reason = REASONS.get(unchecked(expr.function))
            return reason(expr) if callable(reason) else reason
        case _:
            return None


def _constant(constant: Literal) -> str | None:
    if constant.type == HUGEINT and isinstance(constant.value, int) and abs(constant.value) >= 2**126:
        return "Its whole numbers end at 2^126. Write a smaller one."
    if constant.type.kind is Kind.INTERVAL and isinstance(constant.value, str):
        months, days, time = (abs(int(part)) for part in constant.value.split())
        if months > FAR_MONTHS or days > FAR_DAYS or time > FAR_TIME:
            return "Moments that far away are none. Write an interval of at most 4,000 years."
    return None


def _aggregate(call: AggregateCall) -> str | None:
    if call.function in ("quantile_cont", "quantile_disc"):
        return "It interpolates in another way. Write MIN, MAX or AVG."
    if call.function in ("first", "last") and extreme(call) is None:
        return "It does not sort texts and reals both ways at once. Order by all of them upwards, or all downwards."
    if call.function == "mode":
        return "Of values that are as frequent it takes any. Write MIN, MAX or AVG."
    return None


def _window(call: WindowCall) -> str | None:
    if call.function in ("quantile_cont", "quantile_disc", "mode", "first", "last"):
        return "It has no such window. Aggregate with GROUP BY in a subquery."
    if call.distinct:
        return "It has no DISTINCT in windows. Aggregate with GROUP BY in a subquery."
    if call.where is not None:
        return "It has no FILTER in windows. Write CASE WHEN … THEN … END inside it."
    if call.frame is not None and (call.frame.exclude or call.frame.unit == "GROUPS"):
        return "It has no frames of GROUPS, and none with EXCLUDE. Write a frame of ROWS."
    if call.frame is not None and call.frame.unit == "RANGE" and (call.frame.start[1] or call.frame.end[1]):
        return "Its frames of values may fail where numbers end. Write a frame of ROWS."
    return None


def _wide(call: Call) -> str | None:
    """Two numbers below 2^126 can be more than 38 digits together, and a division there has 20 before the point."""
    return (
        "Its whole numbers have 38 digits, fewer than DuckDB's. CAST both sides to BIGINT."
        if call.type == HUGEINT
        else None
    )


def _rounded(call: Call) -> str | None:
    """Its whole numbers are below 2^126, and 10^38 is above."""
    digits = call.args[1].value if len(call.args) == 2 and isinstance(call.args[1], Literal) else 0
    if call.type == HUGEINT and isinstance(digits, int) and digits <= -38:
        return "Its whole numbers have 38 digits. Round to fewer places before the point."
    return None


def _remainder(call: Call) -> str | None:
    """Of decimals that have more than 38 digits together DuckDB takes the remainder as reals."""
    sides = [side for arg in call.args if (side := as_decimal(arg.type)) is not None]
    digits = [max(side.precision - side.scale for side in sides), max(side.scale for side in sides)] if sides else []
    if call.type.kind is Kind.REAL or (call.type.kind is Kind.DECIMAL and sum(digits) > 38):
        return "Its remainder of reals is another one. CAST both sides to BIGINT, or to DECIMAL of few digits."
    return None


def _cast(call: Call) -> str | None:
    source, to = call.args[0].type, call.type
    match source.kind, to.kind:
        case (Kind.TEXT, _) if to.kind is not Kind.TEXT:
            return TYPED
        case Kind.REAL, Kind.TEXT:
            return DIGITS
        case Kind.REAL, Kind.DECIMAL:
            return "It rounds the digits of reals in another way. Reckon with the real, or CAST it to BIGINT."
        case Kind.REAL, Kind.INTEGER if to == HUGEINT:
            return "Its whole numbers have 38 digits, fewer than DuckDB's. CAST it to BIGINT."
        case Kind.BOOLEAN, Kind.DECIMAL if to.precision == to.scale:
            return "TRUE is not among the values of that type. CAST it to BIGINT."
        case _:
            return None


def _joined(call: Call) -> str | None:
    return DIGITS if any(arg.type.kind is Kind.REAL for arg in call.args) else None


def _position(call: Call) -> str | None:
    numbers = [arg.value if isinstance(arg, Literal) else None for arg in call.args[1:]]
    if any(not isinstance(n, int) or n < 0 for n in numbers):
        return "Numbers below 0 mean something else there. Write one of at least 0."
    return None


def _substring(call: Call) -> str | None:
    start, *length = (arg.value if isinstance(arg, Literal) else None for arg in call.args[1:])
    if not isinstance(start, int) or start < 1 or any(not isinstance(n, int) or n < 0 for n in length):
        return (
            "Positions before the first character mean something else there. Write RIGHT(x, n), or a start from 1 on."
        )
    return None


def _split(call: Call) -> str | None:
    separator, number = (arg.value if isinstance(arg, Literal) else None for arg in call.args[1:])
    if separator == "" or not isinstance(number, int) or number < 1:
        return "It has no such part. Write a separator, and a part from 1 on."
    return None


def _replaced(call: Call) -> str | None:
    constants = [arg.value if isinstance(arg, Literal) else None for arg in call.args[1:]]
    if any(not isinstance(value, str) for value in constants):
        return "What is replaced, and by what, may be text alone. Write constants."
    return None


def _like(call: Call) -> str | None:
    if any(not isinstance(arg, Literal) or not isinstance(arg.value, str) for arg in call.args[1:]):
        return "A pattern that it cannot read would fail there. Write a constant."
    return None


def _part(call: Call) -> str | None:
    return "It has no Julian days. Take date_part('epoch', x)." if the_part(call) == "julian" else None


def _truncated(call: Call) -> str | None:
    if the_part(call) in ("century", "millennium"):
        return "It has no such part. Truncate to decades, or take the year."
    return None


def _full_parts(call: Call) -> str | None:
    if the_part(call) in CLOCK or the_part(call) in ("day", "week"):
        return None
    return "Full months are counted in different ways where months end. Write DATE_DIFF, or count days."


Reason = str | Callable[[Call], str | None]
REASONS: Mapping[str, Reason] = {
    **dict.fromkeys(LIBRARY, f"Its last digits are those of Java's library. {OUTSIDE} For a square write x * x."),
    **dict.fromkeys(("lower", "upper", "ilike", "not_ilike"), CASES),
    **dict.fromkeys(("regexp_matches", "regexp_full_match"), PATTERNS),
    **dict.fromkeys(
        ("strptime", "try_strptime"), "Its formats of dates are others. Declare the column as a date in the metadata."
    ),
    "reverse": f"DuckDB keeps characters of several code points together, Spark does not. {OUTSIDE}",
    "add": _wide,
    "subtract": _wide,
    "integer_divide": _wide,
    "modulo": _remainder,
    "round": _rounded,
    "cast": _cast,
    "try_cast": _cast,
    "concat": _joined,
    "concat_all": _joined,
    "left": _position,
    "right": _position,
    "substring": _substring,
    "split_part": _split,
    "like": _like,
    "not_like": _like,
    "date_part": _part,
    "date_trunc": _truncated,
    "date_sub": _full_parts,
}
