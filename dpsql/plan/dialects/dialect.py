"""What the printers of the vault's statements ask of an engine's SQL: names, constants, types, and the few forms that
engines write in different ways. A dialect is text about SQL: no engine is imported here.

Every form is total: no stored value makes it raise. Every form means the same on every engine, to the bit; what an engine
cannot do that way is refused at planning (`refusal`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import ClassVar, Protocol

from dpsql.catalog.model import ColumnSpec, TableSpec
from dpsql.domain.types import BIGINT, TEXT, Kind, Type
from dpsql.ir.expr import Column, Expr, Literal
from dpsql.ir.nodes import Aggregate, Node
from dpsql.plan.measurements import Axis
from dpsql.plan.transport import is_text
from dpsql.plan.vault_query import Step

ColumnPrinter = Callable[[Column], str]


class Levels(Protocol):
    """What the items of one SELECT share."""

    def over(self, source: str) -> str:
        """What the items are selected from: source, a relation with the alias t, with columns that the items name."""


class NoLevels:
    def over(self, source: str) -> str:
        return source


@contextmanager
def no_levels() -> Iterator[Levels]:
    yield NoLevels()


class Dialect(ABC):
    """One engine's SQL."""

    name: ClassVar[str]  # as messages call it
    sorts: ClassVar[bool] = False  # whether what a unit has is better counted as it is sorted, than by a join
    # whether a unit's rows in a group are better added up before they are weighed, and nothing is read in two places
    adds_first: ClassVar[bool] = False
    # where rows have a largest size: how many characters a stored text has at most, and all together that are made of one
    # row; each has up to four bytes
    longest_text: ClassVar[int] = 2**20
    text_room: ClassVar[int | None] = None

    # --- names, constants, types ---

    @abstractmethod
    def identifier(self, name: str) -> str:
        """A quoted name."""

    @abstractmethod
    def text(self, value: str) -> str:
        """A text constant."""

    @abstractmethod
    def real(self, value: float) -> str:
        """A DOUBLE constant, to the bit."""

    @abstractmethod
    def integer(self, value: int) -> str:
        """A whole number: a 64-bit one where it fits, else a wide one."""

    @abstractmethod
    def literal(self, constant: Literal) -> str:
        """A constant of its type."""

    @abstractmethod
    def type(self, type_: Type) -> str:
        """A type's name."""

    # --- expressions ---

    @abstractmethod
    def render(self, expr: Expr, column: ColumnPrinter) -> str:
        """The expression in its total form; `column` prints a column."""

    @abstractmethod
    def refusal(self, expr: Expr) -> str | None:
        """Why this engine has no form of the expression (its outermost call) that is total and means the same, and how else
        to write it; None where it has one."""

    def refusal_of(self, node: Node) -> str | None:
        """The same of a relation as a whole."""
        return None

    def aggregated(self, node: Aggregate) -> Aggregate:
        """The same relation, of calls that the engine has."""
        return node

    # --- stored columns ---

    @abstractmethod
    def read(self, column: str, actual: str, declared: ColumnSpec, spec: TableSpec, *, is_unit: bool) -> str:
        """A stored column, of the engine's type `actual`, as its declared type: NULL where the value has none. Of units
        injective. SourceError (307) for a type that cannot be read."""

    @abstractmethod
    def loaded(self, value: str, type_: Type) -> str:
        """A column of a loaded public table as its type: NULL where the value is none."""

    @abstractmethod
    def is_number(self, value: str) -> str:
        """Whether a real is neither NULL nor NaN: never NULL."""

    @abstractmethod
    def is_moment(self, value: str) -> str:
        """Whether a date or timestamp is neither NULL nor infinite."""

    @abstractmethod
    def positive_zero(self, value: str) -> str:
        """The real, +0.0 for −0.0."""

    # --- places on axes (plan/render/pieces.py) ---

    @abstractmethod
    def placed_real(self, x: str, axis: Axis) -> str:
        """A real's place on its axis: a BIGINT from low to high, NULL of NaN and NULL. Half to even."""

    @abstractmethod
    def scaled(self, x: str, axis: Axis) -> str:
        """A value of an exact type as an integer of the axis' step, wherever that is; NULL where it has none in 64 bits."""

    @abstractmethod
    def end(self, axis: Axis) -> str:
        """The axis' low end in the argument's own type."""

    # --- group keys (plan/render/keys.py) ---

    @abstractmethod
    def travelled(self, value: str, type_: Type) -> str:
        """A key in the form it travels in (plan/transport.py): a BIGINT or text."""

    @abstractmethod
    def whole_number(self, value: str, type_: Type) -> str:
        """A key as a number that can be compared with whole numbers: a date in days since 1970, other types rounded to
        64 bits; NULL where they do not fit."""

    @abstractmethod
    def same(self, left: str, right: str, type_: Type) -> str:
        """Equal or both NULL, of two BIGINTs or texts, in a form that joins by hash. type_: BIGINT or TEXT."""

    # --- whole numbers ---

    @abstractmethod
    def wide(self, x: str) -> str:
        """A whole number in a type that holds 2^126."""

    @abstractmethod
    def narrow(self, x: str) -> str:
        """A whole number that is known to fit 64 bits, as BIGINT."""

    @abstractmethod
    def sum(self, x: str, *, most: int | None = None, where: str | None = None) -> str:
        """The sum of whole numbers (where that is true), of which no total is beyond 2^126, as a wide number. most: x is a
        BIGINT of at most that size, which an engine may add up in another way."""

    def parts(self, x: str, most: int) -> Sequence[tuple[str, int, int]]:
        """A BIGINT within ±most in parts that are added up apart: each an aggregate that is a BIGINT, what it is multiplied
        by, and the most that one number's part is in size. Empty where that is no gain."""
        return ()

    @abstractmethod
    def quotient(self, dividend: str, divisor: str, *, wide: bool = False) -> str:
        """Of whole numbers, the dividend ≥ 0, the divisor > 0: rounded down. wide: one of them is; what is above 2^62 may be
        2^62."""

    @abstractmethod
    def remainder(self, dividend: str, divisor: str) -> str:
        """Of BIGINTs ≥ 0 and > 0."""

    @abstractmethod
    def halved(self, x: str, shift: int) -> str:
        """A wide number within ±2^125, divided by 2^shift and rounded half up, as BIGINT."""

    @abstractmethod
    def double(self, x: str) -> str:
        """A whole number as DOUBLE."""

    @abstractmethod
    def wide_of_double(self, x: str) -> str:
        """A DOUBLE of a whole number from 0 to 2^53 as a wide number."""

    # --- relations ---

    @abstractmethod
    def statement(self, steps: Sequence[Step], select: str) -> str:
        """One statement of steps and a last SELECT."""

    @abstractmethod
    def semi_join(self, left: str, right: str, on: str) -> str:
        """What follows FROM: the rows of left (with its alias) that meet a row of right."""

    @abstractmethod
    def anti_join(self, right: str, on: str) -> tuple[str, str]:
        """For a row source: a clause after FROM, or a test in WHERE, that keeps rows which meet none of right's."""

    @abstractmethod
    def any_of_one(self, column: str) -> str:
        """An aggregate: of one row its value, NULL if it is NULL."""

    def different(self, columns: str, source: str) -> str:
        """SELECT of the different rows of the source, by these columns."""
        return f"SELECT DISTINCT {columns} FROM {source}"

    def by_unit(self, source: str, most: int, unit: str = "u") -> str:
        """What follows FROM: the rows of a relation, which are grouped by its column `unit` and more next. most: rows of a
        unit that count, which says how many it may be expected to have."""
        return source

    # --- evaluating once (results are the same with or without) ---

    def levels(self) -> AbstractContextManager[Levels]:
        """Around the printing of one SELECT's items, all over one relation: what several of them say may become a column of
        that relation. No other relation is printed meanwhile."""
        return no_levels()

    def once(self, select: str) -> str:
        """A SELECT whose items are evaluated once for each row, however often the SELECT around it says them."""
        return select

    def dear(self, select: str) -> bool:
        """Whether rows that are read twice are better stored than evaluated twice."""
        return False

    # --- what follows from these ---

    def placed(self, x: str, z: str, axis: Axis) -> str:
        """The place of x, a value of an exact type, on its axis: z, its `scaled`, where that is between the ends; else the
        end beyond which x lies.

        Lemma: it is NULL or an integer from low to high. Proof: by the first three branches; the last is reached only where
        x is NULL, and z, which is made of x by functions that are NULL of NULL (`scaled`), is NULL then. (It says z, not
        NULL: a constant NULL would have DuckDB forget what it knows of z.)
        """
        low, high = self.integer(axis.low), self.integer(axis.high)
        return (
            f"CASE WHEN {z} BETWEEN {low} AND {high} THEN {z} "
            f"WHEN {x} < {self.end(axis)} THEN {self.bigint(low)} WHEN {x} IS NOT NULL THEN {self.bigint(high)} "
            f"ELSE {z} END"
        )

    def kept_real(self, value: str, low: str | None, high: str | None) -> str:
        """Clamped to the bounds that there are; NULL of NaN, which is above every number on all engines; no −0.0. What is
        usual is tested first."""
        number, kept = self.is_number(value), self.positive_zero(value)
        if low is not None and high is not None:
            usual = f"WHEN {value} BETWEEN {low} AND {high} THEN {kept} "
            return f"CASE {usual}WHEN {value} < {low} THEN {low} WHEN {number} THEN {high} END"
        below = "" if low is None else f"WHEN {value} < {low} THEN {low} "
        above = "" if high is None else f"WHEN {value} > {high} AND {number} THEN {high} "
        return f"CASE {below}{above}WHEN {number} THEN {kept} END"

    def whole_part(self, value: str) -> str:
        """A real without its fraction, toward zero."""
        return f"trunc({value})"

    def as_text(self, x: str) -> str:
        """A whole number as text."""
        return f"CAST({x} AS {self.type(TEXT)})"

    def at_most(self, x: str, most: int) -> str:
        """A whole number ≥ 0 as BIGINT, cut off at `most`."""
        return self.narrow(f"least({x}, {self.integer(most)})")

    def shuffled(self, values: Mapping[str, Type], salt: int) -> str:
        """What to order rows by, so that their order depends on their values and the salt alone, looks random, and is the
        same on every engine: a hash of the salt and the values as text. Of reals: of their whole part and their fraction in
        units of 2^-52."""
        words = [self.text(str(salt))]
        for name, type_ in values.items():
            shown = [name]
            if type_.kind is Kind.REAL:
                whole = self.whole_part(name)
                shown = [whole, f"({name} - {whole}) * {self.real(2.0**52)}"]
            travelled = [self.travelled(x, type_) for x in shown]
            texts = travelled if is_text(type_) else [self.as_text(x) for x in travelled]
            words += [f"coalesce({x}, {self.text('NULL')})" for x in texts]
        comma = f" || {self.text(',')} || "
        return f"md5({comma.join(words)})"

    def bigint(self, x: str) -> str:
        return f"CAST({x} AS {self.type(BIGINT)})"
