"""`dpsql help [TOPIC]`: the topics that are shipped with the package."""

from __future__ import annotations

import sys

import click

from dpsql.shell.commands import CONTEXT
from dpsql.shell.stderr import Exit, coloured, is_terminal


@click.command("help", context_settings=CONTEXT)
@click.argument("topic", required=False)
def help(topic: str | None) -> int:  # noqa: A001 - the command's name
    """Read about a topic, an error code, a function or a command."""
    from dpsql.help.topics import overview, topic_text

    show(overview() if topic is None else topic_text(topic))
    return Exit.OK


def show(markdown: str) -> None:
    """Set for reading on a terminal, as it is elsewhere."""
    if not is_terminal(sys.stdout):
        print(markdown)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(force_terminal=coloured(sys.stdout))
    console.width = min(console.width, 100)
    console.print(Markdown(markdown))
