"""What PostgreSQL has no form of that never fails and means the same as on the other engines: why, and the other way."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dpsql.domain.types import HUGEINT, Kind, as_decimal
from dpsql.functions.date_parts import CLOCK, the_part
from dpsql.functions.function import unchecked
from dpsql.ir.expr import AggregateCall, Call, Expr, Literal, WindowCall
from dpsql.ir.nodes import Aggregate, Node
from dpsql.plan.dialects.postgres.firsts import ENDS
from dpsql.plan.dialects.reasons import ASCII, DIGITS, FAR_DAYS, FAR_MONTHS, FAR_TIME, LIBRARY, OUTSIDE, TYPED

CASES = f"Which letters belong together beyond ASCII, each server's locale decides. Write {ASCII}."
PATTERNS = "Its regular expressions are another language than DuckDB's. Write LIKE, STARTS_WITH, ENDS_WITH or CONTAINS."


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


def refusal_of(node: Node) -> str | None:
    if isinstance(node, Aggregate) and node.sets is not None and any(call.function in ENDS for call in node.calls):
        return "It would gather all values in an array, which may become too large. Write a GROUP BY for each grouping set."
    return None


def _constant(constant: Literal) -> str | None:
    if isinstance(constant.value, str) and "\0" in constant.value:
        return "Its text holds no NUL character, so nothing is equal to this one. Leave it out."
    if constant.type.kind is Kind.INTERVAL and isinstance(constant.value, str):
        months, days, time = (abs(int(part)) for part in constant.value.split())
        if months > FAR_MONTHS or days > FAR_DAYS or time > FAR_TIME:
            return "Its calendar begins 4,713 years before our era. Write an interval of at most 4,000 years."
    return None


def _aggregate(call: AggregateCall) -> str | None:
    if call.function in ("quantile_cont", "quantile_disc"):
        return "It interpolates in another way, and may fail at large numbers. Write MIN, MAX or AVG."
    if call.function == "mode" and len(call.order) > 1:
        return "Of values that are as frequent it takes the least. Leave the ORDER BY out."
    return None


def _window(call: WindowCall) -> str | None:
    if call.function in ("quantile_cont", "quantile_disc", "mode", "first", "last"):
        return "It has no such window. Aggregate with GROUP BY in a subquery."
    if call.ignore_nulls:
        return "It has no IGNORE NULLS. Filter the NULLs out in a subquery."
    if call.distinct:
        return "It has no DISTINCT in windows. Aggregate with GROUP BY in a subquery."
    return None


def _remainder(call: Call) -> str | None:
    """Of decimals that have more than 38 digits together DuckDB takes the remainder as reals."""
    sides = [side for arg in call.args if (side := as_decimal(arg.type)) is not None]
    digits = [max(side.precision - side.scale for side in sides), max(side.scale for side in sides)] if sides else []
    if call.type.kind is Kind.REAL or (call.type.kind is Kind.DECIMAL and sum(digits) > 38):
        return "It has no remainder of reals. CAST both sides to BIGINT, or to DECIMAL of few digits."
    return None


def _cast(call: Call) -> str | None:
    source, to = call.args[0].type, call.type
    match source.kind, to.kind:
        case (Kind.TEXT, _) if to.kind is not Kind.TEXT:
            return TYPED
        case Kind.REAL, Kind.TEXT:
            return DIGITS
        case Kind.REAL, Kind.DECIMAL:
            return "It keeps 15 digits of a real. Reckon with the real, or CAST it to BIGINT."
        case Kind.REAL, Kind.INTEGER if to == HUGEINT:
            return "It keeps 15 digits of a real. CAST it to BIGINT."
        case Kind.BOOLEAN, Kind.DECIMAL if to.precision == to.scale:
            return "TRUE is not among the values of that type. CAST it to BIGINT."
        case _:
            return None


def _joined(call: Call) -> str | None:
    if any(arg.type.kind is Kind.REAL for arg in call.args):
        return DIGITS
    return None


def _substring(call: Call) -> str | None:
    start, *length = (arg.value for arg in call.args[1:] if isinstance(arg, Literal))
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


def _part(call: Call) -> str | None:
    return "Its Julian days are others. Take date_part('epoch', x)." if the_part(call) == "julian" else None


def _truncated(call: Call) -> str | None:
    if the_part(call) in ("century", "millennium"):
        return "Its centuries begin with the year 1, DuckDB's with the year 0. Truncate to decades, or take the year."
    return None


def _full_parts(call: Call) -> str | None:
    if the_part(call) in CLOCK or the_part(call) in ("day", "week"):
        return None
    return "Full months are counted in different ways where months end. Write DATE_DIFF, or count days."


Reason = str | Callable[[Call], str | None]
REASONS: Mapping[str, Reason] = {
    **dict.fromkeys(
        LIBRARY, f"Its last digits are those of the server's own library. {OUTSIDE} For a square write x * x."
    ),
    **dict.fromkeys(("lower", "upper", "ilike", "not_ilike"), CASES),
    **dict.fromkeys(("regexp_matches", "regexp_full_match"), PATTERNS),
    **dict.fromkeys(
        ("strptime", "try_strptime"), "It has no reading of dates that never fails. Declare the column as a date."
    ),
    "reverse": f"DuckDB keeps characters of several code points together, PostgreSQL does not. {OUTSIDE}",
    "modulo": _remainder,
    "cast": _cast,
    "try_cast": _cast,
    "concat": _joined,
    "concat_all": _joined,
    "substring": _substring,
    "split_part": _split,
    "date_part": _part,
    "date_trunc": _truncated,
    "date_sub": _full_parts,
}
