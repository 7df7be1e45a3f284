"""Parts, truncation and differences of dates and timestamps. In the vault a moment outside years 1 to 9999 is NULL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from fractions import Fraction

from dpsql.domain.facts import KEY_LIMIT, Atom, Domain
from dpsql.domain.interval import Interval, interval
from dpsql.domain.types import BIGINT, DATE, REAL, TEXT, TIMESTAMP, Kind, Type
from dpsql.ir.expr import Call, Literal
from dpsql.sql.functions.model import Args, Domains, Function, TypeProblem, expect, text_constant
from dpsql.sql.functions.moments import DAY, as_datetime, of_date, to_date, to_datetime
from dpsql.sql.functions.numbers import fitted
from dpsql.sql.functions.result import result
from dpsql.sql.functions.sets import Inexact, mapped

MOMENTS = (Kind.DATE, Kind.TIMESTAMP)
AS_DATE = "Use CAST(x AS DATE), or write DATE '2020-01-31' for a constant."

# Every spelling DuckDB has for a part.
SPELLINGS = {
    "year": ("yr", "y", "years", "yrs"),
    "quarter": ("quarters",),
    "month": ("mon", "months", "mons"),
    "week": ("weeks", "w", "weekofyear"),
    "day": ("days", "d", "dayofmonth"),
    "hour": ("hr", "hours", "hrs", "h"),
    "minute": ("min", "minutes", "mins", "m"),
    "second": ("sec", "seconds", "secs", "s"),
    "millisecond": ("milliseconds", "ms", "msec", "msecs"),
    "microsecond": ("microseconds", "us", "usec", "usecs"),
    "decade": ("decades", "dec", "decs"),
    "century": ("centuries", "cent", "c"),
    "millennium": ("millenniums", "millennia", "mil", "mils", "millenium"),
    "dayofweek": ("dow", "weekday"),
    "isodow": (),
    "dayofyear": ("doy",),
    "isoyear": (),
    "yearweek": (),
    "era": (),
    "epoch": (),
    "julian": (),
}
PART = {word: part for part, words in SPELLINGS.items() for word in (part, *words)}

PART_RANGE = {
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "day": (1, 31),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
    "millisecond": (0, 59_999),
    "microsecond": (0, 59_999_999),
    "dayofweek": (0, 6),
    "isodow": (1, 7),
    "dayofyear": (1, 366),
    "era": (1, 1),
}
RISING: dict[str, Callable[[dt.datetime], int]] = {
    "year": lambda t: t.year,
    "decade": lambda t: t.year // 10,
    "century": lambda t: (t.year - 1) // 100 + 1,
    "millennium": lambda t: (t.year - 1) // 1000 + 1,
    "isoyear": lambda t: t.isocalendar()[0],
    "yearweek": lambda t: t.isocalendar()[0] * 100 + t.isocalendar()[1],
}
VALUES: dict[str, Callable[[dt.datetime], int]] = {
    **RISING,
    "quarter": lambda t: (t.month + 2) // 3,
    "month": lambda t: t.month,
    "week": lambda t: t.isocalendar()[1],
    "day": lambda t: t.day,
    "hour": lambda t: t.hour,
    "minute": lambda t: t.minute,
    "second": lambda t: t.second,
    "dayofweek": lambda t: t.isoweekday() % 7,
    "isodow": lambda t: t.isoweekday(),
    "dayofyear": lambda t: t.timetuple().tm_yday,
}
CALENDAR_STEP = {
    "week": 7,
    "month": 31,
    "quarter": 92,
    "year": 366,
    "decade": 3653,
    "century": 36525,
    "millennium": 365243,
    "day": 1,
}
CLOCK_STEP = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1000, "microsecond": 1}
YEARS = {"year": 1, "decade": 10, "century": 100, "millennium": 1000}


def part_of(args: Args) -> str:
    word = text_constant(args, 0, "the part")
    part = PART.get(word.lower())
    if part is None:
        raise TypeProblem(f"{word!r} is not a part of a date", 0, "Write 'year', 'month', 'day', 'hour'…")
    return part


def _part(call: Call) -> str:
    word = call.args[0]
    return PART[word.value.lower()] if isinstance(word, Literal) and isinstance(word.value, str) else "day"


def _part_type(args: Args) -> Type:
    part = part_of(args)
    expect(args, 1, MOMENTS, AS_DATE)
    return REAL if part in ("epoch", "julian") else BIGINT


def _part_domain(call: Call, domains: Domains) -> Domain:
    part, moment = _part(call), domains[1]
    if moment.type.kind not in MOMENTS:
        return result(call, domains, nullable=True)
    span = fitted(moment.interval, moment.type)
    rule = VALUES.get(part)
    keys = None if rule is None else mapped(lambda v: rule(as_datetime(v, moment.type)), (moment,))
    if part in RISING and not span.is_empty:
        ends = [RISING[part](as_datetime(int(end), moment.type)) for end in span.ends()]
        return result(call, domains[1:], interval=interval(*ends), keys=keys)
    found = interval(*PART_RANGE[part]) if part in PART_RANGE else Interval()
    if part == "epoch":
        unit = 86_400 if moment.type == DATE else Fraction(1, 1_000_000)
        found = Interval(*(end * unit for end in span.ends()))
    return result(call, domains[1:], interval=found, keys=keys)


def truncated(part: str, value: int, type_: Type) -> int:
    """The start of the part a moment is in, in microseconds."""
    if part in CLOCK_STEP:
        value = value * DAY if type_ == DATE else value
        return value - value % CLOCK_STEP[part]
    day = to_date(value) if type_ == DATE else to_datetime(value).date()
    if part == "week":
        return of_date(day) * DAY - day.weekday() * DAY
    if part in ("month", "quarter"):
        month = day.month if part == "month" else day.month - (day.month - 1) % 3
        return of_date(day.replace(month=month, day=1)) * DAY
    if part in YEARS:
        year = day.year // YEARS[part] * YEARS[part]
        if year < 1:
            raise Inexact
        return of_date(dt.date(year, 1, 1)) * DAY
    return of_date(day) * DAY


def _trunc_type(args: Args) -> Type:
    part = part_of(args)
    if part not in CALENDAR_STEP and part not in CLOCK_STEP:
        raise TypeProblem(f"dates are not truncated to {part}", 0, "Write 'year', 'quarter', 'month', 'week', 'day'…")
    expect(args, 1, MOMENTS, AS_DATE)
    return TIMESTAMP


def _trunc_domain(call: Call, domains: Domains) -> Domain:
    part, moment = _part(call), domains[1]
    if moment.type.kind not in MOMENTS:
        return result(call, domains, nullable=True)
    span = fitted(moment.interval, moment.type)
    if span.is_empty:
        return result(call, domains[1:])
    try:
        low, high = (truncated(part, int(end), moment.type) for end in span.ends())
    except Inexact:
        return result(call, domains[1:])
    keys: tuple[Atom, ...] | None
    if moment.keys is not None:
        keys = mapped(lambda v: truncated(part, v, moment.type), (moment,))
    else:
        keys = _starts(part, low, high) if moment.interval.is_finite else None
    return result(call, domains[1:], interval=interval(low, high), keys=keys)


def _starts(part: str, low: int, high: int) -> tuple[Atom, ...] | None:
    """Every start of a part from one to another; None if there are too many."""
    step = CLOCK_STEP[part] if part in CLOCK_STEP else CALENDAR_STEP[part] * DAY
    if (high - low) // step > KEY_LIMIT:
        return None
    if part in CLOCK_STEP or part in ("day", "week"):
        return tuple(range(low, high + 1, step))
    found = [low]
    while found[-1] < high:
        found.append(truncated(part, found[-1] + step, TIMESTAMP))
    return tuple(found)


def _trunc_raises(call: Call, domains: Domains) -> bool:
    """Truncating to decades, centuries, millennia leads to the year 0."""
    part, moment = _part(call), domains[1]
    if moment.type.kind not in MOMENTS or part not in YEARS:
        return False
    low = fitted(moment.interval, moment.type).ends()[0]
    return as_datetime(int(low), moment.type).year < YEARS[part]


def _diff_type(args: Args) -> Type:
    part = part_of(args)
    if part not in CALENDAR_STEP and part not in CLOCK_STEP and part not in ("isoyear",):
        raise TypeProblem(f"differences are not counted in {part}", 0, "Write 'day', 'month', 'year', 'hour'…")
    for position in (1, 2):
        expect(args, position, MOMENTS, AS_DATE)
    return BIGINT


def _diff_domain(call: Call, domains: Domains) -> Domain:
    """Between the distance over the part's longest length and over its shortest."""
    part = _part(call)
    spans = []
    for domain in domains[1:]:
        if domain.type.kind not in MOMENTS:
            return result(call, domains, nullable=True)
        unit = DAY if domain.type == DATE else 1
        span = fitted(domain.interval, domain.type)
        if span.is_empty:
            return result(call, domains[1:])
        spans.append(tuple(end * unit for end in span.ends()))
    low, high = spans[1][0] - spans[0][1], spans[1][1] - spans[0][0]
    least = _fewest(part, low) if low > 0 else -_most(part, -low)
    most = _most(part, high) if high > 0 else -_fewest(part, -high)
    return result(call, domains[1:], interval=interval(least, most))


