"""DuckDB's types as PostgreSQL's, and values as text and in binary, in both directions."""

from __future__ import annotations

import datetime as dt
import decimal
import re
import struct
from collections.abc import Callable, Mapping
from typing import Any

from dpsql.dbapi.sent_rows import cell_text
from dpsql.errors import DataError

BOOL, BYTEA, INT8, INT2, INT4, TEXT, OID, FLOAT4, FLOAT8 = 16, 17, 20, 21, 23, 25, 26, 700, 701
UNKNOWN, VARCHAR, DATE, TIME, TIMESTAMP, TIMESTAMPTZ = 705, 1043, 1082, 1083, 1114, 1184
INTERVAL, NUMERIC, UUID, NAME, CHAR, BPCHAR = 1186, 1700, 2950, 19, 18, 1042
ARRAYS = {BOOL: 1000, INT2: 1005, INT4: 1007, INT8: 1016, TEXT: 1009, FLOAT8: 1022, NUMERIC: 1231, DATE: 1182}
ARRAYS |= {TIMESTAMP: 1115, VARCHAR: 1015, FLOAT4: 1021, OID: 1028, NAME: 1003}
OF_DUCKDB = {
    "BOOLEAN": BOOL,
    "TINYINT": INT2,
    "SMALLINT": INT2,
    "INTEGER": INT4,
    "BIGINT": INT8,
    "HUGEINT": NUMERIC,
    "UTINYINT": INT2,
    "USMALLINT": INT4,
    "UINTEGER": INT8,
    "UBIGINT": NUMERIC,
    "FLOAT": FLOAT4,
    "DOUBLE": FLOAT8,
    "VARCHAR": TEXT,
    "DATE": DATE,
    "TIME": TIME,
    "TIMESTAMP": TIMESTAMP,
    "INTERVAL": INTERVAL,
    "BLOB": BYTEA,
    "UUID": UUID,
    "TIMESTAMP WITH TIME ZONE": TIMESTAMPTZ,
    "OID": OID,
}
SIZES = {BOOL: 1, INT2: 2, INT4: 4, INT8: 8, OID: 4, FLOAT4: 4, FLOAT8: 8, DATE: 4, TIME: 8, TIMESTAMP: 8}
SIZES |= {TIMESTAMPTZ: 8, INTERVAL: 16, UUID: 16, NAME: 64, CHAR: 1}
EPOCH = dt.datetime(2000, 1, 1)
DAY, TEXTS = dt.date(2000, 1, 1), frozenset({TEXT, VARCHAR, UNKNOWN, NAME, CHAR, BPCHAR, 0})


def oid_of(duckdb_type: str) -> int:
    """What a column is announced as; text for what PostgreSQL does not have."""
    if duckdb_type.startswith("DECIMAL"):
        return NUMERIC
    if duckdb_type.endswith("[]"):
        return ARRAYS.get(oid_of(duckdb_type[:-2]), TEXT)
    return OF_DUCKDB.get(duckdb_type, TEXT)


NAMES = {
    "int2": INT2,
    "int4": INT4,
    "int8": INT8,
    "integer": INT4,
    "bigint": INT8,
    "oid": OID,
    "bool": BOOL,
    "name": NAME,
}
NAMES |= {"text": TEXT, "varchar": VARCHAR, "float8": FLOAT8, "numeric": NUMERIC, "date": DATE, "timestamp": TIMESTAMP}


def size_of(oid: int) -> int:
    return SIZES.get(oid, -1)


# --- what is sent


def encoded(value: Any, oid: int, form: int) -> bytes | None:
    """A cell as text (form 0) or in binary (1)."""
    if value is None:
        return None
    return _binary(value, oid) if form == 1 else as_text(value).encode("utf-8", "replace").replace(b"\x00", b"")


def as_text(value: Any) -> str:
    """As PostgreSQL writes it."""
    match value:
        case bool():
            return "t" if value else "f"
        case float():
            return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(
                repr(value), repr(value).removesuffix(".0")
            )
        case dt.datetime():
            return value.isoformat(sep=" ")
        case dt.timedelta():
            return _interval_text(value)
        case bytes():
            return "\\x" + value.hex()
        case list():
            return "{" + ",".join("NULL" if one is None else _quoted(as_text(one), one) for one in value) + "}"
        case _:
            return str(cell_text(value))


