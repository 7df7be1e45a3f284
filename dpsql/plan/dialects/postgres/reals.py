"""Doubles on PostgreSQL, which raises where IEEE 754 overflows, where a product or quotient underflows to zero, and where
one divides by zero. Each form here answers on all doubles what IEEE does, to the bit, and NULL of NULL.

Lemma (total, exact): an operation is printed on arguments of which no result is outside the doubles (a result that rounds to
zero, of factors that are not, included), or one of which is already NaN or infinite or zero: there PostgreSQL computes what
IEEE does and has nothing to raise. Elsewhere the operands are first multiplied by powers of two, which is exact where the
result is a normal double; whether the true result leaves the doubles is then asked of the scaled one, which keeps order: a
rounded value is at least (at most) a power of two iff the exact value is so after rounding. The branches of CASE are tried
in order, on rows as on constants: of a constant PostgreSQL leaves out the branches whose condition is FALSE before it looks
at them, and every condition here says of each argument alone what its branch needs.
"""

from __future__ import annotations

from dpsql.domain.types import Kind, Type
from dpsql.plan.dialects.postgres.binding import bound
from dpsql.plan.dialects.postgres.literals import integer, real, typed_null

INFINITY, MINUS_INFINITY, NAN = real(float("inf")), real(float("-inf")), real(float("nan"))
SMALL, LARGE = real(1e-150), real(1e150)  # products and quotients of what is between are normal
ZERO, ONE = real(0.0), real(1.0)


def two_to(exponent: int) -> str:
    return real(2.0**exponent)


def _medium(*numbers: str) -> str:
    """Whether the size of all is: of positive ones two comparisons decide."""
    return " AND ".join(
        f"({x} BETWEEN {SMALL} AND {LARGE} OR {x} BETWEEN {real(-1e150)} AND {real(-1e-150)})"
        for x in dict.fromkeys(numbers)
    )


def _finite(x: str) -> str:
    return f"abs({x}) < {INFINITY}"  # NaN is above infinity


def _signed(a: str, b: str, positive: str, negative: str) -> str:
    return f"CASE WHEN ({a} > {ZERO}) = ({b} > {ZERO}) THEN {positive} ELSE {negative} END"


def added(a: str, b: str, operator: str = "+") -> str:
    return bound((a, b), lambda a, b: _added(a, b, operator))


def _added(a: str, b: str, operator: str) -> str:
    """A sum overflows only where both are large: more than 2^900, since the largest double is 2^970 below what rounds to
    infinity. Then their halves are exact, and so is twice a sum of them that is below 2^1023. (Sums never raise at zero.)"""
    plain, limit, top = f"{a} {operator} {b}", two_to(1022), two_to(1023)
    half = f"({a} * {real(0.5)} {operator} {b} * {real(0.5)})"
    return (
        f"CASE WHEN abs({a}) < {limit} AND abs({b}) < {limit} THEN {plain} "
        f"WHEN NOT ({_finite(a)} AND {_finite(b)}) OR abs({a}) < {two_to(900)} OR abs({b}) < {two_to(900)} THEN {plain} "
        f"WHEN {half} >= {top} THEN {INFINITY} WHEN {half} <= -{top} THEN {MINUS_INFINITY} "
        f"ELSE {half} * {real(2.0)} END"
    )


def multiplied(a: str, b: str) -> str:
    return bound((a, b), _multiplied)


