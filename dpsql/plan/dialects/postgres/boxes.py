"""Arithmetic on doubles of medium size, as PostgreSQL computes it: a test of the operands, the plain expression, and else
its checked form (reals.py). Checked step by step, an expression took longer than all the rest of a query.

Lemma (total, exact): where every operand is in its box, no step overflows, underflows or divides by zero, so PostgreSQL
raises nothing and computes what IEEE 754 does, like the checked form. Proof: `_size` has for each step two ends between
which its rounded result is, and a least size, from those of what it is made of, each moved outward by more than rounding
moves it. It knows none where a result could be beyond 2^1000, or a product or quotient below 2^-1000, or a divisor 0; then
there is no plain form. A box holds neither NaN nor NULL. The checked form is printed for all other rows: no result rests on
which boxes there are. PostgreSQL looks at constants in the plain branch only where the test has not failed for them
(reals.py).
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from dpsql.domain.types import Kind, Type
from dpsql.ir.expr import Call, Column, Expr, Literal
from dpsql.plan.dialects.postgres.binding import bound, evaluated_once, in_branch, is_in_branch, is_simple
from dpsql.plan.dialects.postgres.literals import literal, real
from dpsql.plan.dialects.postgres.reals import ZERO, of_exact

Render = Callable[[Expr, Callable[[Column], str]], str]

SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
OTHERS = ("negate", "abs", "least", "greatest", "canonical")
MOST_CALLS = 40
NUMBERS = (Kind.REAL, Kind.INTEGER, Kind.DECIMAL)
LARGEST, SMALLEST = Fraction(2) ** 1000, Fraction(2) ** -1000
NEXT = Fraction(1, 2**52)  # of a number's size: more than rounding to the nearest double moves it
CONVERTED = re.compile(r"CAST\((.*) AS float8\)")


@dataclass(frozen=True, slots=True)
class Size:
    """low ≤ value ≤ high, |value| ≥ least."""

    low: Fraction
    high: Fraction
    least: Fraction

    @property
    def most(self) -> Fraction:
        return max(abs(self.low), abs(self.high))

    @property
    def sign(self) -> int:
        """0: of either."""
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


@dataclass(frozen=True, slots=True)
class Box:
    """What operands are tested for: their size, or their value, from 2^-below (0: no least size) to 2^above."""

    above: int
    below: int = 0
    signed: bool = True

    def size(self) -> Size:
        high = Fraction(2) ** self.above
        least = Fraction(1, 2**self.below) if self.below else Fraction(0)
        return Size(-high if self.signed else least, high, least)

    def test(self, x: str) -> str:
        high = real(2.0**self.above)
        if not self.below:
            return f"{x} BETWEEN -{high} AND {high}"
        return f"{f'abs({x})' if self.signed else x} BETWEEN {real(2.0**-self.below)} AND {high}"


BOXES = (Box(300), Box(60, 60), Box(60, 60, signed=False), Box(20, 20), Box(20, 20, signed=False))


def in_a_box(expr: Call, column: Callable[[Column], str], render: Render) -> str | None:
    """The expression; None where it is no arithmetic on doubles of two calls or more, or no box will do."""
    if is_in_branch() or not _is_step(expr):
        return None
    operands: dict[Expr, Column] = {}
    tree = _over(expr, operands)
    calls = _calls(tree)
    if not operands or not 2 <= len(calls) <= MOST_CALLS or not any(call.function in SIGNS for call in calls):
        return None
    box = next((box for box in BOXES if _size(tree, box) is not None), None)
    if box is None:
        return None
    shown = [of_exact(render(operand, column), operand.type) for operand in operands]
    names = [stand.id for stand in operands.values()]
    uses = Counter(arg for call in calls for arg in call.args)
    shown = [
        evaluated_once(text) if is_simple(text) and uses[stand] > 1 else text
        for text, stand in zip(shown, operands.values(), strict=True)
    ]
    dear = [i for i, text in enumerate(shown) if not _is_cheap(text)]

    def body(*made: str) -> str:
        texts = {names[i]: text for i, text in enumerate(shown)} | {
            names[i]: m for i, m in zip(dear, made, strict=True)
        }
        with in_branch():
            checked = render(tree, lambda stand: texts[stand.id])
        tests = " AND ".join(box.test(text) for text in dict.fromkeys(texts.values()))
        return f"CASE WHEN {tests} THEN {_plain(tree, texts)} ELSE {checked} END"

    return bound(tuple(shown[i] for i in dear), body)


def _is_step(expr: Expr) -> bool:
    return (
        isinstance(expr, Call)
        and expr.type.kind is Kind.REAL
        and (expr.function in SIGNS or expr.function in OTHERS)
        and all(arg.type.kind in NUMBERS for arg in expr.args)
    )


def _is_number(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.value is not None and isfinite(float(expr.value))


def _is_cheap(text: str) -> bool:
    converted = CONVERTED.fullmatch(text)
    return is_simple(text if converted is None else converted[1])


def _over(expr: Expr, operands: dict[Expr, Column]) -> Expr:
    """The steps, over columns that stand for operands."""
    if isinstance(expr, Call) and _is_step(expr):
        return dataclasses.replace(expr, args=tuple(_over(arg, operands) for arg in expr.args))
    if _is_number(expr):
        return expr
    return operands.setdefault(expr, Column(-1 - len(operands), Type(Kind.REAL)))


def _calls(tree: Expr) -> list[Call]:
    return [tree, *(call for arg in tree.args for call in _calls(arg))] if isinstance(tree, Call) else []


def _size(tree: Expr, box: Box) -> Size | None:
    match tree:
        case Column():
            return box.size()
        case Literal():
            value = Fraction(tree.value)  # type: ignore[arg-type]  # a number
            return _rounded(Size(value, value, abs(value)))
        case Call():
            sizes = [_size(arg, box) for arg in tree.args]
            known = [size for size in sizes if size is not None]
            return _step(tree.function, known) if len(known) == len(sizes) else None
        case _:
            return None


def _step(function: str, sizes: list[Size]) -> Size | None:
    a, b = sizes[0], sizes[-1]
    match function:
        case "add" | "subtract":
            low, high = (a.low + b.low, a.high + b.high) if function == "add" else (a.low - b.high, a.high - b.low)
            made = _rounded(Size(low, high, max(Fraction(0), low, -high)))
        case "multiply" | "divide":
            if function == "divide" and not b.least:
                return None
            least, most = (
                (a.least * b.least, a.most * b.most) if function == "multiply" else (a.least / b.most, a.most / b.least)
            )
            sign = a.sign * b.sign
            low, high = (least, most) if sign > 0 else (-most, -least) if sign < 0 else (-most, most)
            made = _rounded(Size(low, high, least))
            if made.least < SMALLEST:
                return None
        case "negate":
            made = Size(-a.high, -a.low, a.least)
        case "abs":
            made = Size(a.least, a.most, a.least)
        case "least" | "greatest":
            pick = min if function == "least" else max
            made = Size(pick(s.low for s in sizes), pick(s.high for s in sizes), min(s.least for s in sizes))
        case _:
            made = a
    return made if made.most <= LARGEST else None


def _rounded(size: Size) -> Size:
    return Size(size.low - abs(size.low) * NEXT, size.high + abs(size.high) * NEXT, size.least * (1 - NEXT))


def _plain(tree: Expr, texts: Mapping[int, str]) -> str:
    match tree:
        case Column():
            return texts[tree.id]
        case Literal():
            return of_exact(literal(tree), tree.type)
        case Call():
            args = [_plain(arg, texts) for arg in tree.args]
            if tree.function in SIGNS:
                return f"({args[0]} {SIGNS[tree.function]} {args[1]})"
            if tree.function == "negate":
                return f"(- {args[0]})"
            return f"({args[0]} + {ZERO})" if tree.function == "canonical" else f"{tree.function}({', '.join(args)})"
        case _:
            raise AssertionError
