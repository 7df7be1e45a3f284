"""Ids of columns, unique in one statement: no pass can confuse two columns of one name."""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.domain.types import Type
from dpsql.ir.nodes import Field


@dataclass(slots=True)
class Ids:
    """Column ids, unique in one statement."""

    last: int = 0

    def new(self) -> int:
        self.last += 1
        return self.last

    def field(self, name: str, type_: Type) -> Field:
        return Field(self.new(), name, type_)
