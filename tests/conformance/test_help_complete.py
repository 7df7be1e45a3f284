"""Everything a user can type or meet is documented, and what is made from the code's tables is up to date."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import dpsql
from dpsql import errors
from dpsql.aggregates import AGGREGATES
from dpsql.dbapi import Connection, Cursor
from dpsql.errors import InterfaceError
from dpsql.frames import PrivateFrame, Result
from dpsql.frames.column import PrivateColumn
from dpsql.frames.groups import PrivateGroups
from dpsql.functions import FUNCTIONS, REFUSED
from dpsql.help import reference
from dpsql.help.topics import HERE, TOPICS, overview, section, topic_text
from dpsql.metadata.columns import COLUMN_FIELDS
from dpsql.metadata.load import CATALOG_FIELDS
from dpsql.metadata.tables import TABLE_FIELDS
from dpsql.plan.proof import Rule
from dpsql.shell.commands import COMMANDS, root
from dpsql.shell.output import MODES
from dpsql.shell.prompt_commands import PROMPT_COMMANDS
from dpsql.shell.query_command import MODE_NAMES
from dpsql.shell.stderr import MEANINGS, Exit
from dpsql.sql.options import OPTIONS, SETTINGS

PACKAGE = Path(errors.__file__).parent


@pytest.mark.parametrize("topic", reference.TOPICS)
def test_made_topics_are_current(topic: str) -> None:
    """But for click's brackets around a choice that may be left out: [[a|b]] before 8.5."""
    written = (HERE / f"{topic}.md").read_text(encoding="utf-8")
    made = re.sub(r"\[(\[[a-z_|]+\])\]", r"\1", reference.text(topic))
    assert made == written, "run python -m dpsql.help.reference"


