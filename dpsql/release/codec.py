"""Released rows as bytes, for the ledger: what a retry or a free repeat gives back, to the bit."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np

from dpsql.errors import LedgerError
from dpsql.release.released_rows import ReleasedRows

VERSION = 1


def encode(released: tuple[ReleasedRows, ...]) -> bytes:
    stages = [
        {
            "stage": n.stage,
            "rows": n.rows,
            "columns": {name: _column(values) for name, values in n.columns.items()},
            "chosen": list(n.chosen),
            "over": [list(pair) for pair in n.over],
        }
        for n in released
    ]
    text = json.dumps({"version": VERSION, "stages": stages}, ensure_ascii=True)
    return zlib.compress(text.encode("ascii"), 1)


def _column(values: Any) -> dict[str, object]:
    if values.dtype == object:
        return {"text": [None if v is None else str(v) for v in values.tolist()]}
    numbers = np.asarray(np.ma.getdata(values), dtype="<i8")
    column: dict[str, object] = {"integers": base64.b64encode(numbers.tobytes()).decode("ascii")}
    mask = np.ma.getmaskarray(values)
    if mask.any():
        column["null"] = np.flatnonzero(mask).tolist()
    return column


def decode(rows: bytes) -> tuple[ReleasedRows, ...]:
    try:
        payload = json.loads(zlib.decompress(rows))
        if payload["version"] != VERSION:
            raise ValueError("another version")
        return tuple(
            ReleasedRows(
                stage=s["stage"],
                rows=s["rows"],
                columns={k: _values(c) for k, c in s["columns"].items()},
                chosen=tuple(s.get("chosen", ())),
                over=tuple((below, above) for below, above in s.get("over", ())),
            )
            for s in payload["stages"]
        )
    except (ValueError, KeyError, TypeError, zlib.error):
        raise LedgerError(
            "the stored rows cannot be read", code=420, fix="Ask with OPTIONS(fresh=true) for a new release."
        ) from None


def _values(column: dict[str, Any]) -> Any:
    if "text" in column:
        return np.array(column["text"], dtype=object)
    numbers = np.frombuffer(base64.b64decode(column["integers"]), dtype="<i8").astype(np.int64)
    if "null" not in column:
        return numbers
    mask = np.zeros(len(numbers), dtype=bool)
    mask[column["null"]] = True
    return np.ma.MaskedArray(numbers, mask=mask)
