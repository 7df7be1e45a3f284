"""Who may ask: accounts, their roles, tokens and passwords, in one file beside the ledger."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from dpsql.errors import InterfaceError
from dpsql.mechanisms.entropy import secret
from dpsql.server.scram import Verifier

Role = Literal["owner", "analyst"]
ROLES: tuple[str, ...] = get_args(Role)
PREFIX = "dpsql_"
_NAME = re.compile(r"[^\W\d][\w.@-]{0,62}")


@dataclass(frozen=True, slots=True)
class Token:
    """name: what it is revoked by. digest: of the secret, which is nowhere. expires: seconds since 1970."""

    name: str
    digest: str
    expires: int


@dataclass(frozen=True, slots=True)
class Account:
    """One who may ask, by a token or with a password. The name is the analyst's in the ledger."""

    name: str
    role: Role
    verifier: Verifier | None = None
    tokens: tuple[Token, ...] = ()


def _since_boot() -> float:
    """Seconds, also while the machine slept; nobody sets this clock."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Accounts:
    """The file of accounts. Readers see a change at once; writers take turns, and replace it as a whole."""

    def __init__(
        self, path: Path, clock: Callable[[], float] = time.time, elapsed: Callable[[], float] = _since_boot
    ) -> None:
        self.path = path
        self._clock, self._elapsed = clock, elapsed
        self._began = clock() - elapsed()
        self._seen: tuple[int, ...] = ()
        self._accounts: Mapping[str, Account] = {}
        self._key = secret(32)

    def _now(self) -> float:
        """The clock, or what it would say had nobody changed it since the beginning: set back, it revives no token."""
        return max(self._clock(), self._began + self._elapsed())

    def all(self) -> Mapping[str, Account]:
        """By name. InterfaceError 707 where the file is not one of ours, or others may read it."""
        try:
            state = os.stat(self.path)
        except FileNotFoundError:
            self._accounts, self._seen = {}, ()
            return self._accounts
        if state.st_mode & 0o077:
            raise _wrong(self.path, "others may read it", f"Run chmod 600 {self.path.name}.")
        seen = (state.st_ino, state.st_mtime_ns, state.st_size)
        if seen != self._seen:
            self._accounts, self._key = _read(self.path)
            self._seen = seen
        return self._accounts

    @property
    def key(self) -> bytes:
        """A secret of this file: what names without a password are answered from, the same after a restart."""
        self.all()
        return self._key

    def named(self, name: str) -> Account | None:
        """The account of that name."""
        return self.all().get(name)

    def of_token(self, text: str) -> Account | None:
        """Whose token it is; None where it is nobody's, revoked or expired."""
        digest, now = digest_of(text), self._now()
        pairs = ((token, account) for account in self.all().values() for token in account.tokens)
        return next((account for token, account in pairs if token.digest == digest and now < token.expires), None)

    def add(self, name: str, role: Role) -> None:
        """A new account, without a way in."""
        if not _NAME.fullmatch(name):
            raise InterfaceError(
                f"{name[:70]!r} cannot be a name", code=707, fix="Begin with a letter; then letters, digits, . @ _ -."
            )
        with self._changing() as accounts:
            if name in accounts:
                raise InterfaceError(
                    f"there is an account {name!r} already", code=707, fix="`dpsql user list` lists them."
                )
            accounts[name] = Account(name, role)

    def set_password(self, name: str, password: str) -> None:
        """Keep a verifier of it."""
        if len(password) < 8:
            raise InterfaceError("the password is too short", code=707, fix="Use at least 8 characters.")
        verifier = Verifier.of(password)
        with self._changing() as accounts:
            accounts[name] = replace(_known(accounts, name), verifier=verifier)

    def new_token(self, name: str, seconds: int) -> tuple[str, Token]:
        """A token, told once, and what is kept of it."""
        text = PREFIX + base64.urlsafe_b64encode(secret(32)).decode("ascii").rstrip("=")
        token = Token(secret(4).hex(), digest_of(text), int(self._now()) + seconds)
        with self._changing() as accounts:
            account = _known(accounts, name)
            live = tuple(one for one in account.tokens if self._now() < one.expires)
            accounts[name] = replace(account, tokens=(*live, token))
        return text, token

    def revoke(self, name: str, token: str | None = None) -> None:
        """One token; or all of them and the password: nobody gets in under that name."""
        with self._changing() as accounts:
            account = _known(accounts, name)
            if token is None:
                accounts[name] = replace(account, tokens=(), verifier=None)
                return
            kept = tuple(one for one in account.tokens if one.name != token)
            if len(kept) == len(account.tokens):
                raise InterfaceError(
                    f"{name!r} has no token {token[:20]!r}", code=707, fix="`dpsql user list` lists them."
                )
            accounts[name] = replace(account, tokens=kept)

    @contextlib.contextmanager
    def _changing(self) -> Iterator[dict[str, Account]]:
        lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            accounts = dict(self.all())
            yield accounts
            _write(self.path, accounts, self._key)
        finally:
            os.close(lock)


def digest_of(token: str) -> str:
    """What is kept of a token: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _known(accounts: Mapping[str, Account], name: str) -> Account:
    if name not in accounts:
        there = (
            f"There are {', '.join(sorted(accounts))}." if accounts else "There are none: `dpsql user add` adds one."
        )
        raise InterfaceError(f"there is no account {name[:70]!r}", code=707, fix=there)
    return accounts[name]


def _write(path: Path, accounts: Mapping[str, Account], key: bytes) -> None:
    tree = {"version": 1, "key": key.hex(), "accounts": [_tree(one) for one in accounts.values()]}
    text = json.dumps(tree, indent=1)
    beside = f"{path}.new"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(beside)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def _tree(account: Account) -> dict[str, object]:
    return {
        "name": account.name,
        "role": account.role,
        "verifier": None if account.verifier is None else account.verifier.text(),
        "tokens": [{"name": t.name, "digest": t.digest, "expires": t.expires} for t in account.tokens],
    }


def _read(path: Path) -> tuple[dict[str, Account], bytes]:
    try:
        tree: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if tree["version"] != 1:
            raise ValueError("another version")
        accounts, key = [_account(one) for one in tree["accounts"]], bytes.fromhex(tree["key"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _wrong(path, "it is not a file of accounts", "Restore it from a backup.") from None
    return {one.name: one for one in accounts}, key


def _account(tree: Mapping[str, Any]) -> Account:
    role: Role = tree["role"]
    if role not in ROLES:
        raise ValueError("no such role")
    verifier = None if tree["verifier"] is None else Verifier.read(tree["verifier"])
    tokens = tuple(Token(str(t["name"]), str(t["digest"]), int(t["expires"])) for t in tree["tokens"])
    return Account(str(tree["name"]), role, verifier, tokens)


def _wrong(path: Path, why: str, fix: str) -> InterfaceError:
    return InterfaceError(
        f"the file of accounts {path.name} cannot be used", code=707, why=f"The reason: {why}.", fix=fix
    )
