"""One thing, one word: what the glossary says is so, and what users read has none of the words it replaces.

The tests read the package's strings except docstrings (messages, EXPLAIN, options), the docstrings that click prints, the
help pages and the other Markdown pages without their recorded blocks, the YAML schema, and the names in tests and
benchmarks.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from dpsql.help.topics import HERE, TOPICS, glossary_entry, topic_text
from dpsql.sql.options import OPTIONS, SETTINGS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dpsql"
PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "benchmarks/RESULTS.md")),
    *(PACKAGE / "README.md", *(PACKAGE / "decisions").glob("*.md")),
)
ENTRIES = {
    entry.partition("\n")[0]: entry
    for entry in re.split(r"^## ", (HERE / "glossary.md").read_text(encoding="utf-8"), flags=re.M)[1:]
}
TERMS = (
    *(
        "privacy unit",
        "neighbouring data",
        "contribution limit",
        "clipping bounds",
        "group keys",
        "partition selection",
    ),
    *("threshold", "measurement", "sensitivity", "mechanism", "noise scale", "confidence interval", "post-processing"),
    *("budget", "accountant", "epsilon", "delta", "rho", "release", "repeat", "exact mode", "replay"),
)

# What was once written, and what is written instead.
BANNED: Mapping[str, str] = {
    r"for nothing": "at no cost, free",
    r"(?:comes?|came) on top": "does not include",
    r"in order(?=$|[;,.)]| head)": "OK",
    r"(?<!out)\bstands?\b": "is",
    r"held within": "clipping bounds, clipped to",
    r"\b(?:un)?clamp(?:s|ed|ing)?\b": "clip, clipping bounds",
    r"95 % within\b": "95 % confidence interval",
    r"95 % intervals?\b": "95 % confidence interval",
    r"\breckon(?:s|ed|ing)?\b": "compute",
    r"that (?:does|do) not say\b": "by default",
    r"\bif not said\b": "by default",
    r"\bis (?:the (?:owner|metadata)'s|yours) to say\b": "the owner decides",
    r"\bfor whoever asks\b": "for analysts",
    r"\bexchange them\b": "swap them",
    r"\b(?:is|are|was|be) told\b": "plain verbs",
    r"\bnotion of accounting\b": "accountant",
    r"\bkey selection\b": "partition selection",
    r"Compared are": "Neighbouring data",
    r"Where rows tie": "If rows tie",
    r"95 % of the time": "95 % confidence interval",
    r"worked out": "computed",
    r"(?<![Tt]here )\bis no (?!longer\b|wider\b|better\b|worse\b)": "is not a",
    r"(?<![Tt]here )\bare no (?!longer\b|\s+longer\b)": "are not",
    r"\b(?:[Ee]xpected|[Ss]hown|[Ss]een|[Ee]qual|[Rr]emoved) (?:is|are) (?:a|the|plans|rows)\b": "subject, verb",
    r"\bcatalogs?\b": "metadata",
    r"\bthe query around it\b": "the outer query",
    r"\bwhatever (?:name|form|interface|links)\b": "any name",
    r"\bfrom 0 on\b": "non-negative, of at least 0",
    r"\bone over the number\b": "1 divided by the number",
    r"\bmend(?:s|ed)?\b": "correct",
    r"\b(?:is|are) begun\b|\b[Bb]egins? (?:its|a|the) (?:metadata|file)\b": "start",
    r"\bin all (?:this|ε)\b": "in total",
    r"\bsays? (?:no|a|another) (?:δ|delta|format)\b": "has no δ, names a format",
    r"\b(?:folder|spelling|object|value|result|weight|rule) a (?:session|statement|line|unit|query)\b": "per line, for each",
    r"\bbehind (?:a function|a table|a set operation|them)\b": "after",
    r"\bgo together\b": "can be combined",
    r"\bwithout regard to\b|\bwithout case\b": "ignoring case",
    r"\bis to be\b": "must be",
    r"\bby zero\b": "if y is 0",
    r"\bis a key already\b|\bexists already\b": "already exists",
    r"\bone person's alone\b|\bone unit's alone\b": "belongs to one unit alone",
}
# Texts in which a word of these has its plain meaning; each must occur, so that none outlives its reason.
ALLOWED = ("clamp_columns", "clamp_counts", "this alias db catalog joins", "this table db catalog")
# Pages about the code, in which the catalog is the package of that name.
ABOUT_CODE = ("dpsql/README.md", "dpsql/decisions/", "CONTRIBUTING.md")


def _shown(path: Path) -> Iterator[tuple[int, str]]:
    """A module's strings with their lines: f-strings in one piece, docstrings of click's commands, no other docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef():
                hidden |= {id(one.value) for one in node.body if isinstance(one, ast.Expr)}
                if isinstance(node, ast.FunctionDef) and any("command" in ast.dump(d) for d in node.decorator_list):
                    yield node.lineno, ast.get_docstring(node) or ""
            case ast.JoinedStr(values=values):
                hidden |= {id(value) for value in values}
                pieces = (str(v.value) if isinstance(v, ast.Constant) else "…" for v in values)
                yield node.lineno, "".join(pieces)
            case ast.Constant(value=str(text)) if id(node) not in hidden:
                yield node.lineno, text


def _prose(path: Path) -> Iterator[tuple[int, str]]:
    """A page by paragraphs, without the blocks that are played (they print what the strings say)."""
    text = re.sub(
        r"^```.*?^```$", lambda block: "\n" * block[0].count("\n"), path.read_text("utf-8"), flags=re.M | re.S
    )
    line = 1
    for paragraph in re.split(r"\n(?=\n)", text):
        yield line, re.sub(r"`[^`]*`", "`code`", re.sub(r"\n *", " ", paragraph))
        line += paragraph.count("\n") + 1


