"""Errors as PostgreSQL's clients know them: SQLSTATE, and the fields of a message."""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.errors import Error

STATES = {
    100: "42601",
    101: "42P01",
    102: "42703",
    104: "42702",
    105: "42804",
    106: "42P07",
    107: "42883",
    109: "42P02",
    400: "53400",
    401: "53400",
    402: "53400",
    403: "42501",
    405: "53400",
    500: "58000",
    502: "22000",
    503: "57014",
    504: "53200",
    506: "57014",
    700: "28P01",
    701: "42501",
    702: "53300",
    703: "08P01",
    704: "57P01",
    706: "28000",
}
IN_FAILED = {
    "C": "25P02",
    "M": "the transaction failed: statements are ignored until ROLLBACK",
    "H": "Nothing that was charged is given back.",
}


def fields(error: Error) -> Mapping[str, str]:
    """Of an error: the code in its message, why, what to do, and the place in the statement."""
    place = {} if error.at is None else {"P": str(error.at.start + 1)}
    first = f"{error.code}: {error.what}"
    return {"C": state_of(error), "M": first, "D": error.why, "H": error.fix, **place}


def state_of(error: Error) -> str:
    number = error.number
    if number in STATES:
        return STATES[number]
    return "0A000" if 100 <= number < 200 else "58030" if 300 <= number < 500 else "XX000"
