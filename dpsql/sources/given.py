"""What a session was given by hand in place of what the metadata declares, as a text to compare.

Released rows answer again only what is asked of the same data, and which data it is must be known without looking at it:
whether it changed would tell that a row came or went. Files are what their places say; a frame is itself alone, in this
session and no other.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping

from dpsql.engine.sources import Database, Files, Server, Source, SparkTable

_SIGN = "+"


def by_hand(fingerprint: str, given: Mapping[str, Source]) -> str:
    """The metadata's fingerprint, and with it what was given: equal only for sessions over the same data."""
    if not given:
        return fingerprint
    text = json.dumps({table: _described(source) for table, source in given.items()}, sort_keys=True)
    return f"{fingerprint}{_SIGN}{hashlib.sha256(text.encode()).hexdigest()}"


def of_metadata(compared: str) -> str:
    """The metadata's part."""
    return compared.partition(_SIGN)[0]


def _described(source: Source) -> list[object]:
    match source:
        case Files():
            reading = (source.kind, source.delimiter, source.quote, source.escape, source.header, list(source.names))
            return ["files", *(str(path.resolve()) for path in source.paths), *reading, sorted(source.exact)]
        case Database():
            return ["database", str(source.path.resolve()), source.schema, source.table]
        case Server():  # which server it is says the server itself, when it is opened
            database = dict(source.address.parameters).get("dbname")
            return ["server", database, source.schema, source.table, source.system]
        case SparkTable(cluster=cluster) if cluster.session is None:
            return ["spark", cluster.url, list(source.name), list(source.files)]
        case _:
            return ["frame", uuid.uuid4().hex]