def codes() -> Iterator[tuple[int, str]]:
    """Every code in the tree: `code=103`, a class's `default_code`, and numbers handed on to a helper that raises."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            place = f"{path.name}:{getattr(node, 'lineno', 0)}"
            match node:
                case ast.keyword(arg="code", value=ast.Constant(value=int(number))):
                    yield number, place
                case ast.Assign(targets=[ast.Name(id="default_code")], value=ast.Constant(value=int(number))):
                    yield number, place
                case ast.arguments(kwonlyargs=names, kw_defaults=defaults):
                    for name, default in zip(names, defaults, strict=True):
                        if name.arg == "code" and isinstance(default, ast.Constant) and isinstance(default.value, int):
                            yield default.value, place


def test_every_error_code_is_documented() -> None:
    documented = dict(codes())
    assert len(documented) > 60  # the search finds them
    missing = {number: place for number, place in documented.items() if not section("errors", f"DPSQL-{number:03d}")}
    assert not missing, "add a section to dpsql/help/errors.md"


@pytest.mark.slow
def test_no_error_code_is_made_up() -> None:
    text = (HERE / "errors.md").read_text(encoding="utf-8")
    source = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    documented = re.findall(r"^## DPSQL-(\d{3}) ", text, re.M)
    assert documented == sorted(set(documented))
    assert [number for number in documented if not re.search(rf"\b{int(number)}\b", source)] == []


def test_codes_are_in_the_range_of_their_kind() -> None:
    assert {number // 100 for number, _ in codes()} <= {0, 1, 2, 3, 4, 5, 6, 7}


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(root)
    for name in COMMANDS:
        command = root.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", c) for inner, c in command.commands.items())


@pytest.mark.parametrize(
    ("name", "command"), list(commands()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_command_and_option_has_words(name: str, command: click.Command) -> None:
    assert command.help
    assert f"dpsql {name}" in (HERE / "commands.md").read_text(encoding="utf-8")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.opts


def test_every_word_has_help() -> None:
    for word in (*OPTIONS, *SETTINGS, *COMMANDS, *(a.name for a in AGGREGATES), *TOPICS):
        assert topic_text(word), word
    functions = topic_text("functions")
    assert [f.name for f in FUNCTIONS.values() if f.signature.replace("|", "\\|") not in functions] == []
    refusals = topic_text("refusals")
    assert [name for name in REFUSED if f"`{name}`" not in refusals] == []


def test_modes_and_the_shells_commands_are_documented() -> None:
    text = topic_text("shell")
    assert [mode.name for mode in MODES if f"| `{mode.name}` |" not in text] == []
    assert tuple(mode.name for mode in MODES) == MODE_NAMES
    made = topic_text("commands")
    assert [name for command in PROMPT_COMMANDS for name in command.names if name not in made] == []


INTERFACES: dict[str, tuple[type, ...]] = {
    "python": (Connection, Cursor),
    "frames": (PrivateFrame, PrivateColumn, PrivateGroups, Result),
}


@pytest.mark.parametrize("topic", INTERFACES)
def test_every_public_method_is_documented(topic: str) -> None:
    text = topic_text(topic)
    pep249 = {name for name in vars(Connection) if isinstance(getattr(Connection, name), type)}  # the exceptions
    for kind in INTERFACES[topic]:
        public = {name for name in dir(kind) if not name.startswith("_")} - pep249 - {"check_of", "over"}
        assert len(public) > 5
        assert [name for name in sorted(public) if not re.search(rf"\b{name}\b", text)] == [], kind


def test_every_keyword_of_the_interfaces_is_documented() -> None:
    for function, topic in ((dpsql.connect, "python"), (PrivateFrame.__init__, "frames")):
        words = [name for name in inspect.signature(function).parameters if name not in ("self", "metadata")]
        assert len(words) > 8 and [word for word in words if word not in topic_text(topic)] == []


def test_exit_codes_are_documented() -> None:
    assert set(MEANINGS) == set(Exit)
    text = topic_text("commands")
    assert all(f"| {int(code)} | {words} |" in text for code, words in MEANINGS.items())


def test_every_key_of_the_metadata_is_documented() -> None:
    text = topic_text("metadata")
    assert [key for key in CATALOG_FIELDS if f"`{key}`" not in text] == []
    assert [key for key in (*TABLE_FIELDS, *COLUMN_FIELDS) if key != "columns" and f"`{key}" not in text] == []


def test_a_word_finds_its_topic() -> None:
    assert topic_text("bounds").startswith("# Bounds")
    assert topic_text("DPSQL-103").startswith("## DPSQL-103 ")
    assert topic_text("103") == topic_text("dpsql-103")
    assert "AVG(x)" in topic_text("avg")
    assert "confirm_above" in topic_text("confirm_above")
    assert topic_text("demo").startswith("## demo")
    assert all(name in overview() for name in TOPICS)


def test_a_typo_suggests_the_topic() -> None:
    with pytest.raises(InterfaceError, match="no help") as caught:
        topic_text("bouns")
    assert 'Did you mean "bounds"?' in str(caught.value)


def test_help_names_no_topic_that_is_not_there() -> None:
    for path in (*HERE.glob("*.md"), PACKAGE.parent / "README.md"):
        for word in re.findall(r"`dpsql help ([\w-]+)`", path.read_text(encoding="utf-8")):
            assert word == "TOPIC" or topic_text(word), (path.name, word)


COUNTED = re.compile(r"^\|[^|]*\| (?P<files>`[^|]*`) \| (?P<lines>[\d,]+) \|$", re.M)


@pytest.mark.parametrize("path", [HERE / "proof.md", PACKAGE / "README.md"], ids=["proof", "map"])
def test_trusted_code_is_there_and_counted(path: Path) -> None:
    """Within a tenth: the figures are for readers, and need not change with every line."""
    rows = list(COUNTED.finditer(path.read_text(encoding="utf-8")))
    assert len(rows) >= 6
    for row in rows:
        files = [file for glob in re.findall(r"`([^`]+)`", row["files"]) for file in PACKAGE.parent.glob(glob)]
        assert len(files) >= row["files"].count("`") // 2, row[0]
        lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
        assert lines == pytest.approx(int(row["lines"].replace(",", "")), rel=0.1), row[0]


def test_the_proof_has_every_rule_of_the_kernel() -> None:
    text = (HERE / "proof.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z ]+)` \|", text, re.M) == [str(rule) for rule in Rule]
