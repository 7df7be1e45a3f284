"""JSON: a list of objects, or one object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TextIO

from dpsql.engine.result_files import json_value
from dpsql.shell.output.mode import Mode, Page


def _objects(page: Page) -> Iterator[str]:
    for row in page.rows:
        record = {name: json_value(value) for name, value in zip(page.names, row, strict=True)}
        yield json.dumps(record, ensure_ascii=False, allow_nan=False)


def write_json(page: Page, out: TextIO) -> None:
    out.write("[" + ",\n ".join(_objects(page)) + "]\n")


def write_jsonl(page: Page, out: TextIO) -> None:
    out.writelines(line + "\n" for line in _objects(page))


JSON = Mode(name="json", doc="a list of objects", write=write_json, suffixes=(".json",))
JSONL = Mode(name="jsonl", doc="one JSON object per line", write=write_jsonl, suffixes=(".jsonl", ".ndjson"))
