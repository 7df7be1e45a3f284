"""What crosses processes, as JSON: cells of any type, errors, and the privacy report. Nothing is pickled.

What JSON has is itself; anything else is an object with one key, its tag: {"decimal": "1.5"}, {"date": "2026-01-01"}.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import decimal
import json
import math
import uuid
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from dpsql import errors
from dpsql.errors import CatalogError, Error, InterfaceError, Span
from dpsql.report.plan_report import LimitReport, MeasurementReport
from dpsql.report.privacy import CostReport, Intervals, OverLimitReport, Privacy, Reckoned, row_key

Tree = Any
MOST_DEPTH = 64
PLAIN = (type(None), bool, int, float, str, Fraction)


def to_tree(value: object) -> Tree:
    """A cell or a parameter as JSON."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"real": repr(value)}
        case decimal.Decimal():
            return {"decimal": str(value)}
        case Fraction():
            return {"fraction": str(value)}
        case dt.datetime():
            return {"timestamp": value.isoformat()}
        case dt.date():
            return {"date": value.isoformat()}
        case dt.time():
            return {"time": value.isoformat()}
        case dt.timedelta():
            return {"interval": [value.days, value.seconds, value.microseconds]}
        case bytes() | bytearray():
            return {"bytes": base64.b64encode(value).decode("ascii")}
        case uuid.UUID():
            return {"uuid": str(value)}
        case list():
            return [to_tree(one) for one in value]
        case tuple():
            return {"tuple": [to_tree(one) for one in value]}
        case dict():
            return {"map": [[to_tree(key), to_tree(inner)] for key, inner in value.items()]}
        case _:
            raise InterfaceError(f"a {type(value).__name__} cannot be sent to a server", code=703)


def of_tree(tree: Tree, depth: int = 0) -> Any:
    """The value again; InterfaceError 703 for what to_tree does not write."""
    if depth > MOST_DEPTH:
        raise malformed("values are nested too deeply")
    if isinstance(tree, list):
        return [of_tree(one, depth + 1) for one in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) != 1:
        raise malformed("a value has not one tag")
    ((tag, inner),) = tree.items()
    if tag not in _TAGS:
        raise malformed(f"there is no tag {tag[:20]!r}")
    try:
        return _TAGS[tag](inner, depth + 1)
    except (ValueError, TypeError, ArithmeticError, LookupError):
        raise malformed(f"this is not the value of a {tag}") from None


def _map(tree: Tree, depth: int) -> dict[Any, Any]:
    return {of_tree(key, depth): of_tree(inner, depth) for key, inner in tree}


def _text(make: Callable[[str], object]) -> Callable[[Tree, int], object]:
    def read(tree: Tree, depth: int) -> object:
        if not isinstance(tree, str) or len(tree) > 1 << 20:
            raise ValueError("not a text")
        return make(tree)

    return read


_TAGS: Mapping[str, Callable[[Tree, int], object]] = {
    "real": _text(float),
    "decimal": _text(decimal.Decimal),
    "fraction": _text(Fraction),
    "timestamp": _text(dt.datetime.fromisoformat),
    "date": _text(dt.date.fromisoformat),
    "time": _text(dt.time.fromisoformat),
    "interval": lambda tree, depth: dt.timedelta(days=tree[0], seconds=tree[1], microseconds=tree[2]),
    "bytes": _text(lambda text: base64.b64decode(text, validate=True)),
    "uuid": _text(uuid.UUID),
    "tuple": lambda tree, depth: tuple(of_tree(one, depth) for one in tree),
    "map": _map,
}


def malformed(what: str) -> InterfaceError:
    return InterfaceError(what, code=703, fix="See `dpsql help server` for what a request looks like.")


