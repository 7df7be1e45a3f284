"""Row factories: what a fetched row is. `connection.cursor(row_factory=dict_row)`, or for a whole connection.

A factory is called with the cursor once a result and answers with the function that makes each row of it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dpsql.errors import InterfaceError

if TYPE_CHECKING:
    # Only a type checker needs to know that a cursor's rows are tuples unless said otherwise.
    from typing_extensions import TypeVar

    TupleRow = tuple[Any, ...]
    Row = TypeVar("Row", default=TupleRow, covariant=True)
    T = TypeVar("T")
else:
    from typing import TypeVar

    TupleRow = tuple[Any, ...]
    Row = TypeVar("Row", covariant=True)
    T = TypeVar("T")

DictRow = dict[str, Any]
Description = list[tuple[str, str, None, None, int | None, int | None, None]]


class Described(Protocol):
    """What a factory may look at."""

    @property
    def description(self) -> Description | None: ...


RowMaker = Callable[[Sequence[Any]], T]
RowFactory = Callable[[Described], RowMaker[T]]


def tuple_row(cursor: Described) -> RowMaker[TupleRow]:
    """Plain tuples: the default."""
    return tuple


def dict_row(cursor: Described) -> RowMaker[DictRow]:
    """Dicts by column name; of two columns with one name the later one counts."""
    names = names_of(cursor)
    return lambda values: dict(zip(names, values, strict=True))


def namedtuple_row(cursor: Described) -> RowMaker[NamedTuple]:
    """Named tuples; a column whose name is no Python name, or comes twice, is reached as _0, _1, … by its position."""
    made = namedtuple("Row", names_of(cursor), rename=True)  # type: ignore[misc]  # the names are known at run time
    return made._make


def class_row(cls: Callable[..., T]) -> RowFactory[T]:
    """Objects of a class (a dataclass, say), its arguments named like the columns."""

    def factory(cursor: Described) -> RowMaker[T]:
        names = names_of(cursor)
        return lambda values: cls(**dict(zip(names, values, strict=True)))

    return factory


def scalar_row(cursor: Described) -> RowMaker[Any]:
    """The first column's values alone."""
    return lambda values: values[0]


def names_of(cursor: Described) -> list[str]:
    if cursor.description is None:
        raise InterfaceError("there are no rows to make", code=602, fix="Execute a query first.")
    return [column[0] for column in cursor.description]