SHORTEST = {
    "day": 1,
    "week": 7,
    "month": 28,
    "quarter": 90,
    "year": 365,
    "isoyear": 364,
    "decade": 3652,
    "century": 36524,
    "millennium": 365242,
}
LONGEST = {
    "month": 31,
    "quarter": 92,
    "year": 366,
    "isoyear": 371,
    "decade": 3653,
    "century": 36525,
    "millennium": 365243,
}


def _most(part: str, distance: Fraction) -> int:
    """Starts of a part in a half-open distance: they are at least its shortest length apart."""
    step = CLOCK_STEP.get(part) or SHORTEST[part] * DAY
    return int(-(-distance // step))


def _fewest(part: str, distance: Fraction) -> int:
    """Full parts in a distance; one less where lengths vary, since a month's end stands for the missing days."""
    if part in LONGEST:
        return max(0, int(distance // (LONGEST[part] * DAY)) - 1)
    return int(distance // (CLOCK_STEP.get(part) or SHORTEST[part] * DAY))


def _day_domain(names: tuple[str, ...], rule: Callable[[dt.datetime], int]) -> Callable[[Call, Domains], Domain]:
    def domain(call: Call, domains: Domains) -> Domain:
        moment = domains[0]
        keys = mapped(lambda v: names[rule(as_datetime(v, moment.type))], domains)
        return result(call, domains, keys=keys if keys is not None else names)

    return domain


DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def _name_type(args: Args) -> Type:
    expect(args, 0, MOMENTS, AS_DATE)
    return TEXT


def _last_day_type(args: Args) -> Type:
    expect(args, 0, MOMENTS, AS_DATE)
    return DATE


def _last_day(value: Atom, type_: Type) -> int:
    day = as_datetime(value, type_).date()
    if day.month == 12:
        return of_date(day.replace(day=31))
    return of_date(day.replace(month=day.month + 1, day=1)) - 1


def _last_day_domain(call: Call, domains: Domains) -> Domain:
    moment = domains[0]
    if moment.type.kind not in MOMENTS:
        return result(call, domains, nullable=True)
    span = fitted(moment.interval, moment.type)
    if span.is_empty:
        return result(call, domains)
    ends = [_last_day(int(end), moment.type) for end in span.ends()]
    return result(call, domains, interval=interval(*ends), keys=mapped(lambda v: _last_day(v, moment.type), domains))


def _epoch_type(args: Args) -> Type:
    expect(args, 0, MOMENTS, AS_DATE)
    return BIGINT


def _epoch_domain(divisor: int) -> Callable[[Call, Domains], Domain]:
    def domain(call: Call, domains: Domains) -> Domain:
        if domains[0].type.kind not in MOMENTS:
            return result(call, domains, nullable=True)
        unit = DAY if domains[0].type == DATE else 1
        span = fitted(domains[0].interval, domains[0].type)
        ends = [int(end * unit) for end in span.ends()]
        return result(call, domains, interval=interval(ends[0] // divisor, -(-ends[1] // divisor)))

    return domain


FORMAT_PARTS = "YmdHMSyjaAbBp%"


def _format_check(args: Args, parts: str) -> str:
    format_ = text_constant(args, 1, "the format")
    rest = format_
    while "%" in rest:
        before, _, rest = rest.partition("%")
        if not rest[:1] or rest[0] not in parts:
            raise TypeProblem(f"the format has %{rest[:1]}", 1, f"Use the parts {' '.join('%' + p for p in parts)}.")
        rest = rest[1:]
    if not 0 < len(format_) <= 60 or not format_.isascii() or "\x00" in format_:
        raise TypeProblem("the format is empty, too long, or not ASCII", 1)
    return format_


def _strftime_type(args: Args) -> Type:
    expect(args, 0, MOMENTS, AS_DATE)
    _format_check(args, FORMAT_PARTS)
    return TEXT


def _strptime_type(args: Args) -> Type:
    expect(args, 0, (Kind.TEXT,))
    _format_check(args, "YmdHMS%")
    return TIMESTAMP


def _unknown(call: Call, domains: Domains) -> Domain:
    return result(call, domains[:1])


def _unknown_or_null(call: Call, domains: Domains) -> Domain:
    return result(call, domains[:1], nullable=True)


def _always(call: Call, domains: Domains) -> bool:
    return True


def _row(
    name: str,
    doc: str,
    signature: str,
    count: int,
    type_: Callable[[Args], Type],
    domain: Callable[[Call, Domains], Domain],
    raises: Callable[[Call, Domains], bool] = lambda call, domains: False,
    alike: tuple[int, ...] = (),
) -> Function:
    return Function(
        name=name,
        doc=doc,
        signature=signature,
        least=count,
        most=count,
        type=type_,
        domain=domain,
        raises=raises,
        alike=lambda _: (alike,) if alike else (),
    )


FUNCTIONS = (
    _row(
        "date_part",
        "One part of a date: year, quarter, month, week, day, hour, and others.",
        "EXTRACT(part FROM x), DATE_PART('part', x), YEAR(x), MONTH(x), …",
        2,
        _part_type,
        _part_domain,
    ),
    _row(
        "date_trunc",
        "The start of the year, month, week, day… x is in.",
        "DATE_TRUNC('part', x)",
        2,
        _trunc_type,
        _trunc_domain,
        _trunc_raises,
    ),
    _row(
        "date_diff",
        "The boundaries of a part between two moments.",
        "DATE_DIFF('part', start, end)",
        3,
        _diff_type,
        _diff_domain,
        alike=(1, 2),
    ),
    _row(
        "date_sub",
        "The full parts between two moments.",
        "DATE_SUB('part', start, end)",
        3,
        _diff_type,
        _diff_domain,
        alike=(1, 2),
    ),
    _row(
        "dayname",
        "The name of the day.",
        "DAYNAME(x)",
        1,
        _name_type,
        _day_domain(DAYS, lambda t: t.isoweekday() % 7),
    ),
    _row(
        "monthname",
        "The name of the month.",
        "MONTHNAME(x)",
        1,
        _name_type,
        _day_domain(MONTHS, lambda t: t.month - 1),
    ),
    _row("last_day", "The last day of the month x is in.", "LAST_DAY(x)", 1, _last_day_type, _last_day_domain),
    _row("epoch_ms", "Milliseconds since 1970.", "EPOCH_MS(x)", 1, _epoch_type, _epoch_domain(1000)),
    _row("epoch_us", "Microseconds since 1970.", "EPOCH_US(x)", 1, _epoch_type, _epoch_domain(1)),
    _row("strftime", "A date as text, by a constant format.", "STRFTIME(x, format)", 2, _strftime_type, _unknown),
    _row(
        "strptime",
        "Text as a timestamp, by a constant format; NULL where it does not fit.",
        "STRPTIME(x, format)",
        2,
        _strptime_type,
        _unknown,
        _always,
    ),
    _row(
        "try_strptime",
        "Text as a timestamp, by a constant format; NULL where it does not fit.",
        "TRY_STRPTIME(x, format)",
        2,
        _strptime_type,
        _unknown_or_null,
    ),
)