def _quoted(text: str, value: Any) -> str:
    if not isinstance(value, str | dict) and not (isinstance(value, dt.datetime | dt.timedelta)):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _interval_text(value: dt.timedelta) -> str:
    days = f"{value.days} day{'s' if abs(value.days) != 1 else ''}" if value.days else ""
    rest = value - dt.timedelta(days=value.days)
    clock = f"{rest.seconds // 3600:02d}:{rest.seconds // 60 % 60:02d}:{rest.seconds % 60:02d}"
    clock += f".{rest.microseconds:06d}" if rest.microseconds else ""
    return days if days and not rest else f"{days} {clock}".strip()


def _numeric(value: Any) -> bytes:
    number = decimal.Decimal(value)
    if not number.is_finite():
        sign = 0xC000 if number.is_nan() else 0xD000 if number > 0 else 0xF000
        return struct.pack("!hhHh", 0, 0, sign, 0)
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    text = ("".join(map(str, digits)) + "0" * max(0, exponent)).rjust(scale + 1, "0")
    whole, fraction = text[: len(text) - scale], text[len(text) - scale :]
    whole = whole.rjust((len(whole) + 3) // 4 * 4, "0")
    fraction = fraction.ljust((len(fraction) + 3) // 4 * 4, "0")
    groups = [int((whole + fraction)[i : i + 4]) for i in range(0, len(whole + fraction), 4)]
    weight = len(whole) // 4 - 1
    while groups and groups[0] == 0:
        groups.pop(0)
        weight -= 1
    while groups and groups[-1] == 0:
        groups.pop()
    return struct.pack(f"!hhHh{len(groups)}h", len(groups), weight if groups else 0, 0x4000 * sign, scale, *groups)


def _micros(span: dt.timedelta) -> int:
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds


_PACKED: Mapping[int, Callable[[Any], bytes]] = {
    BOOL: lambda v: b"\x01" if v else b"\x00",
    INT2: lambda v: struct.pack("!h", int(v)),
    INT4: lambda v: struct.pack("!i", int(v)),
    INT8: lambda v: struct.pack("!q", int(v)),
    OID: lambda v: struct.pack("!I", int(v)),
    FLOAT4: lambda v: struct.pack("!f", float(v)),
    FLOAT8: lambda v: struct.pack("!d", float(v)),
    NUMERIC: _numeric,
    DATE: lambda v: struct.pack("!i", (v - DAY).days),
    TIME: lambda v: struct.pack("!q", ((v.hour * 60 + v.minute) * 60 + v.second) * 1_000_000 + v.microsecond),
    TIMESTAMP: lambda v: struct.pack("!q", _micros(v - EPOCH)),
    TIMESTAMPTZ: lambda v: struct.pack("!q", _micros(v.replace(tzinfo=None) - EPOCH)),
    INTERVAL: lambda v: struct.pack("!qii", _micros(dt.timedelta(0, v.seconds, v.microseconds)), v.days, 0),
    UUID: lambda v: v.bytes,
    BYTEA: bytes,
}
_ELEMENTS = {array: element for element, array in ARRAYS.items()}


def _binary(value: Any, oid: int) -> bytes:
    if oid in _ELEMENTS:
        element = _ELEMENTS[oid]
        parts = [encoded(one, element, 1) for one in value]
        head = struct.pack("!iiIii", 1, int(None in parts), element, len(parts), 1)
        if not parts:
            return struct.pack("!iiI", 0, 0, element)
        return head + b"".join(b"\xff" * 4 if p is None else struct.pack("!i", len(p)) + p for p in parts)
    if oid not in _PACKED:
        return as_text(value).encode("utf-8", "replace")
    try:
        return _PACKED[oid](value)
    except (struct.error, OverflowError, AttributeError, TypeError):
        raise DataError("a value does not fit the type that was announced", code=502, fix="CAST it.") from None


# --- what is received


def decoded(raw: bytes | None, oid: int, form: int) -> Any:
    """A parameter's value; DataError for what is not one of its type."""
    if raw is None:
        return None
    try:
        return _of_binary(raw, oid) if form == 1 else _of_text(raw.decode("utf-8"), oid)
    except (ValueError, struct.error, ArithmeticError, KeyError):
        raise DataError("a parameter is not a value of its type", code=109, fix="Send it as text.") from None


_UNPACKED: Mapping[int, Callable[[bytes], Any]] = {
    BOOL: lambda raw: {b"\x00": False, b"\x01": True}[raw],
    INT2: lambda raw: struct.unpack("!h", raw)[0],
    INT4: lambda raw: struct.unpack("!i", raw)[0],
    INT8: lambda raw: struct.unpack("!q", raw)[0],
    OID: lambda raw: struct.unpack("!I", raw)[0],
    FLOAT4: lambda raw: struct.unpack("!f", raw)[0],
    FLOAT8: lambda raw: struct.unpack("!d", raw)[0],
    DATE: lambda raw: DAY + dt.timedelta(days=struct.unpack("!i", raw)[0]),
    TIMESTAMP: lambda raw: EPOCH + dt.timedelta(microseconds=struct.unpack("!q", raw)[0]),
    TIMESTAMPTZ: lambda raw: EPOCH + dt.timedelta(microseconds=struct.unpack("!q", raw)[0]),
}


def _of_binary(raw: bytes, oid: int) -> Any:
    if oid in TEXTS:
        return raw.decode("utf-8")
    if oid == NUMERIC:
        return _of_numeric(raw)
    return _of_array(raw) if oid in _ELEMENTS else _UNPACKED[oid](raw)


def _of_array(raw: bytes) -> list[Any]:
    """Of one dimension."""
    dimensions, _, element = struct.unpack("!iiI", raw[:12])
    if dimensions == 0 and len(raw) == 12:
        return []
    count, place, values = struct.unpack("!i", raw[12:16])[0], 20, []
    if dimensions != 1 or not 0 <= count <= len(raw):
        raise ValueError("not an array of one dimension")
    for _ in range(count):
        (length,) = struct.unpack("!i", raw[place : place + 4])
        cell = None if length < 0 else raw[place + 4 : place + 4 + length]
        place += 4 + max(0, length)
        values.append(None if cell is None else _of_binary(cell, element))
    if place != len(raw):
        raise ValueError("an array of a wrong length")
    return values


def _of_numeric(raw: bytes) -> decimal.Decimal:
    count, weight, sign, scale = struct.unpack("!hhHh", raw[:8])
    groups = struct.unpack(f"!{count}h", raw[8:])
    if sign not in (0, 0x4000) or not all(0 <= group < 10_000 for group in groups):
        raise ValueError("not a finite number")
    if abs(weight) > 40 or not 0 <= scale < 100:
        raise ValueError("too long")
    with decimal.localcontext(prec=400):
        parts = (decimal.Decimal(group).scaleb(4 * (weight - i)) for i, group in enumerate(groups))
        value = sum(parts, decimal.Decimal(0))
        return (-value if sign else value).quantize(decimal.Decimal(1).scaleb(-scale))


def _of_text(text: str, oid: int) -> Any:
    if oid in TEXTS:
        return text
    if oid == BOOL:
        return {"t": True, "true": True, "1": True, "on": True, "f": False, "false": False, "0": False, "off": False}[
            text.strip().lower()
        ]
    if oid in (INT2, INT4, INT8, OID):
        if not re.fullmatch(r"\s*[-+]?\d{1,20}\s*", text):
            raise ValueError("not an integer")
        return int(text)
    if oid in (FLOAT4, FLOAT8):
        return float(text)
    if oid == NUMERIC:
        return decimal.Decimal(text)
    if oid == DATE:
        return dt.date.fromisoformat(text[:10])  # pgjdbc adds a zone
    if oid in _ELEMENTS:
        if not re.fullmatch(r'\{[^{}"\\]*\}', text):
            raise ValueError("not a plain array of one dimension")
        inner = text[1:-1]
        return [None if one == "NULL" else _of_text(one, _ELEMENTS[oid]) for one in inner.split(",")] if inner else []
    if oid in (TIMESTAMP, TIMESTAMPTZ):
        return dt.datetime.fromisoformat(re.sub(r"\s*(?:[-+]\d\d(?::?\d\d)?|Z)$", "", text))
    return text
