"""Group keys, and pandas' frequencies among them: resample("ME", on="day") and Grouper(key="day", freq="W")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words

if TYPE_CHECKING:
    from dpsql.frames.relation import Relation

_DAY = "CAST({} AS DATE)"
_WEEK_END = "(CAST({} AS DATE) + 6)"
_QUARTER_END = "LAST_DAY(CAST(CAST({} AS DATE) + INTERVAL 2 MONTH AS DATE))"
_YEAR_END = "LAST_DAY(CAST(CAST({} AS DATE) + INTERVAL 11 MONTH AS DATE))"
# by pandas' name, also its older ones: the part a moment is cut to, and how the group is called then
FREQUENCIES: dict[str, tuple[str, str]] = {
    "D": ("day", _DAY),
    **dict.fromkeys(("W", "W-SUN"), ("week", _WEEK_END)),
    **dict.fromkeys(("ME", "M"), ("month", "LAST_DAY({})")),
    "MS": ("month", _DAY),
    **dict.fromkeys(("QE", "Q", "QE-DEC"), ("quarter", _QUARTER_END)),
    **dict.fromkeys(("QS", "QS-JAN", "QS-OCT"), ("quarter", _DAY)),
    **dict.fromkeys(("YE", "Y", "A", "YE-DEC"), ("year", _YEAR_END)),
    **dict.fromkeys(("YS", "AS", "YS-JAN"), ("year", _DAY)),
    **dict.fromkeys(("h", "H"), ("hour", "{}")),
    **dict.fromkeys(("min", "T"), ("minute", "{}")),
    **dict.fromkeys(("s", "S"), ("second", "{}")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """sql: of each row. label: what a released key is shown as, {} being its column. given: SQL that the user wrote."""

    sql: str
    name: str
    label: str = "{}"
    given: bool = False

    @property
    def shown(self) -> str:
        return self.label.format(words.name(self.name))


def period(column: str, freq: object) -> Key:
    """The periods that a date column's values are in, called as pandas calls them."""
    code = freq if isinstance(freq, str) else getattr(freq, "freqstr", None)
    if code not in FREQUENCIES:
        raise InterfaceError(
            f"there is no frequency {code!r}",
            code=608,
            why="" if code is None else "Multiples such as 2W have none; a bin must be a period of the calendar.",
            fix=f"Choose one of {', '.join(FREQUENCIES)}.",
        )
    part, label = FREQUENCIES[code]
    return Key(sql=f"DATE_TRUNC('{part}', {words.name(column)})", name=column, label=label)


def grouper_key(grouper: object, relation: Relation) -> Key | None:
    """A pandas.Grouper's key; None where it is something else."""
    if type(grouper).__module__.partition(".")[0] != "pandas" or not hasattr(grouper, "freq"):
        return None
    column = getattr(grouper, "key", None)
    if not isinstance(column, str):
        raise InterfaceError(
            "the Grouper names no column", code=608, fix='Write pandas.Grouper(key="visited_on", freq="ME").'
        )
    relation.check((column,))
    return Key(sql=words.name(column), name=column) if grouper.freq is None else period(column, grouper.freq)
