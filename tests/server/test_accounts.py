"""Accounts: what is kept of secrets, and who gets in."""

from __future__ import annotations

import base64
import hashlib
import hmac
import multiprocessing
import stat
from pathlib import Path

import pytest

from dpsql.errors import InterfaceError, OperationalError
from dpsql.server import scram
from dpsql.server.accounts import Accounts
from dpsql.server.lockout import FREE_TRIES, Lockout
from dpsql.server.scram import Exchange, ScramError, Verifier


def accounts(tmp_path: Path, now: list[float] | None = None) -> Accounts:
    clock = [1000.0] if now is None else now
    return Accounts(tmp_path / "users", lambda: clock[0])


def test_a_token_lets_in_until_it_expires_or_is_revoked(tmp_path: Path) -> None:
    now = [1000.0]
    book = accounts(tmp_path, now)
    book.add("ana", "analyst")
    text, token = book.new_token("ana", 60)
    other, _ = book.new_token("ana", 600)
    assert (who := book.of_token(text)) is not None and who.name == "ana"
    assert book.of_token(text + "x") is None and book.of_token("") is None
    now[0] = 1060.0
    assert book.of_token(text) is None and book.of_token(other) is not None
    book.revoke("ana")
    assert book.of_token(other) is None
    third, kept = book.new_token("ana", 60)
    book.revoke("ana", kept.name)
    assert book.of_token(third) is None
    with pytest.raises(InterfaceError, match="has no token"):
        book.revoke("ana", token.name)


@pytest.mark.parametrize("jump", [-(10.0**9), 10.0**9])
def test_a_clock_that_is_set_revives_no_token(tmp_path: Path, jump: float) -> None:
    """And what a jump into the future takes away comes back with the right time."""
    wall, passed = [2e9], [0.0]
    book = Accounts(tmp_path / "users", lambda: wall[0] + passed[0], lambda: passed[0])
    book.add("ana", "analyst")
    short, long = book.new_token("ana", 60)[0], book.new_token("ana", 600)[0]
    wall[0] += jump
    assert (book.of_token(short) is not None) is (jump < 0)
    passed[0] = 61.0
    assert book.of_token(short) is None and (book.of_token(long) is not None) is (jump < 0)
    assert book.of_token(book.new_token("ana", 60)[0]) is not None
    wall[0] -= jump
    assert book.of_token(short) is None
    passed[0] = 601.0
    assert book.of_token(long) is None


def test_the_file_has_no_secret_and_is_ours_alone(tmp_path: Path) -> None:
    book = accounts(tmp_path)
    book.add("ana", "analyst")
    text, _ = book.new_token("ana", 60)
    book.set_password("ana", "correct horse")
    kept = book.path.read_text()
    assert text not in kept and "correct horse" not in kept and text.removeprefix("dpsql_") not in kept
    assert stat.S_IMODE(book.path.stat().st_mode) == 0o600
    book.path.chmod(0o640)
    with pytest.raises(InterfaceError, match="cannot be used"):
        book.all()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2, "accounts": []}', '{"version": 1, "accounts": [{}]}'])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    book = accounts(tmp_path)
    book.path.write_text(text)
    book.path.chmod(0o600)
    with pytest.raises(InterfaceError) as raised:
        book.all()
    assert raised.value.code == "DPSQL-707"


@pytest.mark.parametrize("name", ["", "a b", "1a", "a\n", "x" * 64, 'a"'])
def test_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(InterfaceError):
        accounts(tmp_path).add(name, "analyst")


def _add_tokens(path: Path) -> None:
    for _ in range(10):
        Accounts(path).new_token("ana", 3600)


@pytest.mark.slow
def test_writers_take_turns(tmp_path: Path) -> None:
    book = accounts(tmp_path)
    book.add("ana", "analyst")
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_add_tokens, args=(book.path,)) for _ in range(3)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert (ana := book.named("ana")) is not None and len(ana.tokens) == 30


# RFC 7677, section 3.
SALT, NONCE = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ=="), "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
FINAL = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="


