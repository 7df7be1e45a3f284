"""SCRAM-SHA-256 (RFC 5802, 7677), the server's side: verifiers that are kept, and one exchange of messages."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import stringprep
import unicodedata
from dataclasses import dataclass

from dpsql.mechanisms.entropy import secret

ITERATIONS = 16_384
MECHANISM = "SCRAM-SHA-256"
_FIRST = re.compile(
    r"(n|y|p=[A-Za-z0-9.-]+),(?:a=[^,]*)?,(n=[^,]*,r=([\x21-\x2b\x2d-\x7e]{1,256})(?:,[a-ln-z]=[^,]*)*)"
)
_FINAL = re.compile(r"(c=([A-Za-z0-9+/=]*),r=([\x21-\x2b\x2d-\x7e]{1,512})(?:,[a-ln-z]=[^,]*)*),p=([A-Za-z0-9+/=]+)")


class ScramError(Exception):
    """The exchange ends: what was sent is not of this protocol, or not of somebody who knows the password."""


@dataclass(frozen=True, slots=True, repr=False)
class Verifier:
    """What is kept of a password: enough to check who knows it, not enough to be that person elsewhere."""

    salt: bytes
    iterations: int
    stored: bytes
    server: bytes

    @classmethod
    def of(cls, password: str) -> Verifier:
        salt = secret(16)
        salted = hashlib.pbkdf2_hmac("sha256", prepared(password), salt, ITERATIONS)
        stored = hashlib.sha256(_hmac(salted, b"Client Key")).digest()
        return cls(salt, ITERATIONS, stored, _hmac(salted, b"Server Key"))

    @classmethod
    def of_nobody(cls, name: str, key: bytes) -> Verifier:
        """For a name that has no password: the same each time, so that nothing tells who exists; without a password."""
        seed = _hmac(key, name.encode())
        return cls(seed[:16], ITERATIONS, _hmac(seed, b"stored"), _hmac(seed, b"server"))

    @classmethod
    def read(cls, text: str) -> Verifier:
        """ValueError for what `text` did not write."""
        match = re.fullmatch(r"SCRAM-SHA-256\$(\d{1,8}):([^$:]+)\$([^$:]+):([^$:]+)", text)
        if match is None:
            raise ValueError("not a verifier")
        salt, stored, server = (base64.b64decode(part, validate=True) for part in match.group(2, 3, 4))
        return cls(salt, int(match[1]), stored, server)

    def text(self) -> str:
        """As PostgreSQL writes it."""
        return f"{MECHANISM}${self.iterations}:{_b64(self.salt)}${_b64(self.stored)}:{_b64(self.server)}"


class Exchange:
    """One login. The user is the one of the start-up message; the name within is ignored, as PostgreSQL does."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        self._header = self._first = self._reply = self._nonce = ""

    def first(self, message: bytes) -> bytes:
        """The answer to client-first; ScramError."""
        match = _FIRST.fullmatch(_text(message))
        if match is None or match[1].startswith("p="):  # channel binding was not offered
            raise ScramError("malformed client-first message")
        self._header = message.decode()[: match.start(2)]
        self._first, self._nonce = match[2], match[3] + _b64(secret(18))
        self._reply = f"r={self._nonce},s={_b64(self._verifier.salt)},i={self._verifier.iterations}"
        return self._reply.encode()

    def final(self, message: bytes) -> bytes:
        """The answer to client-final where it proves the password; ScramError."""
        match = _FINAL.fullmatch(_text(message))
        if match is None or not self._nonce:
            raise ScramError("malformed client-final message")
        bound, proof = _unb64(match[2]), _unb64(match[4])
        if bound != self._header.encode() or not hmac.compare_digest(match[3], self._nonce) or len(proof) != 32:
            raise ScramError("the client-final message does not continue the first")
        signed = f"{self._first},{self._reply},{match[1]}".encode()
        mask = _hmac(self._verifier.stored, signed)
        key = bytes(one ^ other for one, other in zip(proof, mask, strict=True))
        self._nonce = ""
        if not hmac.compare_digest(hashlib.sha256(key).digest(), self._verifier.stored):
            raise ScramError("the password is wrong")
        return b"v=" + _b64(_hmac(self._verifier.server, signed)).encode()


def prepared(password: str) -> bytes:
    """SASLprep (RFC 4013), as clients do it; where it prohibits something, the bytes as they are, as PostgreSQL does."""
    mapped = "".join(" " if stringprep.in_table_c12(c) else c for c in password if not stringprep.in_table_b1(c))
    normal = unicodedata.normalize("NFKC", mapped)
    prohibited = any(any(table(c) for table in _PROHIBITED) for c in normal)
    return password.encode() if prohibited or not normal else normal.encode()


_PROHIBITED = (
    *(stringprep.in_table_a1, stringprep.in_table_c12, stringprep.in_table_c21_c22, stringprep.in_table_c3),
    *(stringprep.in_table_c4, stringprep.in_table_c5, stringprep.in_table_c6, stringprep.in_table_c7),
    *(stringprep.in_table_c8, stringprep.in_table_c9),
)


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, "sha256")


def _b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _unb64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ScramError("not base64") from None


def _text(message: bytes) -> str:
    try:
        return message.decode("utf-8")
    except UnicodeDecodeError:
        raise ScramError("not UTF-8") from None
