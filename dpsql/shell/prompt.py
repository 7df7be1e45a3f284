"""The prompt: multi-line editing, history, highlighting, completion. Ctrl-C clears the line or stops the query."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpsql.errors import Error, InterfaceError
from dpsql.shell.batch import run_item
from dpsql.shell.prompt_commands import Edit, Quit
from dpsql.shell.script import Item, aside, complete, items_of
from dpsql.shell.shell import Shell
from dpsql.shell.stderr import bug, coloured, fail, hint, say
from dpsql.sources.file_access import permitted

LEAVE = ("exit", "quit", "\\q", ".exit", ".quit")

ReadLine = Callable[[str, str], str]
"""(prompt, text that already stands there) → what was entered. EOFError at the end, KeyboardInterrupt on Ctrl-C."""


def loop(shell: Shell, read_line: ReadLine) -> None:
    """Read and run until the user leaves. Errors are printed, and the prompt comes back."""
    begun = ""
    shell.results.apart = False
    while True:
        try:
            text = read_line(prompt_of(shell), begun)
            begun = ""
            between = aside(text)
            if between is not None:
                begun = between[1]
                run_item(shell, Item(text=between[0], line=1, command=True))
                continue
            for item in items_of(text):
                run_item(shell, item)
        except Edit as edit:
            begun = edit.text
        except (Quit, EOFError):
            return
        except Error as error:  # before KeyboardInterrupt: an interrupted query is both, and says what it cost
            fail(error)
        except KeyboardInterrupt:
            begun = ""
        except BrokenPipeError:
            raise
        except Exception as error:  # a bug must not cost the user the session
            say(bug(error))


def prompt_of(shell: Shell) -> str:
    """`hospital (ε 9 left)> `"""
    left = shell.left.epsilon
    room = "no budget" if left is None else f"ε {left:g} left"
    return f"{shell.connection.catalog.dataset} ({room})> "


def welcome(shell: Shell) -> None:
    from dpsql import __version__

    catalog = shell.connection.catalog
    say(f"dpsql {__version__}, dataset {catalog.dataset}: {', '.join(t.name for t in catalog.tables)}")
    hint("A statement ends with ; — .help lists the commands, Tab completes, EXPLAIN costs nothing.")


def history_path(*, restricted: bool = False) -> Path | None:
    """$XDG_STATE_HOME/dpsql/history, readable by its owner alone; None where it cannot, or may not, be kept."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    try:
        path = Path(state).expanduser() / "dpsql" / "history"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        place = permitted(path, "write", restricted=restricted)
        os.close(os.open(place, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
    except (OSError, RuntimeError, InterfaceError):
        return None
    return path


def terminal_reader(shell: Shell, **session_arguments: Any) -> ReadLine:
    """Reads from a terminal with prompt_toolkit."""
    import sys

    from prompt_toolkit import PromptSession
    from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
    from prompt_toolkit.history import FileHistory, History, InMemoryHistory
    from prompt_toolkit.lexers import PygmentsLexer
    from pygments.lexers.sql import SqlLexer  # type: ignore[import-untyped]  # it has no types

    from dpsql.shell.completion import CatalogCompleter

    path = history_path(restricted=shell.restricted)
    history: History = InMemoryHistory() if path is None else FileHistory(str(path))
    session: PromptSession[str] = PromptSession(
        multiline=True,
        history=history,
        lexer=PygmentsLexer(SqlLexer) if coloured(sys.stdout) else None,
        completer=CatalogCompleter(shell),
        complete_while_typing=False,
        auto_suggest=AutoSuggestFromHistory(),
        key_bindings=_bindings(),
        prompt_continuation=lambda width, line, wrapped: " " * width if wrapped else "...> ".rjust(width),
        **session_arguments,
    )
    return lambda prompt, begun: session.prompt(prompt, default=begun)


def _bindings() -> Any:
    """Enter runs a finished statement and otherwise begins a new line; Alt-Enter always runs."""
    from prompt_toolkit.filters import has_completions, has_selection
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    bindings = KeyBindings()

    @bindings.add("enter", filter=~has_selection)
    def enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif complete(buffer.text) or not buffer.text.strip() or aside(buffer.text) is not None:
            buffer.validate_and_handle()
        elif buffer.document.current_line.strip().rstrip(";").lower() in LEAVE:
            event.app.exit(exception=EOFError)  # a user who wants to leave need not finish a statement first
        else:
            buffer.newline(copy_margin=False)

    @bindings.add("escape", "enter")
    def run(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @bindings.add("escape", filter=has_completions, eager=True)
    def close_menu(event: KeyPressEvent) -> None:
        event.current_buffer.cancel_completion()

    return bindings


def ask_on_terminal(question: str) -> bool:
    """Yes only if somebody types it."""
    from prompt_toolkit import prompt

    try:
        return prompt(question).strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        return False
