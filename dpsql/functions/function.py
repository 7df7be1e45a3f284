"""What a row of the function table says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dpsql.domain.facts import Domain
from dpsql.domain.ranges import Range, type_range
from dpsql.domain.types import Kind, Type
from dpsql.ir.expr import Call, Expr, Literal

Args = tuple[Expr, ...]
Domains = tuple[Domain, ...]
Spans = tuple[Range | None, ...]  # the Range of each argument that has one; a NULL counts as zero


class TypeProblem(Exception):
    """A type rule's answer when the arguments do not fit: what, which argument (None: the call), and the mend."""

    def __init__(self, what: str, argument: int | None = None, fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.argument = argument
        self.fix = fix


def always(call: Call, spans: Spans) -> bool:
    """The plain form answers on every value its argument types can hold."""
    return True


def never(call: Call, spans: Spans) -> bool:
    """Some value of its argument types stops the plain form, and no Range of theirs says otherwise."""
    return False


def of_type(call: Call, spans: Spans) -> Range | None:
    return type_range(call.type)


def no_groups(count: int) -> tuple[tuple[int, ...], ...]:
    """No two arguments are brought to one type."""
    return ()


def all_alike(count: int) -> tuple[tuple[int, ...], ...]:
    """Every argument is brought to one type."""
    return (tuple(range(count)),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One scalar function or operator.

    type: DuckDB's own result type; raises TypeProblem.
    domain: what is expected of the result.
    plain: whether DuckDB's plain form surely answers, by the types and ranges of the arguments alone; else the vault
        runs the row's checked form, which answers NULL instead.
    reach: the least and the greatest value of the plain form, before it is cut off at the type.
    alike: the groups of argument positions that are brought to one type.
    compares: those arguments are compared in their common type, and the result has another type.
    loses: whether the checked form is expected to answer NULL for some values; if it is not given, it does where the
        plain form would not do.
    """

    name: str
    doc: str
    signature: str
    least: int
    most: int | None
    type: Callable[[Args], Type]
    domain: Callable[[Call, Domains], Domain]
    plain: Callable[[Call, Spans], bool] = always
    reach: Callable[[Call, Spans], Range | None] = of_type
    alike: Callable[[int], tuple[tuple[int, ...], ...]] = no_groups
    compares: bool = False
    loses: Callable[[Call, Domains], bool] | None = None


def row(
    name: str,
    doc: str,
    signature: str,
    count: int | tuple[int, int | None],
    type_: Callable[[Args], Type],
    domain: Callable[[Call, Domains], Domain],
    plain: Callable[[Call, Spans], bool] = always,
    reach: Callable[[Call, Spans], Range | None] = of_type,
    alike: Callable[[int], tuple[tuple[int, ...], ...]] = no_groups,
    compares: bool = False,
    loses: Callable[[Call, Domains], bool] | None = None,
) -> Function:
    """count: of arguments, or the least and the most (None: any number)."""
    least, most = (count, count) if isinstance(count, int) else count
    return Function(
        name=name,
        doc=doc,
        signature=signature,
        least=least,
        most=most,
        type=type_,
        domain=domain,
        plain=plain,
        reach=reach,
        alike=alike,
        compares=compares,
        loses=loses,
    )


CHECKED = "checked_"


def checked(name: str) -> str:
    """The name of a row's checked form."""
    return name if name.startswith(CHECKED) else CHECKED + name


def unchecked(name: str) -> str:
    return name.removeprefix(CHECKED)


def expect(args: Args, position: int, kinds: Sequence[Kind], fix: str = "") -> None:
    """The argument is of one of these kinds, or NULL, or unknown."""
    kind = args[position].type.kind
    if kind not in (*kinds, Kind.NULL, Kind.ANY):
        words = " or ".join(k.value for k in kinds)
        raise TypeProblem(f"{words} is expected here, this is {args[position].type}", position, fix)


def takes(kinds: Sequence[Kind], type_: Type, fix: str = "") -> Callable[[Args], Type]:
    """The type of a function whose every argument is of one of these kinds."""

    def checked(args: Args) -> Type:
        for position in range(len(args)):
            expect(args, position, kinds, fix)
        return type_

    return checked


def constant(args: Args, position: int, what: str) -> Literal:
    """The literal at a position that must not depend on the data."""
    arg = args[position]
    if not isinstance(arg, Literal):
        raise TypeProblem(f"{what} must be a constant", position, "Write the value itself.")
    return arg


def integer_constant(args: Args, position: int, what: str, low: int, high: int) -> int:
    value = constant(args, position, what).value
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise TypeProblem(f"{what} must be a whole number from {low} to {high}", position)
    return value


def text_constant(args: Args, position: int, what: str) -> str:
    value = constant(args, position, what).value
    if not isinstance(value, str):
        raise TypeProblem(f"{what} must be a text constant", position)
    return value
