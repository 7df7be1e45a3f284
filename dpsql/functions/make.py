"""Building typed calls: arity, constants in the type of their neighbours, the result's type, a little folding."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

from dpsql.domain.ranges import DAY
from dpsql.domain.types import ANY, BOOLEAN, DATE, INTEGER, NULL, TEXT, TIMESTAMP, Kind, Type, common
from dpsql.errors import InternalError, Span, SqlError
from dpsql.functions import casts, comparison, logic
from dpsql.functions.function import Function, TypeProblem
from dpsql.functions.literals import fitted_number, integer_type, parsed, typed_text
from dpsql.functions.scratch import SCRATCH_FUNCTIONS
from dpsql.functions.table import FUNCTIONS
from dpsql.ir.expr import Call, Expr, Literal, place

TRUTHS = frozenset(f.name for f in (*comparison.FUNCTIONS, *logic.FUNCTIONS))
CASTS = ("cast", "try_cast")
EQUALITIES = ("equal", "not_equal", "is_distinct", "is_not_distinct", "in")


def make(name: str, args: tuple[Expr, ...], *, at: Span | None, to: Type | None = None) -> Expr:
    """The typed call of a function of the table (or of scratch alone), or the constant it is.

    SqlError 105 with its place where the arguments do not fit. Over a value of unknown type the result is unknown too.
    """
    function = FUNCTIONS.get(name)
    if function is None:
        if name in SCRATCH_FUNCTIONS:
            return Call(name, args, ANY, at)
        raise InternalError(f"{name} is not in the function table")
    _check_count(function, args, at)
    args = _comparable(function, _with_numbers(function, _unified(function, args)))
    try:
        type_ = _type(function, args, to)
    except TypeProblem as problem:
        raise _error(function, args, problem, at) from None
    call = Call(name, args, type_, at)
    return _folded(call) or call


def call(name: str, *args: Expr, to: Type | None = None) -> Expr:
    """A call that nobody wrote, so it has no place in the text."""
    return make(name, args, at=None, to=to)


def _check_count(function: Function, args: tuple[Expr, ...], at: Span | None) -> None:
    count = len(args)
    if count < function.least or (function.most is not None and count > function.most):
        raise SqlError(
            f"{function.name} does not take {count} argument{'' if count == 1 else 's'}",
            code=105,
            at=at,
            fix=f"Write {function.signature}.",
        )


def _error(function: Function, args: tuple[Expr, ...], problem: TypeProblem, at: Span | None) -> SqlError:
    spot = at if problem.argument is None else place(args[problem.argument]) or at
    return SqlError(problem.what, code=105, at=spot, why=f"In {function.signature}.", fix=problem.fix)


def _type(function: Function, args: tuple[Expr, ...], to: Type | None) -> Type:
    if function.name in CASTS:
        if to is None:
            raise InternalError("a cast needs its target")
        return casts.check(args, to)
    if not any(arg.type == ANY for arg in args):
        return function.type(args)
    if function.name in TRUTHS:
        return BOOLEAN
    return ANY


def _unified(function: Function, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Text constants beside another type become constants of that type."""
    new = list(args)
    for group in function.alike(len(args)):
        kinds = {args[i].type for i in group if args[i].type.kind not in (Kind.TEXT, Kind.NULL, Kind.ANY)}
        texts = [i for i in group if args[i].type == TEXT]
        if not kinds or any(not isinstance(args[i], Literal) for i in texts):
            continue
        target = _target([args[i] for i in group if args[i].type in kinds])
        for i in texts:
            literal = args[i]
            assert isinstance(literal, Literal) and isinstance(literal.value, str)
            new[i] = _text_as(literal, literal.value, target)
    return tuple(new)


def _with_numbers(function: Function, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """A boolean beside numbers is 1 or 0."""
    new = list(args)
    for group in function.alike(len(args)):
        numbers = [args[i] for i in group if args[i].type.is_numeric]
        if numbers:
            target = _target(numbers)
            whole = target if target.kind is Kind.INTEGER else INTEGER
            for i in group:
                if args[i].type == BOOLEAN:
                    new[i] = _cast(args[i], whole)
    return tuple(new)


def _comparable(function: Function, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Texts that are compared for equality with another type are read as that type, as in DuckDB. Over private rows a
    text that is none is NULL."""
    types = [arg.type for arg in args if arg.type.kind not in (Kind.TEXT, Kind.NULL)]
    if function.name not in EQUALITIES or not types or ANY in types:
        return args
    target: Type | None = types[0]
    for type_ in types[1:]:
        target = None if target is None else common(target, type_)
    if target is None:
        return args
    return tuple(_cast(arg, target) if arg.type == TEXT else arg for arg in args)


def _cast(arg: Expr, to: Type) -> Expr:
    return make("cast", (arg,), at=place(arg), to=to)


def _text_as(literal: Literal, text: str, target: Type) -> Literal:
    """Of the text of a timestamp a date takes the day, as in DuckDB."""
    if target.kind is Kind.DATE and parsed(text.strip(" "), target) is None:
        moment = parsed(text.strip(" "), TIMESTAMP)
        if moment is not None and isinstance(moment.value, int):
            return Literal(moment.value // DAY, DATE, literal.at)
    return typed_text(text, target, literal.at)


def _target(others: list[Expr]) -> Type:
    """The type of the first neighbour that is not a constant, else of the first."""
    return next((e.type for e in others if not isinstance(e, Literal)), others[0].type)


def _folded(call: Call) -> Literal | None:
    """-5, casts of constants where the value is exact and certain, and texts joined to one (patterns must be constants)."""
    if not call.args or not isinstance(call.args[0], Literal):
        return None
    literal = call.args[0]
    if call.function == "negate":
        return _negated(call, literal)
    if call.function in ("concat", "concat_all") and all(map(_is_text, call.args)):
        return Literal("".join(str(arg.value) for arg in call.args if isinstance(arg, Literal)), TEXT, call.at)
    if call.function in CASTS:
        value = cast_literal(literal, call.type)
        return None if value is None else dataclasses.replace(value, at=call.at)
    return None


def _is_text(arg: Expr) -> bool:
    return isinstance(arg, Literal) and arg.type == TEXT and isinstance(arg.value, str)


def _negated(call: Call, literal: Literal) -> Literal | None:
    value = literal.value
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return None
    if isinstance(value, int) and literal.type == integer_type(value):
        type_ = integer_type(-value)
        return None if type_ is None else Literal(-value, type_, call.at)
    if call.type.kind is Kind.INTEGER and fitted_number(Fraction(-value), call.type) is None:
        return None
    return Literal(-value, call.type, call.at)


def cast_literal(literal: Literal, to: Type) -> Literal | None:
    """The constant after the cast; None leaves the cast to the engine."""
    value = literal.value
    if literal.type == to:
        return literal
    if literal.type == NULL or value is None:
        return None
    if isinstance(value, str) and literal.type == TEXT:
        if to.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.INTEGER, Kind.DECIMAL, Kind.REAL):
            return parsed(value, to)
        return None
    if literal.type == BOOLEAN and to.kind is Kind.INTEGER:
        return Literal(int(value), to)
    if literal.type.kind in (Kind.INTEGER, Kind.DECIMAL) and not isinstance(value, str):
        if to.kind in (Kind.INTEGER, Kind.DECIMAL):
            return fitted_number(Fraction(value), to)
        exact = Fraction(value)
        if to.kind is Kind.REAL and abs(exact.numerator) <= 2**53 and exact.denominator <= 10**15:
            return Literal(float(exact), to)
    return None