def _multiplied(a: str, b: str) -> str:
    """Of factors that are both at least 1 (one of them above 1e150) the product may overflow: divided by 2^1040 it is from
    2^-542 to 2^1008. Of factors that are both below 1 (one of them below 1e-150) it may underflow. Else it is neither beyond
    the larger nor below the smaller."""
    plain = f"{a} * {b}"
    down = f"abs({a} * {two_to(-520)} * ({b} * {two_to(-520)}))"
    return (
        f"CASE WHEN {_medium(a, b)} THEN {plain} "
        f"WHEN {a} = {ZERO} OR {b} = {ZERO} OR NOT ({_finite(a)} AND {_finite(b)}) THEN {plain} "
        f"WHEN abs({a}) >= {ONE} AND abs({b}) >= {ONE} THEN CASE WHEN {down} >= {two_to(-16)} "
        f"THEN {_signed(a, b, INFINITY, MINUS_INFINITY)} ELSE {plain} END "
        f"WHEN abs({a}) >= {ONE} OR abs({b}) >= {ONE} THEN {plain} "
        f"ELSE {_small(a, b)} END"
    )


def _small(a: str, b: str) -> str:
    """The product of finite factors below 1, one of them below 1e-150: 0 iff |a·b| ≤ 2^-1075.

    x = |a|·2^537 and y = |b|·2^538 are exact, and x·y from 2^-1073 to 2^577: it is to be compared with 1, which its rounding
    p decides unless it is 1 itself. Then x·y − 1 is Dekker's exact error of the product, from the halves of x and y: they
    are near each other's inverse, so no product of halves is below 2^-110. All is said of the names of subselects, even if
    a and b are constants: what PostgreSQL cannot know beforehand it does not multiply beforehand."""
    split = real(134217729.0)  # 2^27 + 1
    high = ", ".join(f"{v} * {split} - ({v} * {split} - {v}) AS {v}h" for v in ("x", "y"))
    error = f"xl * yl - ((({ONE} - xh * yh) - xl * yh) - xh * yl)"
    scaled = f"SELECT {a} AS l, {b} AS r, abs({a}) * {two_to(537)} AS x, abs({b}) * {two_to(538)} AS y OFFSET 0"
    halves = f"SELECT l, r, x, y, {high} FROM ({scaled}) AS scaled OFFSET 0"
    lows = f"SELECT l, r, x * y AS p, xh, yh, x - xh AS xl, y - yh AS yl FROM ({halves}) AS halves OFFSET 0"
    vanishes = f"CASE WHEN p = {ONE} THEN {error} <= {ZERO} ELSE p < {ONE} END"
    zero = _signed("l", "r", ZERO, real(-0.0))
    return f"(SELECT CASE WHEN {vanishes} THEN {zero} ELSE l * r END FROM ({lows}) AS factors)"


def divided(a: str, b: str) -> str:
    return bound((a, b), _divided)


def _divided(a: str, b: str) -> str:
    """By zero: NaN of NaN and zero, else infinite with the signs of both (atan2 knows the sign of a zero).

    By less than 1 a quotient may overflow, if |a| ≥ 2^-60. With large a divided by 2^600, and b below 2^-500 multiplied by
    it, it is normal: from 2^-100 to 2^974. By 1 or more it may underflow, if |a| < 2^-40: it rounds to zero iff
    |a/b| ≤ 2^-1075, iff |a|·2^537 ≤ |b|·2^-538, both of which are exact."""
    plain = f"{a} / {b}"
    a_by = f"CASE WHEN abs({a}) > {two_to(500)} THEN {two_to(-600)} ELSE {ONE} END"
    b_by = f"CASE WHEN abs({b}) < {two_to(-500)} THEN {two_to(600)} ELSE {ONE} END"
    over = f"(abs({a}) * ({a_by})) / (abs({b}) * ({b_by})) * {real(0.5)} >= {two_to(1023)} * ({a_by}) / ({b_by})"
    by_zero = (
        f"CASE WHEN ({a} > {ZERO}) = (atan2({b}, {real(-1.0)}) > {ZERO}) THEN {INFINITY} ELSE {MINUS_INFINITY} END"
    )
    return (
        f"CASE WHEN {_medium(a, b)} THEN {plain} "
        f"WHEN {b} = {ZERO} THEN CASE WHEN {a} = {ZERO} OR {a} = {NAN} THEN {NAN} WHEN {a} IS NOT NULL THEN {by_zero} END "
        f"WHEN {a} = {ZERO} OR NOT ({_finite(a)} AND {_finite(b)}) THEN {plain} "
        f"WHEN abs({b}) < {ONE} AND abs({a}) < {two_to(-60)} THEN {plain} "
        f"WHEN abs({b}) < {ONE} THEN CASE WHEN {over} THEN {_signed(a, b, INFINITY, MINUS_INFINITY)} ELSE {plain} END "
        f"WHEN abs({a}) >= {two_to(-40)} THEN {plain} "
        f"WHEN abs({a}) * {two_to(537)} <= abs({b}) * {two_to(-538)} THEN {_signed(a, b, ZERO, real(-0.0))} "
        f"ELSE {plain} END"
    )