@cache
def texts() -> tuple[tuple[str, str], ...]:
    modules = [*PACKAGE.rglob("*.py")]
    pages = [*PAGES, *(path for path in HERE.glob("*.md") if path.stem != "glossary")]
    seen = [(path, line, text) for path in modules for line, text in _shown(path) if " " in text]
    seen += [(path, line, text) for path in pages for line, text in _prose(path)]
    return tuple((f"{path.relative_to(ROOT)}:{line}", text) for path, line, text in seen)


def _without_allowed(text: str) -> str:
    for words in ALLOWED:
        text = text.replace(words, "")
    return text


def findings(of: tuple[tuple[str, str], ...]) -> list[str]:
    return [
        f"{where}: “{hit[0]}” in “{text[max(0, hit.start() - 40) : hit.end() + 40]}”; write: {instead}"
        for where, text in ((where, _without_allowed(text)) for where, text in of)
        for pattern, instead in BANNED.items()
        for hit in re.finditer(pattern, text)
        if not (hit[0].startswith("catalog") and where.startswith(ABOUT_CODE))
    ]


def test_what_users_read_has_none_of_the_old_words() -> None:
    assert len(texts()) > 2500
    assert findings(texts()) == []


@pytest.mark.parametrize("words", ALLOWED)
def test_each_exception_is_needed(words: str) -> None:
    assert any(words in text for _, text in texts())


def test_an_old_word_is_found() -> None:
    old = "Each ± is about the noise alone; what limits leave out comes on top. Values are held within 0 to 1, for nothing."
    assert len(findings((("x.py:1", old),))) == 3
    assert len(findings((("x.py:1", "x is no column of the catalog: mend it"),))) == 3
    assert not findings(
        (("x.py:1", "there is no column x, and it is no longer there"), ("dpsql/README.md:1", "the catalog"))
    )
    assert findings((("x.py:1", "exam.yaml: dataset exam: in order"),)) and not findings((("x.py:1", "in order to"),))


def test_the_glossary_has_every_term() -> None:
    assert set(TERMS) == set(ENTRIES)
    assert "glossary" in TOPICS and "`glossary`" in (ROOT / "README.md").read_text(encoding="utf-8")
    for term, entry in ENTRIES.items():
        assert "- Also called: " in entry and len(entry.splitlines()[1].split()) > 5, term
        assert f"## {term}" in glossary_entry(term)
    assert "## clipping bounds" in topic_text("clamp") and "## contribution limit" in topic_text("cap")
    assert glossary_entry("no such word") == ""


def _listed(entry: str, label: str, form: str = r"`([^`]+)`") -> list[str]:
    line = re.search(rf"^- {label}: (.*)$", entry, re.M)
    return re.findall(form, line[1]) if line else []


def _properties(schema: object) -> Iterator[str]:
    match schema:
        case dict():
            yield from schema.get("properties", {})
            for value in schema.values():
                yield from _properties(value)
        case list():
            for value in schema:
                yield from _properties(value)


# Names that do not say what is found, or whose it is.
BANNED_NAMES = frozenset({"found", "own", "owner", "owners"})


@cache
def _identifiers(folder: str = "dpsql") -> frozenset[str]:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / folder).rglob("*.py"))
    names: set[str] = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        match node:
            case (
                ast.ClassDef(name=str(name))
                | ast.FunctionDef(name=str(name))
                | ast.Name(id=name)
                | ast.arg(arg=name)
                | ast.Attribute(attr=name)
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                names.add(name)
            case _:
                pass
    return frozenset(names)


@pytest.mark.parametrize("folder", ["dpsql", "tests", "benchmarks"])
def test_names_say_what_and_whose(folder: str) -> None:
    assert len(_identifiers(folder)) > 500
    assert _identifiers(folder) & BANNED_NAMES == set()


@pytest.mark.parametrize("term", TERMS)
def test_an_entry_names_what_there_is(term: str) -> None:
    entry = ENTRIES[term]
    schema = (ROOT / "metadata" / "schema.json").read_text(encoding="utf-8")
    assert set(_listed(entry, "YAML")) <= set(_properties(json.loads(schema)))
    assert set(_listed(entry, "OPTIONS")) <= {*OPTIONS, *SETTINGS}
    assert set(_listed(entry, "Code")) <= _identifiers()
    recorded = (ROOT / "tests" / "cases" / "plan" / "hospital.sql").read_text(encoding="utf-8")
    recorded += "\n".join(path.read_text(encoding="utf-8") for path in HERE.glob("*.md") if path.stem != "glossary")
    strings = "\n".join(text for _, text in texts())
    for phrase in _listed(entry, "EXPLAIN", r'"([^"]+)"'):
        assert phrase in recorded or re.sub(r"\d+", "…", phrase) in strings, phrase
    assert _listed(entry, "Code"), "name it"


# Terms that are ideas, not words of a message, have no entry here.
IN_MESSAGES = (
    *("privacy unit", "contribution limit", "clipping bounds", "public key", "Partition selection", "threshold"),
    *("95 % confidence interval", "noise of scale", "budget", "accountant", "Neighbouring data", "a repeat"),
)


@pytest.mark.parametrize("words", IN_MESSAGES)
def test_messages_use_the_words(words: str) -> None:
    assert any(words in text for where, text in texts() if where.partition(":")[0].endswith(".py"))


IN_SCHEMA = (
    *("privacy unit", "contribution limit", "clipping bound", "public group keys", "partition selection"),
    *("threshold", "accountant"),
)


@pytest.mark.parametrize("words", IN_SCHEMA)
def test_the_schema_explains_with_the_words(words: str) -> None:
    assert words in (ROOT / "metadata" / "schema.json").read_text(encoding="utf-8")
