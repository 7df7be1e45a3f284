"""The entry point: `dpsql`. It turns whatever goes wrong into one message and one exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; answers the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in (["--version"], ["-V"]):
        from dpsql import __version__

        print(f"dpsql {__version__}")
        return 0
    try:
        with _signals():
            return _run(given)
    except BrokenPipeError:  # `dpsql … | head`: the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


@contextmanager
def _signals() -> Iterator[None]:
    """SIGTERM, SIGHUP and SIGQUIT end the command as an exit does: temporary folders are removed, files are closed, and no
    core is dumped, which would be the process's memory in a file."""
    before: dict[int, Any] = {}

    def leave(number: int, frame: object) -> None:
        for one in before:
            signal.signal(one, signal.SIG_IGN)  # the clean-up must not be interrupted
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):  # Windows has no SIGHUP; a process started by nohup ignores it
        number = getattr(signal, name, None)
        if (
            number is not None
            and threading.current_thread() is threading.main_thread()
            and signal.getsignal(number) == signal.SIG_DFL
        ):
            before[number] = signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run(given: list[str]) -> int:
    import click

    from dpsql.errors import Error
    from dpsql.shell import stderr as voice
    from dpsql.shell.commands import root

    try:
        if "_DPSQL_COMPLETE" in os.environ:  # the user's shell asks for completions: click answers and exits
            root.main(args=given, prog_name="dpsql")
        # Not root.main(): it ends the process with 1 when a pipe closes.
        with root.make_context("dpsql", given) as context:
            answer = root.invoke(context)
        sys.stdout.flush()
        return int(answer or 0)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as problem:
        voice.say(problem.format_message())
        return voice.Exit.USAGE
    except click.ClickException as problem:
        at = getattr(problem, "ctx", None)
        return voice.usage(problem.format_message(), "dpsql" if at is None else at.command_path)
    except Error as error:  # before KeyboardInterrupt: an interrupted query is both, and says what it cost
        return voice.fail(error)
    except (click.Abort, KeyboardInterrupt):
        return voice.fail(KeyboardInterrupt())
    except BrokenPipeError:
        raise
    except Exception as error:
        return voice.fail(error)


if __name__ == "__main__":
    sys.exit(main())
