"""The blocks of README.md and dpsql/help/*.md, played again. `python -m tests.conformance.playing FILE…` writes what comes
out back into the files.

    ```console        $ dpsql … with its output, exactly
    ```console noisy  the same, but for its numbers
    ```session noisy  a shell: prompts, statements, output; the first line is the `$ dpsql` that opened it
    ```sql            statements that the hospital sample plans (nothing is charged)
    ```pycon noisy    a Python session at >>>, all of a file one after another; without `noisy` exactly
    ```python         runs, all blocks of a file after one another
    ```yaml           what begins with `dataset:` is a catalog in order; with a path behind `yaml` it becomes that file
    ```postgres       is run by the database's superuser (a file with such a block has a server, hospital_server.py)

The blocks of one file are played in order in one folder that has the samples in metadata/ and data/.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import dpsql
from dpsql.shell import prompt
from dpsql.shell.main import main
from tests.conformance import python_session
from tests.conformance.hospital_server import hospital, typed_into_psql
from tests.engines.postgres import Server, running

ROOT = Path(__file__).parents[2]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "dpsql" / "help").glob("*.md")))
_BLOCK = re.compile(r"^```(?P<kind>[a-z]+)(?P<rest>[^\n]*)\n(?P<body>.*?)^```$", re.M | re.S)
_PROMPT = re.compile(r"^(?:\w+ \((?:ε [\d.]+ left|no budget)\)>| +\.\.\.>) ?", re.M)
# Made by other means: make needs the network, and `make test` would run itself.
NOT_PLAYED = ("make", "git", "pip", "cd", "python", "source")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    kind: str
    rest: str
    body: str
    line: int
    start: int
    end: int

    @property
    def noisy(self) -> bool:
        return "noisy" in self.rest


def blocks(text: str) -> list[Block]:
    return [
        Block(
            kind=match["kind"],
            rest=match["rest"].strip(),
            body=match["body"],
            line=text.count("\n", 0, match.start()) + 1,
            start=match.start("body"),
            end=match.end("body"),
        )
        for match in _BLOCK.finditer(text)
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextlib.contextmanager
def terminal() -> Iterator[Terminal]:
    """stdout and stderr together, as on a screen of 100 columns without colours."""
    screen = Terminal()
    settings = {"NO_COLOR": "1", "COLUMNS": "100", "LINES": "40"}
    with (
        mock.patch.dict(os.environ, settings),
        mock.patch.object(sys, "stdin", Terminal()),
        contextlib.redirect_stdout(screen),
        contextlib.redirect_stderr(screen),
    ):
        yield screen


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder with all samples, as a checkout has them after `make samples`."""
    from dpsql.samples.prepare import prepare

    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="dpsql-docs-") as name:
        for sample in ("hospital", "student", "exam"):
            prepare(sample, Path(name))
        shutil.copy(ROOT / "metadata" / "student_smartnoise.yaml", Path(name) / "metadata")
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def console(body: str) -> str:
    """The block's commands with what they put on the screen now."""
    played: list[str] = []
    for line in body.splitlines():
        if not line.startswith("$ "):
            continue
        words = shlex.split(line[2:], comments=True)
        if words[0] != "dpsql":
            raise AssertionError(f"only dpsql is played: {line}")
        with terminal() as screen:
            code = main(words[1:])
        played += [line, *screen.getvalue().splitlines()]
        if code and "# exit" in line:
            assert line.endswith(f"# exit {int(code)}"), (line, code)
    return "".join(f"{line.rstrip()}\n" for line in played)


def is_played(body: str) -> bool:
    commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
    return not any(command.split()[0] in NOT_PLAYED for command in commands)


def session(body: str) -> str:
    """A shell session: what stands behind a prompt is typed, everything else is what came out."""
    first, _, rest = body.partition("\n")
    typed = _entries(rest)
    with terminal() as screen:
        screen.write(first + "\n")

        def read_line(asked: str, begun: str) -> str:
            if not typed:
                raise EOFError
            text = typed.pop(0)
            lines = text.split("\n")
            margin = "...> ".rjust(len(asked))
            screen.write(asked + ("\n" + margin).join(lines) + "\n")
            return text

        with mock.patch.object(prompt, "terminal_reader", lambda shell: read_line):
            main(shlex.split(first[2:])[1:])
    return "".join(f"{line.rstrip()}\n" for line in screen.getvalue().splitlines())


def _entries(text: str) -> list[str]:
    entries: list[str] = []
    for line in text.splitlines():
        match = _PROMPT.match(line)
        if match is None:
            continue
        if match[0].lstrip().startswith("...>") and entries:
            entries[-1] += "\n" + line[match.end() :]
        elif line[match.end() :]:
            entries.append(line[match.end() :])
    return entries


def masked(text: str) -> list[str]:
    """Lines without what noise changes: numbers, the widths that follow, and the note on noise larger than a number."""
    text = re.sub(r"\b[0-9a-f]{64}\b", "0", text)
    kept = (line for line in text.splitlines() if not line.strip().startswith("the noise is larger than"))
    lines = [re.sub(r"-?\d[\d.]*(?:e[+-]?\d+)?", "0", line) for line in kept]
    return [re.sub(r"(─|█|├|┼|┤|-| )+", lambda m: m[0][0] if m[0][0] in "─- " else " ", line).strip() for line in lines]


PLAYED = ("console", "session", "pycon")


def play(block: Block, names: dict[str, object]) -> str:
    """names: what the Python sessions of the file have defined so far."""
    match block.kind:
        case "pycon":
            return python_session.play(block.body, names)
        case "session":
            return session(block.body)
        case _:
            return console(block.body)


def close(names: dict[str, object]) -> None:
    """The connections that Python sessions left open."""
    for value in names.values():
        if isinstance(value, dpsql.Connection):
            value.close()


def needs_server(text: str) -> bool:
    return any(block.kind == "postgres" for block in blocks(text))


def prepare_for(block: Block, server: Server | None) -> None:
    """What a block does that shows nothing."""
    if block.kind == "postgres" and server is not None:
        typed_into_psql(server, block.body)
    elif block.kind == "yaml" and block.rest:
        Path(block.rest).write_text(block.body, encoding="utf-8")


def update(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    pieces: list[str] = []
    at = 0
    names: dict[str, object] = {}
    with contextlib.ExitStack() as opened:
        here, server = opened.enter_context(folder()), None
        if needs_server(text):
            server = opened.enter_context(running())
            opened.enter_context(hospital(server, here))
        for block in blocks(text):
            prepare_for(block, server)
            if block.kind in PLAYED and is_played(block.body):
                played = play(block, names)
                if block.noisy and masked(played) == masked(block.body):
                    continue  # other noise is no news
                pieces += [text[at : block.start], played]
                at = block.end
    close(names)
    path.write_text("".join([*pieces, text[at:]]), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or DOCUMENTS:
        update(Path(name).absolute())
