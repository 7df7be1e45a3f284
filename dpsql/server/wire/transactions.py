"""What a session answers by itself, as PostgreSQL would: BEGIN, SET, SHOW, DISCARD. Nothing of it reaches an engine."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from dpsql.errors import NotSupportedError, SqlError
from dpsql.server.wire.texts import tokens
from dpsql.sql.options import SETTINGS

IDLE, OPEN, FAILED = b"I", b"T", b"E"
VERSION = "15.0 (dpsql)"
SHOWN = {
    "server_version": VERSION,
    "server_version_num": "150000",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "datestyle": "ISO, MDY",
    "timezone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "intervalstyle": "postgres",
    "is_superuser": "off",
    "transaction_isolation": "read committed",
    "transaction isolation level": "read committed",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "transaction_read_only": "off",
    "search_path": '"$user", public',
    "session_authorization": "",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "extra_float_digits": "1",
    "application_name": "",
    "bytea_output": "hex",
    "statement_timeout": "0",
    "lc_collate": "C",
}
UTF8 = ("utf8", "unicode", "sqlascii")  # the last one: whatever the bytes are
_TIME = re.compile(r"([0-9]{1,10}) ?(us|ms|s|min|h|d)?")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
REPORTED = {
    "server_version": "server_version",
    "server_encoding": "server_encoding",
    "client_encoding": "client_encoding",
    "DateStyle": "datestyle",
    "TimeZone": "timezone",
    "integer_datetimes": "integer_datetimes",
    "standard_conforming_strings": "standard_conforming_strings",
    "IntervalStyle": "intervalstyle",
    "is_superuser": "is_superuser",
}


@dataclass(slots=True)
class Reply:
    """tag: of CommandComplete. shown: a name and its value, one row of one column. statements, cursors: those to close
    ("all", or a name). resets: dpsql's own settings become what they were."""

    tag: str
    shown: tuple[str, str] | None = None
    statements: str = ""
    cursors: str = ""
    resets: bool = False


@dataclass(slots=True)
class Transaction:
    """There are none: a charge is durable at once. Its status is kept as clients expect it. begun: the settings that the
    connection began with, which RESET goes back to."""

    status: bytes = IDLE
    settings: dict[str, str] = field(default_factory=dict)
    begun: dict[str, str] = field(default_factory=dict)

    def begin(self, settings: Mapping[str, str]) -> None:
        """Each as if by SET."""
        for name, value in settings.items():
            self._keep(name, value)
        self.begun = dict(self.settings)

    @property
    def timeout(self) -> float | None:
        """The seconds after which a statement is stopped, as if it had been cancelled."""
        return _seconds(self.settings.get("statement_timeout", "0")) or None

    def reply(self, sql: str) -> Reply | None:
        """The answer to a statement of the session; None for any other."""
        words = [token.word or token.text for token in tokens(sql)]
        match words:
            case ["begin" | "start", *_]:
                self.status = OPEN
                return Reply("BEGIN")
            case ["rollback" | "abort", *rest] if "to" not in rest:
                self.status = IDLE
                return Reply("ROLLBACK")
            case ["rollback", *_]:
                self.status = OPEN if self.status == FAILED else self.status
                return Reply("ROLLBACK")
            case ["commit" | "end", *_]:
                failed, self.status = self.status == FAILED, IDLE
                return Reply("ROLLBACK" if failed else "COMMIT")
            case _:
                return self._setting(words)

    def _setting(self, words: list[str]) -> Reply | None:
        match words:
            case ["reset", "all"] | ["discard", "all"]:
                self.settings = dict(self.begun)
                kept = "all" if words[0] == "discard" else ""
                tag = "DISCARD ALL" if words[0] == "discard" else "RESET"
                return Reply(tag, statements=kept, cursors=kept, resets=True)
            case ["reset", name, *_]:
                self._reset(name)
                return None if is_own(name) else Reply("RESET")
            case ["discard", what, *_]:
                return Reply(f"DISCARD {what.upper()}")
            case ["savepoint" | "release" | "listen" | "unlisten" | "deallocate" as first, *rest]:
                return _plain(first, rest)
            case ["close", name, *_]:
                return Reply("CLOSE CURSOR", cursors=name)
            case ["show", "tables" | "budget" | "all", *_]:
                return None
            case ["show", name] if is_own(name):
                return None
            case ["show", *rest]:
                return self._show(" ".join(rest))
            case ["set", "transaction" | "constraints" | "role", *_]:
                return Reply("SET")
            case ["set", *rest]:
                return self._set([word for word in rest if word not in ("session", "local")])
            case _:
                return None

    def _set(self, rest: list[str]) -> Reply | None:
        match rest:
            case ["names", *value]:
                name = "client_encoding"
            case ["time", "zone", *value]:
                name = "timezone"
            case [name, _, *value] if not is_own(name):
                pass
            case _:
                return None  # one of dpsql's own
        self._keep(name, " ".join(value).strip("'"))
        return Reply("SET")

    def _keep(self, name: str, value: str) -> None:
        """A setting that PostgreSQL has; refused where it would have to act, and does not."""
        if value.lower() == "default":
            self._reset(name)
        elif name == "client_encoding":
            if re.sub("[^a-z0-9]", "", value.lower()) not in UTF8:
                raise NotSupportedError("texts are sent as UTF-8", code=122, fix="SET client_encoding = 'UTF8'.")
        elif value:
            if name == "statement_timeout":
                _seconds(value)
            self.settings[name] = value

    def _reset(self, name: str) -> None:
        self.settings.pop(name, None)
        if name in self.begun:
            self.settings[name] = self.begun[name]

    def _show(self, name: str) -> Reply:
        value = self.settings.get(name, SHOWN.get(name))
        if value is None:
            raise SqlError(
                f"there is no setting {name[:60]!r}", code=119, fix="SHOW BUDGET and SHOW TABLES are dpsql's."
            )
        return Reply("SHOW", shown=(name.replace(" ", "_"), value))


def is_own(name: str) -> bool:
    """Whether it is dpsql's, or was meant to be: what is misspelt must not pass for a setting of PostgreSQL's."""
    return name in SETTINGS or (name not in SHOWN and bool(difflib.get_close_matches(name, SETTINGS, 1, 0.8)))


def _seconds(value: str) -> float:
    """As PostgreSQL reads a time: of a number alone in milliseconds."""
    match = _TIME.fullmatch(value)
    if match is None:
        raise SqlError(f"{value[:40]!r} is not a time", code=119, fix="SET statement_timeout = '30s'.")
    return int(match[1]) * _UNITS[match[2] or "ms"]


def _plain(first: str, rest: list[str]) -> Reply:
    name = next((word for word in rest if word != "prepare"), "all")
    match first:
        case "deallocate":
            return Reply("DEALLOCATE", statements=name)
        case _:
            return Reply(first.upper())
