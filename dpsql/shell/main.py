"""The entry point: `dpsql`. It turns whatever goes wrong into one message and one exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; answers the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in (["--version"], ["-V"]):
        from dpsql import __version__

        print(f"dpsql {__version__}")
        return 0
    try:
        return _run(given)
    except BrokenPipeError:  # `dpsql … | head`: whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(given: list[str]) -> int:
    import click

    from dpsql.shell import voice
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
    except (click.Abort, KeyboardInterrupt):
        return voice.fail(KeyboardInterrupt())
    except BrokenPipeError:
        raise
    except Exception as error:
        return voice.fail(error)


if __name__ == "__main__":
    sys.exit(main())