def read_json(text: bytes) -> Tree:
    """InterfaceError 703 for what is not JSON. A deep nest is a RecursionError, of C or of Python."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise malformed("this is not JSON") from None


def _no_constant(name: str) -> object:
    raise ValueError(name)


def error_tree(error: Error) -> dict[str, Tree]:
    """Code and sentences; of its class the name."""
    return {
        "code": error.code,
        "kind": next(one.__name__ for one in type(error).__mro__ if one.__module__ == errors.__name__),
        "what": "\n  ".join(str(error).split("\n")[0:1] + [str(p) for p in error.problems])[11:]
        if isinstance(error, CatalogError)
        else error.what,
        "why": error.why,
        "fix": error.fix,
        "at": None if error.at is None else [error.at.start, error.at.end],
        "statement": error.text,
        "message": str(error),
    }


def error_of(tree: Mapping[str, Tree]) -> Error:
    """The error again, of the class it had; an InterfaceError of 703 where it is none of ours."""
    kind = getattr(errors, str(tree.get("kind")), None)
    code = str(tree.get("code", ""))
    if not (isinstance(kind, type) and issubclass(kind, Error)) or not code.startswith("DPSQL-"):
        return malformed("the answer is not an error of dpsql")
    if issubclass(kind, CatalogError):
        kind = errors.ProgrammingError
    at = tree.get("at")
    span = Span(int(at[0]), int(at[1])) if isinstance(at, list) and len(at) == 2 else None
    number = int(code.removeprefix("DPSQL-"))
    made = kind(str(tree.get("what")), code=number, at=span, why=str(tree.get("why")), fix=str(tree.get("fix")))
    statement = tree.get("statement")
    return made if statement is None else made.in_text(str(statement))


# --- the privacy report


def cost_tree(cost: CostReport) -> dict[str, Tree]:
    return cost.to_dict()


def cost_of(tree: Mapping[str, Tree]) -> CostReport:
    return CostReport(**{name: tree[name] for name in ("epsilon", "delta", "rho", "delta_keys")})


def privacy_tree(privacy: Privacy, rows: list[tuple[object, ...]]) -> dict[str, Tree]:
    """Everything of the report; intervals: the widest half-width of each column, and each row's own."""
    widest = dict(privacy.intervals)
    return {
        "cost": cost_tree(privacy.cost),
        "unit": privacy.unit,
        "dataset": privacy.dataset,
        "limits": [_fields(one) for one in privacy.limits],
        "over_limits": [_fields(one) for one in privacy.over_limits],
        "measurements": [_fields(one) for one in privacy.measurements],
        "threshold": privacy.threshold,
        "repeated": privacy.repeated,
        "exact": privacy.exact,
        "notes": list(privacy.notes),
        "intervals": {name: to_tree(half) for name, half in widest.items()},
        "intervals_of_rows": [_halves(privacy, row) for row in rows] if widest else [],
        "text": str(privacy),
    }


def _halves(privacy: Privacy, row: tuple[object, ...]) -> dict[str, Tree]:
    return {name: to_tree(half) for name, half in privacy.intervals.of_row(row).items()}


def _fields(value: Any) -> dict[str, Tree]:
    """The plain ones; what only the planner needs stays behind."""
    held = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    return {name: to_tree(one) for name, one in held.items() if isinstance(one, PLAIN)}


def privacy_of(tree: Mapping[str, Tree], rows: list[tuple[object, ...]]) -> Privacy:
    """The report again."""
    widest = {name: float(of_tree(half)) for name, half in tree["intervals"].items()}
    of_rows = [{name: float(of_tree(half)) for name, half in one.items()} for one in tree["intervals_of_rows"]]
    keyed = {row_key(row): halves for row, halves in zip(rows, of_rows, strict=False)}
    none: Any = None
    return Privacy(
        cost=cost_of(tree["cost"]),
        unit=tree["unit"],
        dataset=tree["dataset"],
        limits=tuple(LimitReport(**_values(one), choice=none) for one in tree["limits"]),
        over_limits=tuple(OverLimitReport(**_values(one)) for one in tree["over_limits"]),
        measurements=tuple(MeasurementReport(**_values(one)) for one in tree["measurements"]),
        threshold=tree["threshold"],
        intervals=Intervals({}, lambda: Reckoned(widest=widest, rows=keyed)) if widest else Intervals({}),
        repeated=tree["repeated"],
        exact=tree["exact"],
        notes=tuple(tree["notes"]),
    )


def _values(tree: Mapping[str, Tree]) -> dict[str, Any]:
    return {name: of_tree(value) for name, value in tree.items()}
