"""Key sets of expressions: the values of an expression on all values of what it is made of.

Nothing is reckoned here: DuckDB answers each question (execution/key_values.py), in the form that the vault runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from dpsql.domain.facts import KEY_LIMIT, Atom, Domain, Keys, Later, Values, changed, key_set, known, with_null
from dpsql.domain.types import Kind
from dpsql.errors import Span, SqlError
from dpsql.functions.function import Domains
from dpsql.ir.expr import Call, Column, Expr, Literal, rewrite, walk

RANGE_LIMIT = 2_000  # a range of whole numbers is listed up to here; beyond, its interval says as much
PAIRS_LIMIT = 100_000
WORK_LIMIT = 20_000_000  # calls of functions, of one statement; each takes less than 0.1 µs
BINS_LIMIT = 1000  # of all histograms of one statement: a column each, in every step after the noise


@dataclass(frozen=True, slots=True)
class KeyQuestion:
    """Which values has the expression, where its column i has those of sets[i], in all combinations?"""

    expr: Expr
    sets: tuple[Values, ...]

    @property
    def is_exact(self) -> bool:
        """Whether an equal question is the same: not of reals, where 0.0 and -0.0 are equal."""
        return not any(isinstance(part, Column) and part.type.kind is Kind.REAL for part in walk(self.expr))


Answer = Callable[[KeyQuestion], Values | None]


def no_answer(question: KeyQuestion) -> Values | None:
    """Of whoever cannot compute: the set is not public."""
    return None


@dataclass(slots=True)
class _Work:
    """Of one statement: who answers, and what was asked so far: calls of functions, and bins."""

    answer: Answer
    known: dict[KeyQuestion, Values | None] = field(default_factory=dict)
    calls: int = 0
    bins: int = 0


_work: ContextVar[_Work | None] = ContextVar("work", default=None)


@contextmanager
def counted(answer: Answer) -> Iterator[None]:
    """While one statement is planned: at most WORK_LIMIT calls are computed for its key sets."""
    token = _work.set(_Work(answer))
    try:
        yield
    finally:
        _work.reset(token)


def _count(calls: int) -> None:
    work = _work.get()
    if work is None:
        return
    work.calls += calls
    if work.calls > WORK_LIMIT:
        raise SqlError(
            f"computing the query's public keys takes more than {WORK_LIMIT:,} calls of functions",
            code=138,
            why="An expression over a column with public keys is computed for each of them, before the query runs.",
            fix="Use fewer expressions over columns with long lists or wide ranges of keys.",
        )


def count_bins(bins: int, at: Span | None) -> None:
    """One histogram more, in the statement that is planned."""
    work = _work.get()
    if work is None:
        return
    work.bins += bins
    if work.bins > BINS_LIMIT:
        raise SqlError(
            f"the query has more than {BINS_LIMIT:,} bins",
            code=138,
            at=at,
            why="Each bin of a histogram is a separate number, before and after the noise.",
            fix="Ask for fewer bins, or for one histogram in a query.",
        )


def listed(domain: Domain) -> Keys | None:
    """The values of a domain if they are few and public."""
    if domain.keys is not None:
        return domain.keys
    if domain.type.kind is Kind.BOOLEAN:
        return key_set(domain)
    if not domain.is_integral or not domain.interval.is_finite:
        return None
    low, high = domain.interval.ends()
    return _all(domain) if high - low <= RANGE_LIMIT else None


def _all(domain: Domain) -> Later:
    return Later(lambda: key_set(domain))


Leaves = Mapping[object, tuple[Expr, Keys]]  # the parts of a call that have sets of their own, by `_name`


class Image(Later):
    """The values of a call, on all combinations of its leaves' values."""

    __slots__ = ("leaves",)

    def __init__(self, call: Call, leaves: Leaves, nullable: bool, otherwise: Keys | None) -> None:
        super().__init__(lambda: _image(call, leaves, nullable, otherwise))
        self.leaves = leaves

    @property
    def columns(self) -> list[Expr]:
        return [leaf for leaf, _ in self.leaves.values() if isinstance(leaf, Column)]


def _name(leaf: Expr) -> object:
    """A column is the same wherever it stands; any other part is itself."""
    return leaf if isinstance(leaf, Column) else id(leaf)


def image(call: Call, domains: Domains, *, nullable: bool, otherwise: Keys | None = None) -> Keys | None:
    """The key set of a call, from those of its arguments; `otherwise` where one has none, or there are too many
    combinations. NULL is among them if the call may be NULL.

    A call in a call is computed with it, so that year(d) * 100 + month(d) has one value for each d; unless none of its
    columns is in another argument, or that would be too many: then its values alone are combined with theirs."""
    parts = [(arg, domain) for arg, domain in zip(call.args, domains, strict=True) if not isinstance(arg, Literal)]
    uses = Counter(column for arg, domain in parts for column in _columns(arg, domain))
    leaves: dict[object, tuple[Expr, Keys]] = {}
    apart: dict[object, tuple[Expr, Keys]] = {}
    for arg, domain in parts:
        keys = listed(domain)
        if keys is None:
            return otherwise
        apart[_name(arg)] = arg, changed(_all(domain), with_null) if domain.nullable else _all(domain)
        shared = len(parts) == 1 or any(uses[column] > 1 for column in _columns(arg, domain))
        if isinstance(arg, Call) and isinstance(keys, Image) and shared:
            leaves.update(keys.leaves)
        else:
            leaves[_name(arg)] = apart[_name(arg)]
    if leaves.keys() != apart.keys():
        otherwise = Image(call, apart, nullable, otherwise)
    return Image(call, leaves, nullable, otherwise)


def _columns(arg: Expr, domain: Domain) -> list[Expr]:
    if isinstance(arg, Call):
        return domain.keys.columns if isinstance(domain.keys, Image) else []
    return [arg]


def _image(call: Call, leaves: Leaves, nullable: bool, otherwise: Keys | None) -> Values | None:
    values = _answer(call, leaves)
    if values is None:
        return known(otherwise)
    return with_null(values) if nullable else values


def _answer(call: Call, leaves: Leaves) -> Values | None:
    """None where a set is not known, or there are too many combinations."""
    work = _work.get()
    columns: dict[object, Column] = {}
    sets: list[Values] = []
    for name, (leaf, keys) in leaves.items():
        values = known(keys)
        if values is None:
            return None
        columns[name] = Column(len(sets), leaf.type)
        sets.append(values)
    size = math.prod(map(len, sets))
    if work is None or size > (KEY_LIMIT if len(sets) == 1 else PAIRS_LIMIT):
        return None
    expr = rewrite(call, lambda part: columns.get(_name(part)))
    question = KeyQuestion(expr, tuple(sets))
    if question.is_exact and question in work.known:
        return work.known[question]
    _count(size * sum(isinstance(part, Call) for part in walk(expr)))
    work.known[question] = work.answer(question)
    return work.known[question]


def union(parts: Iterable[Keys | None]) -> Keys | None:
    """The keys of all, each once; None where there are too many, or those of one are not public."""
    sets = tuple(parts)
    if any(keys is None for keys in sets):
        return None

    def work() -> Values | None:
        atoms: dict[Atom, None] = {}
        for values in map(known, sets):
            if values is None or len(atoms) + len(values) > KEY_LIMIT:
                return None
            _count(len(values))
            atoms.update(dict.fromkeys(values))
        return tuple(atoms)

    return sets[0] if len(sets) == 1 else Later(work)
