"""Key sets through functions: a rule is applied to every key of a finite public set, in Python, where that is exact."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import product

from dpsql.domain.facts import KEY_LIMIT, Atom, Domain, key_set
from dpsql.errors import Span, SqlError
from dpsql.functions.function import Domains

RANGE_LIMIT = 2_000  # a range of whole numbers is listed up to here; beyond, its interval says as much
PAIRS_LIMIT = 100_000
WORK_LIMIT = 2_000_000  # of one statement; each takes about 1 µs
BINS_LIMIT = 1000  # of all histograms of one statement: a column each, in every step after the noise
PAIR_WEIGHT = 10  # a combination of several sets counts as so many: they are the analyst's, long lists the owner's

Known = dict[Hashable, tuple[Atom, ...] | None]


@dataclass(slots=True)
class _Work:
    """Of one statement: values gone through and bins so far, and what named rules have made of which sets."""

    values: int = 0
    bins: int = 0
    known: Known = field(default_factory=dict)


_counted: ContextVar[_Work | None] = ContextVar("counted", default=None)


@contextmanager
def counted() -> Iterator[None]:
    """While one statement is planned: at most WORK_LIMIT values of key sets are gone through."""
    token = _counted.set(_Work())
    try:
        yield
    finally:
        _counted.reset(token)


def _count(values: int) -> None:
    work = _counted.get()
    if work is None:
        return
    work.values += values
    if work.values > WORK_LIMIT:
        raise SqlError(
            f"the query needs more than {WORK_LIMIT:,} public keys to be computed",
            code=138,
            why="An expression over a column with public keys is computed key by key, before the query runs.",
            fix="Use fewer expressions over columns with long lists or wide ranges of keys.",
        )


def count_bins(bins: int, at: Span | None) -> None:
    """One histogram more, in the statement that is planned."""
    work = _counted.get()
    if work is None:
        return
    work.bins += bins
    if work.bins > BINS_LIMIT:
        raise SqlError(
            f"the query has more than {BINS_LIMIT:,} bins",
            code=138,
            at=at,
            why="Each bin of a histogram is a number of its own, before the noise and after it.",
            fix="Ask for fewer bins, or for one histogram in a query.",
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


def mapped(
    rule: Callable[..., Atom], domains: Domains, *, nulls: bool = False, name: Hashable = None
) -> tuple[Atom, ...] | None:
    """The values of rule over all combinations; a NULL argument gives NULL unless the rule takes nulls itself.

    name: what says all of an exact rule (of reals none is: 0 and -0 are equal, and are not the same); under it one
    statement works the same sets out once, however often it is inferred.
    """
    sets: list[tuple[Atom, ...]] = []
    for values in map(listed, domains):
        if values is None:
            return None
        sets.append(values)
    work = _counted.get()
    if work is None or name is None:
        return _over(rule, sets, nulls)
    place = (name, *sets)
    if place not in work.known:
        work.known[place] = _over(rule, sets, nulls)
    return work.known[place]


def _over(rule: Callable[..., Atom], sets: list[tuple[Atom, ...]], nulls: bool) -> tuple[Atom, ...] | None:
    size = math.prod(map(len, sets))
    if size > (KEY_LIMIT if len(sets) == 1 else PAIRS_LIMIT):
        return None
    _count(size * (PAIR_WEIGHT if sum(len(values) > 1 for values in sets) > 1 else 1))
    images: dict[Atom, None] = {}
    try:
        for row in product(*sets):
            images[None if not nulls and None in row else rule(*row)] = None
    except (Inexact, OverflowError, ZeroDivisionError, ValueError):
        return None
    return tuple(images)


def either(*domains: Domain) -> tuple[Atom, ...] | None:
    """The union of key sets, None if one is unknown."""
    atoms: dict[Atom, None] = {}
    for domain in domains:
        values = listed(domain)
        if values is None or len(atoms) + len(values) > KEY_LIMIT:
            return None
        _count(len(values))
        atoms.update(dict.fromkeys(values))
    return tuple(atoms)


def without_null(keys: tuple[Atom, ...] | None, nullable: bool) -> tuple[Atom, ...] | None:
    """NULL is among inferred keys exactly when the expression may be NULL."""
    if keys is None:
        return None
    rest = tuple(key for key in keys if key is not None)
    return (*rest, None) if nullable else rest
