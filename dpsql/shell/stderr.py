"""Everything dpsql says that is not data, and the exit codes. stdout is data; every other line goes through here."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from enum import IntEnum
from typing import TextIO

from dpsql import errors


class Exit(IntEnum):
    """The exit codes of every command."""

    OK = 0
    FAILED = 1
    USAGE = 2
    METADATA = 3
    BUDGET = 4
    CANNOT_OPEN = 5
    BUG = 70
    INTERRUPTED = 130


MEANINGS = {
    Exit.OK: "all went well",
    Exit.FAILED: "the query was refused, or it failed",
    Exit.USAGE: "the command line is wrong",
    Exit.METADATA: "the metadata is wrong",
    Exit.BUDGET: "the budget does not allow the query",
    Exit.CANNOT_OPEN: "the data or the ledger cannot be opened",
    Exit.BUG: "a bug in dpsql",
    Exit.INTERRUPTED: "interrupted with Ctrl-C",
}
INTERRUPTED_CODE = 503
LEDGER_STATES = (412, 423)  # the ledger is open and well, and says no


def exit_code(error: BaseException) -> Exit:
    """What the process answers when it ends with this."""
    match error:
        case KeyboardInterrupt():
            return Exit.INTERRUPTED
        case errors.Error() if error.number == INTERRUPTED_CODE:
            return Exit.INTERRUPTED
        case errors.CatalogError():
            return Exit.METADATA
        case errors.BudgetError():
            return Exit.BUDGET
        case errors.LedgerError() if error.number in LEDGER_STATES:
            return Exit.FAILED
        case errors.SourceError() | errors.LedgerError() | errors.TamperedLedger():
            return Exit.CANNOT_OPEN
        case errors.InternalError():
            return Exit.BUG
        case errors.Error():
            return Exit.FAILED
        case _:
            return Exit.BUG


def coloured(stream: TextIO) -> bool:
    """Colour and motion are for terminals, and not for those who said NO_COLOR (https://no-color.org)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def is_terminal(stream: TextIO) -> bool:
    return hasattr(stream, "isatty") and stream.isatty()


def say(line: str = "") -> None:
    print(line, file=sys.stderr, flush=True)


def hint(line: str) -> None:
    """Said in passing: dim on a terminal."""
    say(f"\x1b[2m{line}\x1b[0m" if coloured(sys.stderr) else line)


def warn(line: str) -> None:
    say(f"\x1b[33mwarning:\x1b[0m {line}" if coloured(sys.stderr) else f"warning: {line}")


def fail(error: BaseException) -> Exit:
    """Say what went wrong; answers the exit code."""
    code = exit_code(error)
    match error:
        case errors.Error():
            _fail_with_code(str(error))
        case KeyboardInterrupt():
            say("interrupted")
        case _:
            say(bug(error))
    return code


def _fail_with_code(text: str) -> None:
    first, newline, rest = text.partition("\n")
    code, space, what = first.partition("  ")
    if coloured(sys.stderr):
        first = f"\x1b[1;31m{code}\x1b[0m{space}\x1b[1m{what}\x1b[0m"
    say(first + newline + rest)


def bug(error: BaseException) -> str:
    """A bug, by its kind and place alone: what an unforeseen exception says might quote anything."""
    place = ""
    trace = error.__traceback__
    while trace is not None:
        place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return (
        f"DPSQL-001  a bug in dpsql: {type(error).__name__} at {place}\n"
        "Nothing was released by this statement; what it may have charged stays charged.\n"
        "Please report it with the command and the metadata, never with data."
    )


def usage(message: str, command: str = "dpsql") -> Exit:
    say(f"{command}: {message}")
    say(f"Try `{command} --help`.")
    return Exit.USAGE


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """' Did you mean "x"?', or nothing."""
    import difflib

    near = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    return f' Did you mean "{near[0]}"?' if near else ""
