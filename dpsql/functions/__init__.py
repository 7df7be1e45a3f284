"""The table of scalar functions: type rule, interval rule, and when the plain form is sure to answer.

To add a function: a row in its family's file, its form in plan/dialects where it is not `name(args)`, its sqlglot node
in sql/call_nodes.py. The totality test then finds it by itself.
"""

from dpsql.functions.function import Function, TypeProblem, checked, unchecked
from dpsql.functions.infer import infer
from dpsql.functions.literals import interval_literal, literal_of, number_literal
from dpsql.functions.make import call, make
from dpsql.functions.narrow import narrow
from dpsql.functions.refused import REFUSED, suggest, unknown
from dpsql.functions.scratch import SCRATCH_AGGREGATES, SCRATCH_FUNCTIONS, SCRATCH_WINDOWS
from dpsql.functions.table import FUNCTIONS
from dpsql.functions.totality import call_range, totalise

__all__ = [
    "FUNCTIONS",
    "REFUSED",
    "SCRATCH_AGGREGATES",
    "SCRATCH_FUNCTIONS",
    "SCRATCH_WINDOWS",
    "Function",
    "TypeProblem",
    "call",
    "call_range",
    "checked",
    "infer",
    "interval_literal",
    "literal_of",
    "make",
    "narrow",
    "number_literal",
    "suggest",
    "totalise",
    "unchecked",
    "unknown",
]
