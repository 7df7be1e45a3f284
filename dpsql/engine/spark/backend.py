"""The tables of one Spark session's cluster, and a session of its own for each query over them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from dpsql.engine.backend import BIGINT, VARCHAR, Changed, Failure, Loads
from dpsql.engine.hardening import Limits
from dpsql.engine.sealed import Sealed
from dpsql.engine.sources import Array, Column, SparkTable
from dpsql.engine.spark import describing, settings
from dpsql.engine.spark.connecting import OwnerLog, check_reached, is_remote, session_at
from dpsql.engine.spark.script import Views, steps_of
from dpsql.engine.spark.stored import Files, Footers
from dpsql.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TYPES = {"bigint": BIGINT, "string": VARCHAR}
AGAIN_AFTER_SECONDS = 0.5
Tables = dict[str, describing.Table]


class Spark(Sealed):
    """Spark as a backend (engine/backend.py)."""

    name = "spark"

    def __init__(self, sources: Mapping[str, SparkTable], limits: Limits, owner_log: OwnerLog | None) -> None:
        """All sources are on one cluster. Describes them; SourceError. limits: Spark's own settings are its limits."""
        (cluster,) = {source.cluster for source in sources.values()}
        self.timeout = cluster.timeout
        self._sources, self._owner_log = dict(sources), owner_log
        self._footers = Footers()
        self.views = tuple(f"source_{i}" for i in range(len(sources)))  # the tables' names in a session
        self._root = session_at(cluster, owner_log)
        self._schema = current_schema(self._root)  # USE in the user's session says where its names are
        self.tables = self._described()

    def _described(self) -> Tables:
        said = ""
        run = SparkRun(self, None)
        try:
            return run.describe()[0]
        except SourceError:
            raise
        except Exception as error:  # the message may quote anything
            said = f"{type(error).__name__}: {error}"
        finally:
            run.close()
        if self._owner_log is not None:
            self._owner_log(said)
        raise SourceError(
            "the Spark of `source:` does not describe its tables", code=315, fix="Details are in the owner's log."
        )

    def columns(self, table: str) -> tuple[Column, ...]:
        return self.tables[table].columns

    def relation(self, table: str, *, row_number: bool = False) -> str:
        return self.tables[table].relation

    def unnumbered(self, table: str) -> str | None:
        return "a table of Spark, whose rows have no numbers"

    def computed(self, table: str) -> str | None:
        """Views are refused as they are described."""
        return None

    def identity(self, table: str) -> Mapping[str, str]:
        return dict(self.tables[table].place)

    def begin(self) -> SparkRun:
        return SparkRun(self, self.tables)

    def classify(self, error: BaseException) -> Failure:
        return classify(error)

    def close(self) -> None:
        """The session stays: another vault may be on it, and it may be the user's."""

    def check_reached(self) -> None:
        check_reached(self._root)

    def fresh(self) -> SparkSession:
        return settings.fresh(self._root, self._schema)

    def describe(self, session: SparkSession) -> tuple[Tables, Files]:
        for table, source in self._sources.items():
            describing.not_shadowed(self._root, table, source)
        tables, files = {}, Files()
        for view, (table, source) in zip(self.views, self._sources.items(), strict=True):
            tables[table], its = describing.described(session, table, source, view, self._footers)
            files |= its
        return tables, files

    def files(self, session: SparkSession) -> Files:
        return describing.files_of(session, self.tables, self._sources)


