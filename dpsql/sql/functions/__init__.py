"""The table of scalar functions: type rule, interval and key-set rule, and when the plain form is sure to answer.

To add a function: a row in its family's file, its form in plan/dialects where it is not `name(args)`, its sqlglot node
in reading.py. The totality test then finds it by itself.
"""

from dpsql.sql.functions.infer import infer
from dpsql.sql.functions.literals import interval_literal, literal_of, number_literal
from dpsql.sql.functions.make import make
from dpsql.sql.functions.model import Function, TypeProblem, checked, unchecked
from dpsql.sql.functions.narrow import narrow
from dpsql.sql.functions.nodes import ALLOWED
from dpsql.sql.functions.reading import read
from dpsql.sql.functions.reading_types import read_interval, read_type
from dpsql.sql.functions.refused import REFUSED, suggest, unknown
from dpsql.sql.functions.scratch import SCRATCH_AGGREGATES, SCRATCH_FUNCTIONS, SCRATCH_WINDOWS
from dpsql.sql.functions.table import FUNCTIONS
from dpsql.sql.functions.totality import call_range, totalise

__all__ = [
    "ALLOWED",
    "FUNCTIONS",
    "REFUSED",
    "SCRATCH_AGGREGATES",
    "SCRATCH_FUNCTIONS",
    "SCRATCH_WINDOWS",
    "Function",
    "TypeProblem",
    "call_range",
    "checked",
    "infer",
    "interval_literal",
    "literal_of",
    "make",
    "narrow",
    "number_literal",
    "read",
    "read_interval",
    "read_type",
    "suggest",
    "totalise",
    "unchecked",
    "unknown",
]
