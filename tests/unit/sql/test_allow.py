"""The allow-list: what is on it, and that nothing else passes."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import pytest
from sqlglot import exp

from dpsql.errors import Error, Refused
from dpsql.sql.allow import ALLOWED, CHECKS, allow
from dpsql.sql.parse import parse
from dpsql.sql.refusals import ARGUMENTS, NODES
from dpsql.sql.statement import Statement
from tests.cases.reading import Case, read, refusal


@pytest.mark.parametrize("case", read("parse/refused_queries.sql"), ids=lambda case: case.text)
def test_refused(case: Case, golden: Callable[[Case, str], None]) -> None:
    with pytest.raises(Error) as caught:
        allow(parse(case.text, [1] * case.text.count("?")))
    error = caught.value
    golden(case, refusal(error))
    assert error.at is not None
    assert error.line is not None
    assert error.fix


@pytest.mark.parametrize("case", read("parse/allowed_queries.sql"), ids=lambda case: case.text)
def test_allowed(case: Case) -> None:
    allow(parse(case.text))


def test_every_argument_listed_exists() -> None:
    for kind, arguments in ALLOWED.items():
        assert arguments <= set(kind.arg_types), kind


def test_every_check_is_of_a_listed_class() -> None:
    assert set(CHECKS) <= set(ALLOWED)


def test_every_refusal_is_of_something_that_is_not_listed() -> None:
    allowed = {kind.__name__: arguments for kind, arguments in ALLOWED.items()}
    for name in NODES:
        assert hasattr(exp, name), name
        assert name not in allowed, name
    for key in ARGUMENTS:
        name, _, argument = key.partition(".")
        if name != "*":
            assert argument in getattr(exp, name).arg_types, key
            assert argument not in allowed.get(name, ()), key


def every_class() -> list[type[exp.Expr]]:
    classes, left = set[type[exp.Expr]](), [exp.Expr]
    while left:
        kind = left.pop()
        for child in kind.__subclasses__():
            if child not in classes:
                classes.add(child)
                left.append(child)
    classes = {kind for kind in classes if issubclass(kind, exp.Expression)}  # the others are mixins
    return sorted(classes, key=lambda kind: kind.__name__)


def test_every_other_class_and_argument_is_refused() -> None:
    """Plant each class of sqlglot, and on each listed class each argument that is not listed, into a good query."""
    planted = 0
    for kind in every_class():
        unlisted = set(kind.arg_types) - ALLOWED.get(kind, frozenset())
        for argument in sorted(unlisted) if kind in ALLOWED else [None]:
            try:
                node = kind()
            except TypeError:
                continue  # an abstract base
            if argument is not None:
                node.args[argument] = exp.Literal.number(1)
            tree = parse("SELECT 1 FROM t").tree
            assert isinstance(tree, exp.Select)
            tree.args["expressions"].append(node)
            with pytest.raises(Refused):
                allow(Statement(text="SELECT 1 FROM t", kind="query", tree=tree))
            planted += 1
    assert planted > 500


COMPILED = importlib.util.find_spec("sqlglot.expressions.core__mypyc") is not None


@pytest.mark.skipif(COMPILED, reason="compiled sqlglot classes cannot have such subclasses at all")
def test_subclasses_are_not_allowed_with_their_parents() -> None:
    class Cunning(exp.Add):
        pass

    tree = parse("SELECT a + b FROM t").tree
    assert tree is not None
    add = tree.find(exp.Add)
    assert add is not None
    add.replace(Cunning(this=add.this, expression=add.expression))
    with pytest.raises(Refused):
        allow(Statement(text="", kind="query", tree=tree))
