"""Mutated queries: words of the SQL cases exchanged, and parts of their syntax trees, so that many are still accepted."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from tests.cases.test_sql_cases import ACCEPTED, CASES
from tests.worlds import clinic

WORDS = re.compile(r"'[^']*'|[\w.]+|\s+|.", re.DOTALL)
TOKENS = [word for case in CASES for word in WORDS.findall(case.text) if not word.isspace()]
# what happened to be fragile: subqueries, keys, windows, constants at the edges
EXTRA = [
    "NULL",
    "patient_id",
    "visit_id",
    "9223372036854775807",
    "-1",
    "0",
    "1e308",
    "''",
    "DISTINCT",
    "NOT",
    "*",
    "COUNT(*)",
]
FUNCTIONS = {match for case in CASES for match in re.findall(r"([A-Z_]+) ?\(", case.text)}


def kind(word: str) -> str:
    if word.startswith("'") or word[0].isdigit():
        return "constant"
    if word.isupper():
        return "function" if word in FUNCTIONS else "keyword"
    return "name" if word[0].isalpha() else "sign"


BY_KIND: dict[str, list[str]] = {}
for token in TOKENS:
    BY_KIND.setdefault(kind(token), []).append(token)


def alike(word: str) -> list[str]:
    """Words of the same kind, which often still parse."""
    return BY_KIND.get(kind(word), TOKENS)


def mutate_words(source: random.Random, text: str) -> str:
    """One to three words replaced, mostly by their like, dropped, exchanged, or taken from another statement."""
    words = WORDS.findall(text)
    for _ in range(source.choice([1, 1, 2, 3])):
        at = source.choice([i for i, word in enumerate(words) if not word.isspace()] or [0])
        match source.randrange(8):
            case 0:
                words[at] = source.choice(EXTRA)
            case 1:
                words[at] = " "
            case 2:
                other = source.randrange(len(words))
                words[at], words[other] = words[other], words[at]
            case 3:
                other_words = WORDS.findall(source.choice(CASES).text)
                cut = source.randrange(len(other_words))
                words[at : at + 6] = other_words[cut : cut + 6]
            case _:
                words[at] = source.choice(alike(words[at]))
    return "".join(words)


# --- parts of trees -------------------------------------------------------------------------------------------------

# Subqueries and shapes that several tables meet in; every hole is filled with a part of a case, or of the query itself.
VALUES = [
    "(SELECT {aggregate} FROM {table})",
    "(SELECT {aggregate} FROM visits v2 WHERE v2.patient_id = {column})",
    "(SELECT {aggregate} FROM visits v2 WHERE v2.specialty = {column})",
    "(SELECT {column} FROM {table} LIMIT 1)",
    "{aggregate} OVER (PARTITION BY patient_id ORDER BY {column})",
    "LAST_VALUE({column}) OVER (PARTITION BY patient_id, {column} ORDER BY {value})",
    "ROW_NUMBER() OVER (PARTITION BY {column} ORDER BY {value}, {column} DESC)",
    "{aggregate} OVER (ORDER BY {value} ROWS 2 PRECEDING)",
    "{aggregate} FILTER (WHERE {condition})",
    "CASE WHEN {condition} THEN {value} ELSE {value} END",
    "GROUPING({column})",
    "LEAST(GREATEST({value}, 0), 9)",
    "CAST({value} AS {type})",
    "(SELECT {column} FROM specialties s2 WHERE s2.name = {column})",
    "(SELECT {column} FROM prices WHERE code = 'd')",
    "(SELECT {column} FROM visits v2 WHERE v2.patient_id = {column} ORDER BY {column} LIMIT 1)",
    "EXISTS (SELECT 1 FROM {name} x WHERE x.patient_id = {column} AND {condition})",
    "SUM(DISTINCT {value})",
    "SUM(CASE WHEN {condition} THEN {value} END)",
    "SUM(CASE WHEN {condition} THEN {value} ELSE 0 END)",
    "list_transform([{value}], lambda x: x)[1]",
]
CONDITIONS = [
    "{value} IN (SELECT {column} FROM {table})",
    "{value} NOT IN (SELECT {column} FROM {table} WHERE {condition})",
    "EXISTS (SELECT 1 FROM {name} x WHERE x.patient_id = {column} AND {condition})",
    "NOT EXISTS (SELECT 1 FROM {name} x WHERE {condition})",
    "{value} > (SELECT {aggregate} FROM {table} WHERE {condition})",
    "{condition} OR {condition}",
    "{value} > ANY (SELECT {value} FROM {name} x WHERE x.patient_id = {column})",
    "{value} <> ALL (SELECT {column} FROM {table} WHERE {condition})",
    "EXISTS (SELECT 1 FROM visits x WHERE x.patient_id = {column} AND NOT EXISTS (SELECT 1 FROM {name} y WHERE "
    "y.patient_id = x.patient_id AND {condition}))",
    "NOT ({condition})",
    "{value} BETWEEN {value} AND {value}",
    "{value} IS NOT DISTINCT FROM {value}",
]
TABLES = [
    "(SELECT * FROM {table} WHERE {condition}) AS t",
    "(SELECT patient_id, {column} AS k, {aggregate} AS n FROM {table} GROUP BY patient_id, {column}) AS t",
    "(SELECT *, {value} AS more FROM {table}) AS t",
    "({query}) AS t",
    "visits JOIN patients USING (patient_id)",
    "visits v LEFT JOIN specialties s ON v.specialty = s.name AND {condition}",
    "items NATURAL JOIN visits",
    "patients p, visits v, items i",
    "{name} AS a JOIN {name} AS b ON a.patient_id = b.patient_id",
    "(SELECT patient_id, {value} AS k FROM {table} UNION ALL SELECT patient_id, {value} FROM {table}) AS t",
]
GROUPS = [
    "ROLLUP ({column}, {column})",
    "CUBE ({column}, {value})",
    "GROUPING SETS (({column}), ({column}, {column}), ())",
    "{column}, ROLLUP ({column})",
    "{column}, {value}",
    "ALL",
]
WHOLE = [
    "WITH q AS ({query}) SELECT {aggregate} FROM q",
    "WITH q AS ({query}), r AS ({query}) SELECT * FROM q, r",
    "WITH q AS ({query}) SELECT * FROM q a JOIN q b ON {condition}",
    "{query} UNION ALL {query}",
    "{query} EXCEPT {query}",
    "SELECT {column}, {aggregate} FROM visits WHERE score < 3 AND {condition} GROUP BY {group} UNION ALL "
    "SELECT {column}, {aggregate} FROM visits WHERE score >= 3 AND {condition} GROUP BY {group}",
    "SELECT {column}, COUNT(*) FROM visits WHERE score < 3 GROUP BY ALL UNION ALL "
    "SELECT {column}, COUNT(*) FROM visits WHERE {condition} GROUP BY ALL",
    "SELECT list_transform([{aggregate}], lambda x: x) AS l, {column} FROM {table} GROUP BY {column} HAVING {aggregate} > 1",
    "SELECT list(t) FROM ({query}) AS t",
    "SELECT {aggregate}, {aggregate} FROM ({query}) AS t GROUP BY {column}",
    "SELECT {column}, {value}, {aggregate} FROM {table} WHERE {condition} GROUP BY {group} HAVING {aggregate} > 3",
    "SELECT {column}, {aggregate} FROM {table} JOIN {table} ON {condition} GROUP BY {column} ORDER BY {aggregate}",
    "SELECT *, RANK() OVER (ORDER BY {column}) FROM ({query}) AS t QUALIFY {value} > 1",
    "SELECT s.name, (SELECT {aggregate} FROM visits v WHERE v.specialty = s.name AND {condition}) FROM specialties s",
]
HOLE = re.compile(r"\{(\w+)\}")
TYPES = ["INTEGER", "BIGINT", "DOUBLE", "DECIMAL(9, 2)", "VARCHAR", "DATE", "BOOLEAN", "HUGEINT"]
NAMES = [*clinic.CATALOG["tables"], *clinic.CATALOG["views"]]
QUALIFIER = re.compile(r"\b[a-z]\.")  # of the aliases that the cases give
ALIAS = re.compile(r" AS \w+$")
TEMPLATES = {"value": VALUES, "condition": CONDITIONS, "table": TABLES, "group": GROUPS}

Parts = dict[str, list[str]]


def role(node: exp.Expr) -> str | None:
    """What a part of a query may be replaced by; None for those that nothing else can stand for."""
    match node:
        case exp.Table():
            return "table"
        case exp.Subquery():
            return "table" if isinstance(node.parent, exp.From | exp.Join) else "value"
        case exp.Condition() if isinstance(node, exp.Predicate | exp.And | exp.Or | exp.Not):
            return "condition"
        case exp.AggFunc():
            return "aggregate"
        case exp.Column():
            return "column"
        case exp.Func() | exp.Binary() | exp.Literal() | exp.Paren() | exp.Window() | exp.Case():
            return "value"
        case exp.Select():
            return "query"
    return None


def read(text: str) -> exp.Expr | None:
    try:
        return sqlglot.parse_one(text, dialect="duckdb")
    except SqlglotError:
        return None


def written(tree: exp.Expr) -> str:
    return tree.sql(dialect="duckdb", unsupported_level=ErrorLevel.IGNORE)


TREES = [tree for case in CASES if (tree := read(case.text)) is not None]
LIKELY = [tree for case in ACCEPTED if (tree := read(case.text)) is not None]


def _parts() -> Parts:
    parts: dict[str, set[str]] = {"type": set(TYPES), "name": set(NAMES), "group": set(GROUPS)}
    for tree in LIKELY:
        for node in tree.walk():
            name = role(node)
            if name is not None:
                text = written(node)
                parts.setdefault(name, set()).update((text, QUALIFIER.sub("", text)))
    return {name: sorted(texts) for name, texts in parts.items()}


PARTS = _parts()
ALSO = {"value": ("column", "aggregate"), "column": ("column", "value"), "aggregate": ("value",), "group": ("column",)}


def part(source: random.Random, name: str, depth: int = 2) -> str:
    """Text for a hole: out of a case, or a template whose holes are filled in turn."""
    if depth > 0 and name in TEMPLATES and source.random() < 0.3:
        return HOLE.sub(lambda hole: part(source, hole.group(1), depth - 1), source.choice(TEMPLATES[name]))
    if name in ALSO and source.random() < 0.2:
        name = source.choice(ALSO[name])
    text = source.choice(PARTS[name])
    return HOLE.sub(lambda hole: part(source, hole.group(1), depth - 1), text)


def mutate_tree(source: random.Random, tree: exp.Expr) -> str:
    """One or two parts of the tree replaced by parts of the same role, from elsewhere or out of a template."""
    mutated = tree.copy()
    for _ in range(source.choice([1, 1, 2])):
        places = [
            (node, name) for node in mutated.walk() if node.parent is not None and (name := role(node)) is not None
        ]
        if not places:
            break
        node, name = source.choice(places)
        if name == "query":
            continue
        of_name = [written(other) for other, its in places if its == name]
        text = source.choice(of_name) if source.random() < 0.3 else part(source, name)
        if node.alias and isinstance(node.parent, exp.From | exp.Join) and source.random() < 0.8:
            text = f"{ALIAS.sub('', text)} AS {node.alias}"  # what the rest of the query calls it
        node.replace(exp.Var(this=text))
    return written(mutated)


def fill(source: random.Random, _: exp.Expr) -> str:
    return HOLE.sub(lambda hole: part(source, hole.group(1)), source.choice(WHOLE))


def regroup(source: random.Random, tree: exp.Expr) -> str:
    """GROUP BY with other keys, or as grouping sets."""
    text = written(tree)
    return re.sub(r"GROUP BY .*?(?=\)|HAVING|ORDER|$)", lambda _: f"GROUP BY {part(source, 'group')} ", text, count=1)


TREE_MUTATIONS: list[Callable[[random.Random, exp.Expr], str]] = [mutate_tree] * 6 + [fill, regroup]


def mutate(source: random.Random) -> str:
    """A case, mutated: by words, or, more often, by parts of its tree."""
    if source.random() < 0.3:
        return mutate_words(source, source.choice(CASES).text)
    trees = LIKELY if source.random() < 0.7 else TREES
    return source.choice(TREE_MUTATIONS)(source, source.choice(trees))
