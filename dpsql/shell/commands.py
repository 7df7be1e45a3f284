"""The commands and where each lives: imported when it is called, so that `dpsql --help` is quick."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path

import click

COMMANDS: Mapping[str, str] = {
    "query": "query_command",
    "explain": "query_command",
    "check": "check_command",
    "advise": "advise_command",
    "init": "init_command",
    "budget": "budget_commands",
    "releases": "ledger_commands",
    "ledger": "ledger_commands",
    "void": "ledger_commands",
    "serve": "serve_command",
    "user": "user_commands",
    "demo": "demo_command",
    "help": "help_command",
    "completion": "completion_command",
}
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
EXITS = (
    "\b\nExit codes: 0 ok, 1 refused or failed, 2 usage, 3 metadata, 4 budget exhausted, 5 cannot open,\n"
    "70 a bug in dpsql, 130 interrupted."
)


def not_metadata(word: str) -> str:
    """What is wrong with a first word that is neither a command nor a file that could be metadata."""
    from dpsql.shell.stderr import did_you_mean

    path = Path(word)
    if path.exists() or path.suffix or len(path.parts) > 1:  # an address of a server has several parts
        return ""
    files = [str(file) for folder in ("", "metadata") for file in sorted(Path(folder).glob("*.y*ml"))]
    near = next((f' Did you mean "{file}"?' for file in files if Path(file).stem == word), "")
    return f'there is no command and no file "{word[:60]}".' + (near or did_you_mean(word, (*COMMANDS, *files)))


class DefaultGroup(click.Group):
    """A group whose first word may be left out: then it is `default`'s."""

    default = ""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = {option for parameter in self.get_params(ctx) for option in parameter.opts}
        if not args or (args[0] not in self.list_commands(ctx) and args[0] not in options):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


class Root(DefaultGroup):
    default = "query"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            problem = not_metadata(args[0])
            if problem:
                raise click.UsageError(problem, ctx)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"dpsql.shell.{COMMANDS[cmd_name]}")
        command = getattr(module, cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage("dpsql", "[METADATA] [SQL | -c SQL | -f FILE]…", "Usage: ")
        formatter.write_usage("dpsql", "COMMAND …", "       ")


@click.command(cls=Root, context_settings=CONTEXT, epilog=EXITS)
@click.version_option(package_name="dpsql", message="dpsql %(version)s")
def root() -> None:
    """Ask tables about people: SQL whose answers are differentially private.

    \b
    dpsql demo                          a shell over made-up data
    dpsql metadata/hospital.yaml        a shell over yours
    dpsql metadata/hospital.yaml -c "SELECT COUNT(*) FROM visits"
    """
