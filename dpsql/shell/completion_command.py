"""`dpsql completion SHELL`: the script that makes bash, zsh or fish complete dpsql's commands and options."""

from __future__ import annotations

import click

from dpsql.shell.commands import CONTEXT
from dpsql.shell.stderr import Exit


@click.command(context_settings=CONTEXT)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> int:
    """Print the completion script for your shell.

    \b
    bash:  eval "$(dpsql completion bash)"      in ~/.bashrc
    zsh:   eval "$(dpsql completion zsh)"       in ~/.zshrc
    fish:  dpsql completion fish | source       in config.fish
    """
    from click.shell_completion import get_completion_class

    from dpsql.shell.commands import root

    completion_class = get_completion_class(shell)
    assert completion_class is not None
    print(completion_class(root, {}, "dpsql", "_DPSQL_COMPLETE").source())
    return Exit.OK
