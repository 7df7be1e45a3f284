"""The cell magic of notebooks: %load_ext dpsql, then %dpsql metadata/hospital.yaml and %%dpsql cells of SQL.

%dpsql metadata/hospital.yaml epsilon=0.5 delta=1e-9 analyst=ana    connect
%dpsql conn                                                         use a connection or frame of the notebook
%dpsql                                                              show the budget
%dpsql SELECT …                                                     run the line
%%dpsql [name]                                                      run the cell; keep the answer under the name
"""

from __future__ import annotations

import re
import shlex
from typing import Any

from dpsql.dbapi import Connection, connect
from dpsql.errors import Error, InterfaceError
from dpsql.frames import PrivateFrame

_TEXTS = ("analyst", "ledger", "temp_folder", "source", "memory_limit", "epsilon", "delta", "budget")

# Quoted text and comments, in which $name is no parameter; then $name.
_PARAMETER = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|\$(?P<name>[A-Za-z_]\w*)(?!\w*\$)", re.DOTALL
)


def _plain(value: object) -> object:
    """numpy's numbers as Python's."""
    item = getattr(value, "item", None)
    return item() if callable(item) and type(value).__module__ == "numpy" else value


class Magic:
    """One notebook's current connection."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._current: Connection[Any] | PrivateFrame | None = None

    def line(self, line: str) -> Any:
        """Connect, run a line of SQL, or show the budget.

        %dpsql metadata/hospital.yaml epsilon=0.5 delta=1e-9 analyst=ana    connect
        %dpsql conn                     use a connection or frame of the notebook
        %dpsql                          show the budget
        %dpsql SHOW ALL                 run the line

        Then cells that begin with %%dpsql are SQL.
        """
        begin = line.split(None, 2)
        if len(begin) > 1 and "=" not in begin[1]:
            return self.cell("", line)
        words = shlex.split(line)
        if words:
            self._current = self._named(words)
        return self._open().budget

    def cell(self, line: str, cell: str) -> Any:
        """Run the cell's SQL: %%dpsql shows the answer, %%dpsql name keeps it under the name.

        $name in the SQL is the value of the notebook's variable: WHERE age > $least. Re-running a cell is free where
        repeats are: over a frame, and over metadata with a version.
        """
        name = line.strip()
        if name and not name.isidentifier():
            raise InterfaceError(
                f"{name!r} is not the name of a variable", code=605, fix="Write %%dpsql or %%dpsql answer."
            )
        current = self._open()
        given = self._variables(cell)
        if isinstance(current, PrivateFrame):
            answer: Any = current.sql(cell, given)
        else:
            answer = current.execute(cell, given)
        if name:
            self._shell.push({name: answer})
            return None
        return answer if isinstance(current, PrivateFrame) or answer.description is not None else None

    def _variables(self, sql: str) -> dict[str, object] | None:
        """The notebook's variables that the SQL names as $name; None where it names none."""
        names = [match["name"] for match in _PARAMETER.finditer(sql) if match["name"] is not None]
        for name in names:
            if name not in self._shell.user_ns:
                raise InterfaceError(
                    f"the notebook has no variable {name!r}", code=605, fix=f"Set it in a cell before: {name} = 50."
                )
        return {name: _plain(self._shell.user_ns[name]) for name in names} or None

    def _named(self, words: list[str]) -> Connection[Any] | PrivateFrame:
        held = self._shell.user_ns.get(words[0])
        if isinstance(held, Connection | PrivateFrame) and len(words) == 1:
            return held
        options: dict[str, Any] = {}
        for word in words[1:]:
            option, sign, value = word.partition("=")
            if not sign or option not in _TEXTS:
                raise InterfaceError(f"there is no option {word!r}", code=605, fix=f"There are {', '.join(_TEXTS)}.")
            options[option] = float(value) if option == "budget" else value
        return connect(words[0], **options)

    def _open(self) -> Connection[Any] | PrivateFrame:
        if self._current is None:
            raise InterfaceError(
                "no metadata is open", code=601, fix="Write %dpsql metadata/hospital.yaml, or %dpsql conn."
            )
        return self._current


def register(shell: Any) -> None:
    """What `%load_ext dpsql` calls."""
    magic = Magic(shell)
    shell.register_magic_function(magic.line, magic_kind="line", magic_name="dpsql")
    shell.register_magic_function(magic.cell, magic_kind="cell", magic_name="dpsql")
    shell.set_custom_exc((Error,), _show_error)


def _show_error(shell: Any, kind: type[BaseException], error: BaseException, trace: Any, tb_offset: Any = None) -> None:
    """A refusal is an answer, not a crash: its four parts without a traceback."""
    import sys

    print(error, file=sys.stderr)