def canonical(x: str) -> str:
    """No NaN, no −0.0."""
    return bound((x,), lambda x: f"CASE WHEN {x} <= {INFINITY} THEN {x} + {ZERO} END")


def root(x: str) -> str:
    """NaN below zero."""
    return bound((x,), lambda x: f"CASE WHEN {x} >= {ZERO} THEN sqrt({x}) WHEN {x} < {ZERO} THEN {NAN} END")


def whole(x: str) -> str:
    """To the nearest whole number, halves away from zero. What trunc takes off is exact; beyond 2^52 it takes nothing; of an
    infinite value it leaves NaN, which is above a half."""

    def body(x: str) -> str:
        away = f"CASE WHEN abs({x} - trunc({x})) >= {real(0.5)} THEN trunc({x}) + sign({x}) ELSE trunc({x}) END"
        return away

    return bound((x,), body)


def places(x: str, digits: int) -> str:
    """To so many places, as DuckDB: scaled, rounded, scaled back; where that is not finite the number itself."""
    power = real(10.0 ** abs(digits))

    def body(x: str) -> str:
        if digits >= 0:
            rounded = f"({whole(multiplied(x, power))} / {power})"
        else:
            rounded = multiplied(whole(divided(x, power)), power)
        return bound((rounded,), lambda r: f"CASE WHEN {_finite(r)} THEN {r} ELSE {x} END")

    return bound((x,), body)


# --- whole numbers and decimals as doubles ----------------------------------------------------------------------------


def of_exact(x: str, source: Type) -> str:
    """An integer or decimal as a double: the nearest but of 128 bits, on both engines."""
    match source.kind:
        case Kind.NULL:
            return typed_null(Type(Kind.REAL))
        case Kind.REAL:
            return x
        case Kind.BOOLEAN:
            return f"CAST(CAST({x} AS integer) AS float8)"
        case Kind.INTEGER if source.bits > 64:
            return _of_wide(x)
        case _:
            return f"CAST({x} AS float8)"


def _of_wide(x: str) -> str:
    """Of 128 bits DuckDB adds the doubles of the two halves; from −2^64 to 0 it has a form of its own."""
    word, far = f"numeric '{2**64}'", f"numeric '{2**128}'"

    def body(x: str) -> str:
        low, high = f"mod({x} + {far}, {word})", f"div({x} + {far}, {word}) - {word}"
        return (
            f"CASE WHEN abs({x}) <= {integer(2**53)} THEN CAST({x} AS float8) "
            f"WHEN {x} < {integer(0)} AND {x} >= -{word} THEN -CAST(-{x} - {integer(1)} AS float8) - {ONE} "
            f"ELSE CAST({low} AS float8) + CAST({high} AS float8) * {two_to(64)} END"
        )

    return bound((x,), body)


def to_integer(x: str, bits: int = 64) -> str:
    """Half to even; NULL of NaN and of what the integer does not hold once it is rounded (beyond 2^53 a double is whole)."""
    end = two_to(bits - 1)

    def body(x: str) -> str:
        whole = x if bits > 53 else f"round({x})"
        return f"CASE WHEN {whole} >= -{end} AND {whole} < {end} THEN CAST({x} AS bigint) END"

    return bound((x,), body)
