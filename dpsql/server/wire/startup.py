"""What a client asks for in its first packet: settings, as if it had said SET for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dpsql.errors import NotSupportedError, SqlError
from dpsql.plan.dialects.literals import text
from dpsql.server.wire.transactions import is_own

NO_SETTINGS = ("user", "database", "options", "replication")
_OPTION = re.compile(r"(?:\\.|\S)+", re.S)
_PLAIN = re.compile(r"[+-]?[\w.]+")


@dataclass(frozen=True, slots=True)
class Begin:
    """statements: dpsql's settings, for the worker. others: by name, for the session itself."""

    statements: tuple[str, ...] = ()
    others: Mapping[str, str] = field(default_factory=dict)


def begin(told: Mapping[str, str]) -> Begin:
    """As in PostgreSQL those of `options` come first, and what is said later counts. SqlError for what is no setting."""
    if told.get("replication", "off").lower() not in ("off", "false", "no", "0"):
        raise NotSupportedError("there is no replication here", code=122, fix="Connect without `replication`.")
    named = {name.lower(): value for name, value in _of_options(told.get("options", ""))}
    named |= {
        name.lower(): value for name, value in told.items() if name not in NO_SETTINGS and not name.startswith("_pq_.")
    }
    statements = tuple(f"SET {_name(name)} = {_value(value)}" for name, value in named.items() if is_own(name))
    return Begin(statements, {name: value for name, value in named.items() if not is_own(name)})


def _of_options(options: str) -> Iterator[tuple[str, str]]:
    """`-c name=value` and `--name=value`; a backslash keeps what follows it, a blank too."""
    words = iter([re.sub(r"\\(.)", r"\1", word, flags=re.S) for word in _OPTION.findall(options)])
    for word in words:
        said = next(words, "") if word == "-c" else word[2:] if word.startswith(("-c", "--")) else ""
        name, is_there, value = said.partition("=")
        if not name or not is_there:
            raise SqlError(
                f"the option {word[:40]!r} of the connection is not a setting", code=119, fix="Write -c name=value."
            )
        yield name.replace("-", "_"), value


def _name(name: str) -> str:
    return name if re.fullmatch(r"\w+", name) else '"' + name.replace('"', '""') + '"'


def _value(value: str) -> str:
    """A number or a word as it is; whatever else is a text."""
    return value if _PLAIN.fullmatch(value) else text(value)
