"""Messages of the protocol as bytes: what the server sends, and reading what it is sent."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PROTOCOL, SSL, GSSENC, CANCEL = 196_608, 80_877_103, 80_877_104, 80_877_102


class WireError(Exception):
    """What was sent is not of the protocol: the connection ends."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a result, as RowDescription has it."""

    name: str
    oid: int
    size: int
    form: int = 0


def message(tag: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return tag + struct.pack("!i", len(body) + 4) + body


def text(value: str) -> bytes:
    """Ends at a zero byte, which it cannot hold."""
    return value.replace("\x00", "�").encode("utf-8", "replace") + b"\x00"


def authentication(code: int, more: bytes = b"") -> bytes:
    return message(b"R", struct.pack("!i", code), more)


def parameter_status(name: str, value: str) -> bytes:
    return message(b"S", text(name), text(value))


def key_data(process: int, secret: int) -> bytes:
    return message(b"K", struct.pack("!iI", process, secret))


def ready(status: bytes) -> bytes:
    return message(b"Z", status)


def negotiate(unknown: Sequence[str]) -> bytes:
    """What a newer client asked for and is not here: it goes on with 3.0."""
    return message(b"v", struct.pack("!ii", 0, len(unknown)), *(text(name) for name in unknown))


def row_description(fields: Sequence[Field]) -> bytes:
    described = (text(f.name) + struct.pack("!ihihih", 0, 0, f.oid, f.size, -1, f.form) for f in fields)
    return message(b"T", struct.pack("!h", len(fields)), *described)


def data_row(cells: Sequence[bytes | None]) -> bytes:
    sent = (b"\xff\xff\xff\xff" if cell is None else struct.pack("!i", len(cell)) + cell for cell in cells)
    return message(b"D", struct.pack("!h", len(cells)), *sent)


def parameter_description(oids: Sequence[int]) -> bytes:
    return message(b"t", struct.pack(f"!h{len(oids)}I", len(oids), *oids))


def complete(tag: str) -> bytes:
    return message(b"C", text(tag))


def failure(severity: str, fields: Mapping[str, str]) -> bytes:
    return message(b"E", _fields(severity, fields))


def notice(fields: Mapping[str, str]) -> bytes:
    return message(b"N", _fields("NOTICE", fields))


def _fields(severity: str, fields: Mapping[str, str]) -> bytes:
    told = {"S": severity, "V": severity, **fields}
    return b"".join(key.encode() + text(value) for key, value in told.items() if value) + b"\x00"


PARSE_COMPLETE, BIND_COMPLETE, CLOSE_COMPLETE = message(b"1"), message(b"2"), message(b"3")
NO_DATA, EMPTY_QUERY, SUSPENDED = message(b"n"), message(b"I"), message(b"s")


class Reader:
    """The fields of one message; WireError where it ends too soon, or not when it should."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def text(self) -> str:
        end = self._body.find(b"\x00", self._at)
        if end < 0:
            raise WireError("a text without an end")
        raw, self._at = self._body[self._at : end], end + 1
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise WireError("a text that is not UTF-8") from None

    def raw(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._body):
            raise WireError("a message that is too short")
        self._at += count
        return self._body[self._at - count : self._at]

    def int16(self) -> int:
        return int(struct.unpack("!h", self.raw(2))[0])

    def int32(self) -> int:
        return int(struct.unpack("!i", self.raw(4))[0])

    def oid(self) -> int:
        return int(struct.unpack("!I", self.raw(4))[0])

    def count(self, at_most: int = 65_535) -> int:
        """Of what follows: from 0 on, in 16 bits without a sign."""
        value = int(struct.unpack("!H", self.raw(2))[0])
        if value > at_most:
            raise WireError("too many")
        return value

    def rest(self) -> bytes:
        return self.raw(len(self._body) - self._at)

    def end(self) -> None:
        if self._at != len(self._body):
            raise WireError("a message that is too long")


@dataclass(frozen=True, slots=True)
class Parse:
    name: str
    sql: str
    oids: tuple[int, ...]

    @classmethod
    def read(cls, body: bytes) -> Parse:
        reader = Reader(body)
        name, sql = reader.text(), reader.text()
        oids = tuple(reader.oid() for _ in range(reader.count()))
        reader.end()
        return cls(name, sql, oids)


@dataclass(frozen=True, slots=True)
class Bind:
    portal: str
    statement: str
    forms: tuple[int, ...]
    values: tuple[bytes | None, ...]
    results: tuple[int, ...]

    @classmethod
    def read(cls, body: bytes) -> Bind:
        reader = Reader(body)
        portal, statement = reader.text(), reader.text()
        forms = tuple(reader.int16() for _ in range(reader.count()))
        values = tuple(_value(reader) for _ in range(reader.count()))
        results = tuple(reader.int16() for _ in range(reader.count()))
        reader.end()
        if not set(forms) | set(results) <= {0, 1} or len(forms) not in (0, 1, len(values)):
            raise WireError("formats that do not fit")
        return cls(portal, statement, forms, values, results)


def _value(reader: Reader) -> bytes | None:
    length = reader.int32()
    return None if length == -1 else reader.raw(length)


@dataclass(frozen=True, slots=True)
class Named:
    """Describe and Close: kind S is a statement, P a portal."""

    kind: str
    name: str

    @classmethod
    def read(cls, body: bytes) -> Named:
        reader = Reader(body)
        kind = reader.raw(1)
        name = reader.text()
        reader.end()
        if kind not in (b"S", b"P"):
            raise WireError("neither a statement nor a portal")
        return cls(kind.decode(), name)


@dataclass(frozen=True, slots=True)
class Execute:
    portal: str
    rows: int

    @classmethod
    def read(cls, body: bytes) -> Execute:
        reader = Reader(body)
        portal, rows = reader.text(), reader.int32()
        reader.end()
        return cls(portal, max(0, rows))


def read_query(body: bytes) -> str:
    reader = Reader(body)
    sql = reader.text()
    reader.end()
    return sql


def read_startup(body: bytes) -> dict[str, str]:
    """After the protocol's number: names and values, and a zero byte."""
    reader = Reader(body)
    told: dict[str, str] = {}
    while name := reader.text():
        told[name] = reader.text()
    reader.end()
    return told
