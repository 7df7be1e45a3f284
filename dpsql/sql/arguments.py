"""Arguments of the parser's nodes, named in a row of words and read in that order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

Node = exp.Expression
Takes = tuple[str, tuple[str, ...]]  # dpsql's name of a call, and the arguments of the parser's class in its order


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def taking(arguments: str, called: Mapping[type[exp.Expr], str]) -> dict[type[exp.Expr], Takes]:
    """Classes that have the same arguments."""
    return {node: (name, tuple(arguments.split())) for node, name in called.items()}


def given(node: exp.Expr, arguments: Iterable[str]) -> tuple[Node, ...]:
    """What is given of these; a list is spread."""
    values = [node.args.get(argument) for argument in arguments]
    spread = [part for value in values for part in (value if isinstance(value, list) else [value])]
    return tuple(part for part in spread if isinstance(part, Node))