def rfc_exchange(monkeypatch: pytest.MonkeyPatch) -> Exchange:
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", SALT, 4096)
    key = hmac.digest(salted, b"Client Key", "sha256")
    server = hmac.digest(salted, b"Server Key", "sha256")
    exchange = Exchange(Verifier(SALT, 4096, hashlib.sha256(key).digest(), server))
    monkeypatch.setattr(scram, "_b64", lambda raw: NONCE if raw == b"nonce" else base64.b64encode(raw).decode())
    monkeypatch.setattr(scram, "secret", lambda count: b"nonce")
    return exchange


def test_the_exchange_of_the_rfc(monkeypatch: pytest.MonkeyPatch) -> None:
    exchange = rfc_exchange(monkeypatch)
    assert exchange.first(FIRST) == f"r=rOprNGfwEbeRWgbNEkqO{NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
    assert exchange.final(FINAL) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


@pytest.mark.parametrize(
    "final",
    [
        FINAL.replace(b"p=dH", b"p=eH"),  # another proof
        FINAL.replace(b"c=biws", b"c=eSws"),  # another header than in the first message
        FINAL.replace(b"r=rOpr", b"r=xOpr"),
        FINAL + b",p=aaaa",
        FINAL.partition(b",p=")[0],
        b"",
        b"\xff",
    ],
)
def test_a_wrong_proof_is_refused(monkeypatch: pytest.MonkeyPatch, final: bytes) -> None:
    exchange = rfc_exchange(monkeypatch)
    exchange.first(FIRST)
    with pytest.raises(ScramError):
        exchange.final(final)
    with pytest.raises(ScramError):
        rfc_exchange(monkeypatch).final(FINAL)  # without a first message


def signed(verifier: Verifier, password: str, reply: str, header: bytes) -> bytes:
    """What a client sends that knows the password, and says that this was the header."""
    nonce = reply.partition(",")[0]
    bare = f"c={base64.b64encode(header).decode()},{nonce}"
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), verifier.salt, verifier.iterations)
    key = hmac.digest(salted, b"Client Key", "sha256")
    mask = hmac.digest(hashlib.sha256(key).digest(), f"n=,r=abc,{reply},{bare}".encode(), "sha256")
    proof = bytes(one ^ other for one, other in zip(key, mask, strict=True))
    return f"{bare},p={base64.b64encode(proof).decode()}".encode()


@pytest.mark.parametrize(("header", "right"), [(b"n,,", True), (b"y,,", False), (b"p=tls-unique,,", False)])
def test_the_header_is_the_one_that_was_sent(header: bytes, right: bool) -> None:
    verifier = Verifier.of("secret")
    exchange = Exchange(verifier)
    final = signed(verifier, "secret", exchange.first(b"n,,n=,r=abc").decode(), header)
    if right:
        assert exchange.final(final).startswith(b"v=")
        with pytest.raises(ScramError):
            exchange.final(final)  # once
    else:
        with pytest.raises(ScramError):
            exchange.final(final)


def test_a_verifier_reads_back_and_nobodys_is_the_same_each_time() -> None:
    verifier = Verifier.of("paß①")
    assert Verifier.read(verifier.text()) == verifier
    assert scram.prepared("paß①") == scram.prepared("paß1") and scram.prepared("I\u00adX") == b"IX"
    nobody = Verifier.of_nobody("zed", b"key")
    assert nobody == Verifier.of_nobody("zed", b"key") != Verifier.of_nobody("yan", b"key")
    assert len(nobody.salt) == len(verifier.salt) and nobody.iterations == verifier.iterations


def test_the_key_of_names_without_a_password_stays(tmp_path: Path) -> None:
    book = accounts(tmp_path)
    book.add("ana", "analyst")
    key = book.key
    accounts(tmp_path).add("ben", "analyst")
    assert accounts(tmp_path).key == book.key == key and len(key) == 32


def test_many_tries_have_to_wait_and_hurt_nobody_else() -> None:
    now = [0.0]
    lockout = Lockout(lambda: now[0])
    for _ in range(FREE_TRIES):
        lockout.check("a", "ana")
        lockout.failed("a", "ana")
    with pytest.raises(OperationalError) as raised:
        lockout.check("a", "ana")
    assert raised.value.code == "DPSQL-706"
    lockout.check("b", "ana")
    lockout.check("a", "ben")
    now[0] = 3.0
    lockout.check("a", "ana")
    lockout.failed("a", "ana")
    lockout.let_in("a", "ana")
    lockout.check("a", "ana")
