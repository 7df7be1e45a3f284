"""A connection to PostgreSQL. What libpq says of a failure goes to the owner alone; the password goes nowhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dpsql.engine.sources import Address
from dpsql.errors import SourceError

if TYPE_CHECKING:
    import psycopg

OwnerLog = Callable[[str], None]
LEAST_VERSION = 140000
CONNECT_SECONDS = "10"
_REASONS = (  # what libpq or the server says in English
    ("password authentication failed", "the password that it was given is not the role's"),
    ("no pg_hba.conf entry", "its pg_hba.conf does not let the role in from here"),
    ("could not translate host name", "there is no host of that name"),
    ("failed to resolve host", "there is no host of that name"),  # psycopg's own words
    ("Connection refused", "no server answers there"),
    ("No such file or directory", "no server answers there"),
    ("timeout expired", "no answer came within ten seconds"),
    ("definition of service", "the service file has no such service"),
    ("too many", "it has as many connections as it may have"),
    ("starting up", "it is starting"),
    ("shutting down", "it is being stopped"),
    (" does not exist", "it has no such role or database"),
    ("pg_hba.conf rejects", "its pg_hba.conf does not let the role in from here"),
    ("not permitted to log in", "the role may not log in"),
    ("not currently accepting", "the database takes no connections"),
    ("invalid ", "libpq does not take a value in the address, such as its port"),
    ("standby mode", "it is not as target_session_attrs asks"),
    ("session is ", "it is not as target_session_attrs asks"),
)
_WAYS = "PGPASSWORD, ~/.pgpass, a service file, or `password_file:` beside `database:`"


def driver() -> Any:
    """psycopg. SourceError 314 where it is not installed."""
    try:
        import psycopg
    except ImportError:
        raise SourceError(
            "PostgreSQL needs the package psycopg", code=314, fix="Install it: pip install 'dpsql[postgres]'."
        ) from None
    return psycopg


def connect(address: Address, owner_log: OwnerLog | None) -> psycopg.Connection[Any]:
    """A connection without prepared statements, every statement a transaction of its own. SourceError 315, 319."""
    psycopg = driver()
    said, why = "", ""
    connection = None
    try:
        connection = psycopg.connect(
            **{"connect_timeout": CONNECT_SECONDS, "application_name": "dpsql"} | dict(address.parameters),
            **_password(address),
            client_encoding="UTF8",
            autocommit=True,
            prepare_threshold=None,
            cursor_factory=psycopg.RawCursor,
        )
    except (psycopg.Error, OSError, ValueError) as error:  # the message names hosts and users
        said, why = f"{type(error).__name__}: {error}", _why(error)
    if connection is None:
        if owner_log is not None:
            owner_log(said)
        logged = "" if owner_log is None else " Details are in the owner's log."
        raise SourceError(
            f"the PostgreSQL database of `source:` cannot be connected to{why}",
            code=315,
            fix=f"Check it with psql; a password comes from {_WAYS}.{logged}",
        )
    _check_server(connection)
    return connection  # type: ignore[no-any-return]  # psycopg is imported where it is needed


def _password(address: Address) -> dict[str, str]:
    if address.password_file is None:
        return {}
    try:
        lines = address.password_file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    if not lines or not lines[0]:
        raise SourceError(
            f"{address.password_file} cannot be read, or its first line is empty",
            code=315,
            fix="Write the password, alone, into its first line.",
        ) from None
    return {"password": lines[0]}


def _why(error: BaseException) -> str:
    """What may be told of the failure: none of libpq's words, which name hosts, roles and databases."""
    state, said = getattr(error, "pgconn", None), str(error)
    if state is not None and getattr(state, "needs_password", False):
        return ": it asks for a password, and none was found"
    return next((f": {why}" for words, why in _REASONS if words in said), "")


def _check_server(connection: psycopg.Connection[Any]) -> None:
    version, encoding = connection.info.server_version, connection.info.parameter_status("server_encoding")
    if version >= LEAST_VERSION and encoding == "UTF8":
        return
    connection.close()
    raise SourceError(
        f"the server is PostgreSQL {version // 10000} with a database in {encoding}",
        code=319,
        fix="dpsql reads PostgreSQL 14 and later, and databases in UTF8.",
    )
