"""Where the interfaces end. An error leaves without the frames below, and an interrupted query says what it cost.

A traceback keeps every frame's variables, and below this line these are private rows and exact totals: whoever prints
locals (a logger, a notebook, a service that collects errors) would print them. So an error that passes has the frames of
the caller alone; what is not an error of ours is a bug, told by its kind and place, since its words could quote a cell.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

from dpsql.accounting.spent_here import SpentHere
from dpsql.dbapi.telling import telling
from dpsql.errors import Error, InternalError, Interrupted
from dpsql.report.privacy import cost_report
from dpsql.session import Session

P = ParamSpec("P")
T = TypeVar("T")
INTERRUPTED = 503
full_tracebacks = False
"""For whoever looks for a bug, over made-up data: errors keep their frames and their kind. Tests set it."""


def boundary(function: Callable[P, T]) -> Callable[P, T]:
    """The outermost function of ours: what it raises says nothing of what lies below."""

    @functools.wraps(function)
    def outside(*given: P.args, **named: P.kwargs) -> T:
        try:
            return function(*given, **named)
        except BaseException as error:  # whatever it is: told, and raised again
            failed = _bare(error)
        del given, named  # they are variables of this frame, and may be a private frame
        try:
            raise failed
        finally:
            del failed

    return outside


def answering(function: Callable[P, T]) -> Callable[P, T]:
    """A boundary of something that has a `_session`, through which a statement may be charged: Ctrl-C, and interrupt(),
    say what it cost."""

    @functools.wraps(function)
    def asked(*given: P.args, **named: P.kwargs) -> T:
        session: Session = given[0]._session  # type: ignore[attr-defined]  # cursors, connections and frames have one
        if session.ledger is not None:
            session.ledger.spent_here.clear()
        try:
            with telling(session):
                return function(*given, **named)
        except KeyboardInterrupt:
            raise Interrupted("interrupted", why=_cost(session)) from None
        except Error as error:
            if error.number == INTERRUPTED:
                error.why, error.fix = _cost(session), ""
            raise

    return boundary(asked)


def _cost(session: Session) -> str:
    spent = SpentHere() if session.ledger is None else session.ledger.spent_here
    cost = cost_report(spent.cost, session.catalog.accounting)
    match spent.state:
        case "nothing":
            return "Nothing was charged."
        case "asked":
            return f"This happened while the charge was being written: it cost {cost}, or nothing. SHOW BUDGET tells which."
        case "charged":
            return f"It cost {cost}, which stays charged: nothing was released."
        case _:
            return f"It cost {cost}. The released rows are kept: the same query on this connection is free."


def _bare(error: BaseException) -> BaseException:
    """The error without frames and without what it came from; a bug of ours as one."""
    if full_tracebacks:
        return error
    inside = _inside(error.__traceback__)
    foreign = isinstance(error, Exception) and not isinstance(error, Error)
    if foreign and inside is not None:
        error = InternalError(
            f"a bug in dpsql: {type(error).__name__} at {inside}",
            why="What the statement may have charged stays charged.",
            fix="Please report it with the statement and the metadata, never with data.",
        )
    error.__traceback__ = error.__cause__ = error.__context__ = None
    return error


def _inside(trace: TracebackType | None) -> str | None:
    """The file and line of the innermost frame; None where the call itself did not fit (a wrong argument's name)."""
    depth, place = 0, ""
    while trace is not None:
        depth, place = depth + 1, f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place if depth > 1 else None


__all__ = ["answering", "boundary"]
