"""Reading a source that is on Spark. Nothing is connected to.

    source: sc://host:15002                                              Spark Connect; the table of this name
    source: {spark: "spark://host:7077", table: catalog.schema.visits}   a cluster, with this process as its driver
    source: {spark: "local[4]", files: /data/visits.parquet}             Spark in this process

No token is taken, and none is repeated: messages quote nothing of an address that is wrong.
"""

from __future__ import annotations

import re

from dpsql.catalog.model import SparkSource
from dpsql.metadata.addresses import AddressError
from dpsql.metadata.reading import Reader, quoted
from dpsql.metadata.servers import timeout_of
from dpsql.metadata.tree import Fields, Items, Tree

SPARK_FIELDS = ("spark", "table", "files", "timeout")
SCHEMES = ("sc", "spark")
FORM = "write sc://host:15002, spark://host:7077 or local[4]"
FILES = (
    "write the addresses of Parquet files as all machines of the cluster know them: hdfs://…, /shared/visits.parquet"
)
_HOST = r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?"
_ADDRESS = re.compile(
    rf"sc://{_HOST}(/(;use_ssl=(true|false))?)?|spark://{_HOST}(,{_HOST})*|local(\[([0-9]{{1,4}}|\*)\])?"
)


def is_cluster(text: str) -> bool:
    return text.partition("://")[0].lower() in SCHEMES and "://" in text


def check_cluster(text: str) -> str:
    """The address; AddressError for what is none, and nothing of it quotes the text."""
    if re.search(r"token=|password|@|user_id=", text, re.IGNORECASE):
        fix = "remove it, and change it, for it was written down; SPARK_CONNECT_AUTHENTICATE_TOKEN says a token"
        raise AddressError("the address of Spark has a token or a user in it", fix, secret=True)
    if not _ADDRESS.fullmatch(text):
        raise AddressError("this is not an address of Spark", FORM)
    return text


def names_of(text: str) -> tuple[str, ...] | None:
    """The parts of a table's name: table, schema.table, catalog.schema.table."""
    parts = tuple(text.split("."))
    return parts if len(parts) <= 5 and all(part and part.isprintable() for part in parts) else None


def is_on_spark(tree: Tree) -> bool:
    value = getattr(tree, "value", None)
    return isinstance(value, str) and is_cluster(value) or isinstance(tree, Fields) and "spark" in tree.entries


def read_cluster(reader: Reader, tree: Tree, name: str) -> SparkSource | None:
    """name: the table's in the metadata."""
    if not isinstance(tree, Fields):
        return _source(reader, tree, tree, (name,), (), None)
    fields = reader.fields(tree, "source", SPARK_FIELDS)
    if fields is None:
        return None
    table, files = tree.entries.get("table"), tree.entries.get("files")
    if table is not None and files is not None:
        reader.problem(files[0], "a source on Spark is a table or files", "remove one of them")
        return None
    paths = () if files is None else _files(reader, files[1])
    text = None if table is None else reader.text(table[1], "table")
    names = (name,) if text is None else names_of(text)
    if paths is None or table is not None and text is None:
        return None
    if names is None:
        assert table is not None and text is not None
        reader.problem(table[0], f"{quoted(text)} is not of the form schema.table", "write clinic.visits")
        return None
    return _source(reader, tree.entries["spark"][1], tree, () if paths else names, paths, timeout_of(reader, fields))


def _source(
    reader: Reader, address: Tree, at: Tree, names: tuple[str, ...], files: tuple[str, ...], timeout: int | None
) -> SparkSource | None:
    text = reader.text(address, "the address of Spark")
    if text is None:
        return None
    try:
        return SparkSource(cluster=check_cluster(text), table=names, files=files, timeout=timeout or 3600)
    except AddressError as error:
        reader.problem(at.where, error.what, error.fix)
    return None


def _files(reader: Reader, tree: Tree) -> tuple[str, ...] | None:
    items = tree.items if isinstance(tree, Items) else (tree,)
    texts = [reader.text(item, "a file's address") for item in items]
    files = tuple(text for text in texts if text is not None and is_file(text))
    if files and len(files) == len(texts):
        return files
    reader.problem(tree.where, "the files of a source on Spark cannot be read", FILES)
    return None


def is_file(text: str) -> bool:
    """Absolute, and without anybody's name or password in it (abfss://container@account names a place)."""
    scheme, colon, rest = text.partition("://")
    login = rest.partition("/")[0].rpartition("@")[0]
    known = not login or (scheme in ("abfs", "abfss", "wasb", "wasbs") and ":" not in login)
    return text.isprintable() and known and (bool(colon) or text.startswith("/"))
