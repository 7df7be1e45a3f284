"""Bases of what holds private rows, or a way to them: it shows nothing of itself, and nothing makes a copy of it."""

from __future__ import annotations

from types import TracebackType
from typing import NoReturn, Protocol, Self, SupportsIndex

from dpsql.errors import InterfaceError


class Sealed:
    """No repr, no pickle, no copy: of a traceback that prints locals, a log line, a debugger's list."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<dpsql {type(self).__name__.lower()}>"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise InterfaceError(
            f"a dpsql {type(self).__name__.lower()} cannot be pickled or copied",
            code=609,
            why="It holds private rows, or gives access to them.",
        )


class Closing(Protocol):
    """What `with` closes."""

    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
