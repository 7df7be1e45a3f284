"""What an owner writes of a PostgreSQL database: postgresql://[user@][host][:port]/database[?parameter=value&…].

No password is taken, and none is repeated: messages quote nothing of an address that is wrong.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote_to_bytes

from dpsql.catalog.model import ServerAddress

SCHEMES = ("postgresql", "postgres")
# libpq's, as far as they say where the server is and how it is known; none that sets what a statement means, or a secret.
PARAMETERS = tuple(
    """
    service host hostaddr port user sslmode sslrootcert sslcert sslkey sslcrl passfile connect_timeout target_session_attrs
    channel_binding gssencmode krbsrvname require_auth application_name keepalives keepalives_idle ssl_min_protocol_version
    """.split()
)
SECRETS = ("password", "sslpassword")
FORM = "write postgresql://user@host:5432/database, or postgresql:///?service=NAME"
_ADDRESS = re.compile(
    r"[a-z]+://(?:(?P<login>[^/?#]*)@)?(?P<host>[^/?#@]*)(?:/(?P<database>[^/?#@]*))?(?:\?(?P<query>[^#]*))?"
)
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.%]+\]|[^:\[\],]*)(?::(?P<port>[0-9]{1,5}))?")


class AddressError(ValueError):
    """what is wrong, and the fix. secret: there is a password in it."""

    def __init__(self, what: str, fix: str, *, secret: bool = False) -> None:
        super().__init__(what)
        self.what, self.fix, self.secret = what, fix, secret


def is_address(text: str) -> bool:
    return text.partition("://")[0].lower() in SCHEMES and "://" in text


def scheme_of(text: str) -> str:
    """What may be said of a text with :// in it: what follows may hold a password."""
    return text.partition("://")[0]


def holds_password(text: str) -> bool:
    """Whether a path looks like an address with a password, whose :// is misspelt: messages must not quote it."""
    return re.search(r":[^/]*@", text) is not None


def read_address(text: str, *, password_file: Path | None = None, timeout: int | None = None) -> ServerAddress:
    """AddressError for what is none; nothing of it quotes the text."""
    scheme, rest = text.partition("://")[0].lower(), text.partition("://")[2]
    match = _ADDRESS.fullmatch(f"{scheme}://{rest}")
    if match is None or not text.isprintable():
        secret = "@" in rest and ":" in rest.rpartition("@")[0]
        raise _with_password() if secret else AddressError("this is not an address of a PostgreSQL database", FORM)
    login = match["login"] or ""
    if ":" in login:
        raise _with_password()
    values: dict[str, str] = {}
    _take(values, "user", login)
    host = _HOST.fullmatch(match["host"])
    if host is None:
        raise AddressError("the host and port of the address cannot be read", FORM)
    _take(values, "host", host["name"].removeprefix("[").removesuffix("]"))
    _take(values, "port", host["port"] or "")
    _take(values, "dbname", match["database"] or "")
    for name, value in _parameters(match["query"] or ""):
        if name in values:
            raise AddressError(f"the address says {name} twice", FORM)
        _take(values, name, value)
    if "dbname" not in values and "service" not in values:
        raise AddressError("the address names no database", FORM)
    database = values.pop("dbname", None)
    return ServerAddress(
        database=database,
        parameters=tuple(sorted(values.items())),
        password_file=password_file,
        timeout=timeout or 3600,
    )


def _with_password() -> AddressError:
    return AddressError(
        "the address has a password in it",
        "remove it, and change it, for it was written down; PGPASSWORD, ~/.pgpass, a service file or password_file: say it",
        secret=True,
    )


def _parameters(query: str) -> list[tuple[str, str]]:
    pairs = []
    for part in query.split("&") if query else ():
        name, equals, value = part.partition("=")
        if name in SECRETS:
            raise _with_password()
        if name not in PARAMETERS or not equals:
            known = name if name.isascii() and name.isidentifier() and len(name) <= 40 else "one"
            raise AddressError(
                f"the address has a parameter that is not taken: {known}", f"known: {' '.join(PARAMETERS)}"
            )
        pairs.append((name, value))
    return pairs


def _take(values: dict[str, str], name: str, value: str) -> None:
    if not value:
        return
    try:
        decoded = unquote_to_bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        decoded = "\0"
    if "\0" in decoded or not decoded.isprintable():
        raise AddressError(f"the address has a {name} that is not plain text", FORM)
    if name == "user" and ":" in decoded:
        raise _with_password()
    if name == "host" and "," in decoded:
        raise AddressError("the address names several hosts", "name one: they could be different data")
    values[name] = decoded
