"""Key sets through functions: a rule is applied to every key of a finite public set, in Python, where that is exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import product

from dpsql.domain.facts import KEY_LIMIT, Atom, Domain, key_set
from dpsql.errors import SqlError
from dpsql.sql.functions.model import Domains

RANGE_LIMIT = 2_000  # a range of whole numbers is listed up to here; beyond, its interval says as much
PAIRS_LIMIT = 100_000
WORK_LIMIT = 2_000_000  # of one statement; each takes 1 to 5 µs


_counted: ContextVar[list[int] | None] = ContextVar("counted", default=None)


@contextmanager
def counted() -> Iterator[None]:
    """While one statement is planned: at most WORK_LIMIT values of key sets are gone through."""
    token = _counted.set([0])
    try:
        yield
    finally:
        _counted.reset(token)


def _count(values: int) -> None:
    so_far = _counted.get()
    if so_far is None:
        return
    so_far[0] += values
    if so_far[0] > WORK_LIMIT:
        raise SqlError(
            f"the query needs more than {WORK_LIMIT:,} public keys to be worked out",
            code=138,
            why="What an expression makes of a column with public keys is worked out key by key, before the query runs.",
            fix="Use fewer expressions over columns with long lists or wide ranges of keys.",
        )


class Inexact(Exception):
    """The Python rule cannot vouch for DuckDB's answer on this value; the key set becomes unknown."""


def listed(domain: Domain) -> tuple[Atom, ...] | None:
    """The values of a domain if they are few and public."""
    if domain.keys is not None:
        return domain.keys
    if not domain.is_integral or not domain.interval.is_finite:
        return key_set(domain) if domain.interval.is_finite or domain.type.sql == "BOOLEAN" else None
    low, high = domain.interval.ends()
    return key_set(domain) if high - low <= RANGE_LIMIT else None


def mapped(rule: Callable[..., Atom], domains: Domains, *, nulls: bool = False) -> tuple[Atom, ...] | None:
    """The values of rule over all combinations; a NULL argument gives NULL unless the rule takes nulls itself."""
    sets = [listed(domain) for domain in domains]
    size = 1
    for values in sets:
        if values is None:
            return None
        size *= len(values)
    if size > (KEY_LIMIT if len(sets) == 1 else PAIRS_LIMIT):
        return None
    _count(size)
    found: dict[Atom, None] = {}
    try:
        for row in product(*(values for values in sets if values is not None)):
            found[None if not nulls and None in row else rule(*row)] = None
    except (Inexact, OverflowError, ZeroDivisionError, ValueError):
        return None
    return tuple(found)


def either(*domains: Domain) -> tuple[Atom, ...] | None:
    """The union of key sets, None if one is unknown."""
    found: dict[Atom, None] = {}
    for domain in domains:
        values = listed(domain)
        if values is None or len(found) + len(values) > KEY_LIMIT:
            return None
        _count(len(values))
        found.update(dict.fromkeys(values))
    return tuple(found)


def without_null(keys: tuple[Atom, ...] | None, nullable: bool) -> tuple[Atom, ...] | None:
    """NULL is among inferred keys exactly when the expression may be NULL."""
    if keys is None:
        return None
    rest = tuple(key for key in keys if key is not None)
    return (*rest, None) if nullable else rest