class SparkRun(Sealed):
    """expected: what the sources were when they were opened; None: not known yet."""

    def __init__(self, backend: Spark, expected: Tables | None) -> None:
        self._backend = backend
        self._expected = expected
        self._session: SparkSession | None = None
        self._files: Files = frozenset()
        self._views: Views | None = None
        self._frame: DataFrame | None = None
        self._stopped = self._late = False

    def start(self) -> None:
        if self._session is None:
            described, self._files = self.describe()
            if described != self._expected:
                raise Changed

    def describe(self) -> tuple[Tables, Files]:
        self._check_stopped()
        self._backend.check_reached()
        self._session = self._backend.fresh()
        self._views = Views(self._session)
        return self._backend.describe(self._session)

    def _files_now(self) -> Files:
        assert self._session is not None
        return self._backend.files(self._session)

    def execute(self, sql: str, loads: Loads) -> Sequence[tuple[str, str]] | None:
        self.start()
        assert self._session is not None and self._views is not None
        parsed, self._frame = steps_of(sql, loads), None
        if parsed is None:
            return None
        steps, select = parsed
        self._views.begin(steps)
        with self._in_time():
            for name, data in loads.items():
                self._views.load(name, data)
            for step in steps:
                self._check_stopped()
                self._views.store(step)
            self._check_stopped()
            self._frame = self._session.sql(select)
            fields = self._frame.schema.fields
        return [
            (field.name, TYPES.get(field.dataType.simpleString(), field.dataType.simpleString())) for field in fields
        ]

    def fetch(self) -> dict[str, Array]:
        assert self._frame is not None
        with self._in_time():
            table = self._frame.toArrow()
        return {name: _array(column) for name, column in zip(table.column_names, table.columns, strict=True)}

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """What is stopped by `interrupt` is InterruptedError, what takes too long is TimeoutError, whatever Spark says."""
        ended = threading.Event()
        watch = threading.Thread(target=self._watch, args=(ended,), daemon=True)
        watch.start()
        failed = False
        try:
            self._check_stopped()
            yield
        except Exception:
            failed = True
            if not (self._stopped or self._late):
                raise
        finally:
            ended.set()
        if failed:
            raise TimeoutError if self._late else InterruptedError

    def _watch(self, ended: threading.Event) -> None:
        if ended.wait(self._backend.timeout):
            return
        self._late = True
        while not ended.wait(AGAIN_AFTER_SECONDS):
            self._interrupt()

    def check(self) -> None:
        """Files that were added or replaced between two statements, or two evaluations."""
        if self._session is not None and self._files_now() != self._files:
            raise Changed

    def _check_stopped(self) -> None:
        if self._stopped or self._late:
            raise InterruptedError

    def interrupt(self) -> None:
        self._stopped = True
        self._interrupt()

    def _interrupt(self) -> None:
        session = self._session
        if session is not None:
            with suppress(Exception):  # it is asked again
                session.interruptAll()

    def close(self) -> None:
        session, views, self._session, self._views, self._frame = self._session, self._views, None, None, None
        if session is not None and views is not None:
            with suppress(Exception):
                _end(session, views, self._backend.views)


def current_schema(session: SparkSession) -> tuple[str, str]:
    return session.catalog.currentCatalog(), session.catalog.currentDatabase()


def _end(session: SparkSession, views: Views, sources: Sequence[str]) -> None:
    """A classic session ends with the context, which is not ours: its views are dropped."""
    if is_remote(session):
        session.stop()
        return
    for view in sources:
        session.catalog.dropTempView(view)
    views.drop()


def classify(error: BaseException) -> Failure:
    """By types and conditions alone."""
    if isinstance(error, Changed):
        return Failure.CHANGED
    if isinstance(error, InterruptedError | KeyboardInterrupt):
        return Failure.INTERRUPTED
    if isinstance(error, TimeoutError):
        return Failure.OUT_OF_TIME
    if isinstance(error, MemoryError):
        return Failure.OUT_OF_MEMORY
    condition: Callable[[], object] | None = getattr(error, "getCondition", None)
    word = str(condition() if condition is not None else "")
    return Failure.OUT_OF_MEMORY if "OUT_OF_MEMORY" in word or "ACQUIRE_MEMORY" in word else Failure.FAILED


def _array(column: Any) -> Array:
    """BIGINT as int64 (masked if a NULL came), VARCHAR as objects."""
    import pyarrow

    if pyarrow.types.is_integer(column.type):
        absent = column.is_null().to_numpy()
        numbers = column.fill_null(0).to_numpy().astype(np.int64)
        return np.ma.MaskedArray(numbers, absent) if column.null_count else numbers
    texts = np.empty(len(column), dtype=object)
    texts[:] = column.to_pylist()
    return texts
