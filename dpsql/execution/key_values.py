"""Key sets of expressions, computed by scratch with the SQL that the vault would run: so they are what it groups by."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.domain.facts import Values
from dpsql.domain.types import Atom, Kind, Type
from dpsql.engine.scratch import Scratch
from dpsql.errors import PostProcessingError
from dpsql.functions import totalise
from dpsql.functions.sets import Answer, KeyQuestion
from dpsql.ir.expr import Column, walk
from dpsql.plan.dialects.duckdb import DUCKDB, functions
from dpsql.plan.dialects.literals import fixed
from dpsql.session import Session

REMEMBERED = 4_000_000  # keys, of all the sets that a session has computed
INTERRUPTED = "DPSQL-503"
# How a set travels there, and what it is there again.
SENT = {
    Kind.BOOLEAN: ("BOOLEAN", "v"),
    Kind.INTEGER: ("{}", "v"),
    Kind.REAL: ("DOUBLE", "v"),
    Kind.TEXT: ("VARCHAR", "v"),
    Kind.DECIMAL: ("VARCHAR", "CAST(v AS {})"),
    Kind.DATE: ("INTEGER", "DATE '1970-01-01' + v"),
    Kind.TIMESTAMP: ("BIGINT", "make_timestamp(v)"),
}


def answers(session: Session) -> Answer:
    """Who answers a planner's questions about keys."""

    def answer(question: KeyQuestion) -> Values | None:
        if not question.is_exact:
            return computed(session.scratch, question)
        if question not in session.key_values:
            if sum(len(values or ()) for values in session.key_values.values()) > REMEMBERED:
                session.key_values.clear()
            session.key_values[question] = computed(session.scratch, question)
        return session.key_values[question]

    return answer


def _types(question: KeyQuestion) -> list[Type]:
    columns = {part.id: part.type for part in walk(question.expr) if isinstance(part, Column)}
    return [columns[i] for i in range(len(question.sets))]


def computed(scratch: Scratch, question: KeyQuestion) -> Values | None:
    """None where it cannot be computed: the set is not public then."""
    types = _types(question)
    if any(type_.kind not in SENT for type_ in types):
        return None
    expr, _ = totalise(question.expr, {})
    value, type_ = functions.render(expr, lambda column: f"c{column.id}"), question.expr.type
    if type_.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.DECIMAL):
        value = DUCKDB.travelled(value, type_)
    tables = [_table(i, one) for i, one in enumerate(types)]
    sql = f"SELECT DISTINCT {value} AS value{' FROM ' if tables else ''}{', '.join(tables)} ORDER BY value"
    sets = [[_sent(v, one) for v in values] for values, one in zip(question.sets, types, strict=True)]
    try:
        rows = scratch.values(sql, sets)
    except PostProcessingError as error:
        if error.code == INTERRUPTED:
            raise
        return None
    answers = dict.fromkeys(_atom(value, type_) for (value,) in rows)
    return None if any(isinstance(v, float) and math.isinf(v) for v in answers) else tuple(answers)


def _table(i: int, type_: Type) -> str:
    element, value = (text.format(type_.sql) for text in SENT[type_.kind])
    return f"(SELECT {value} AS c{i} FROM unnest(CAST(? AS {element}[])) AS t(v)) AS t{i}"


def _sent(value: Atom, type_: Type) -> object:
    return value if value is None or type_.kind is not Kind.DECIMAL else fixed(Fraction(value), type_.scale)


def _atom(value: Atom, type_: Type) -> Atom:
    """As the planner holds it. NaN counts as NULL, and -0.0 is 0.0."""
    if isinstance(value, float):
        return None if math.isnan(value) else value + 0.0
    return Fraction(value) if isinstance(value, str) and type_.kind is Kind.DECIMAL else value
