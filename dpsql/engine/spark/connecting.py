"""A session of Spark. What Spark says of a failure goes to the owner alone."""

from __future__ import annotations

import logging
import queue
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from dpsql.engine.sources import Cluster
from dpsql.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OwnerLog = Callable[[str], None]
LEAST_VERSION = 4
CONNECT_SECONDS = 20
LOGGER = "SQLQueryContextLogger"  # PySpark writes the messages of failed statements to it, which may quote a cell
OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",  # it tells how much is read
    "spark.sql.catalogImplementation": "in-memory",
    "spark.log.level": "OFF",  # messages of failed tasks may quote a cell
}
PANDAS = (
    "PySpark does not yet fully support pandas"  # a warning that is not for those who ask: no frame goes through pandas
)


def driver() -> Any:
    """pyspark.sql. SourceError 314 where it is not installed."""
    try:
        import pyspark.sql
    except ImportError:
        raise SourceError(
            "Spark needs the package pyspark", code=314, fix="Install it: pip install 'dpsql[spark]'."
        ) from None
    logging.getLogger(LOGGER).disabled = True
    return pyspark.sql


def is_remote(session: object) -> bool:
    """Whether it is one of Spark Connect."""
    return ".connect." in type(session).__module__


def session_at(cluster: Cluster, owner_log: OwnerLog | None) -> SparkSession:
    """SourceError 315 where there is none, 319 where it is an older Spark's."""
    pyspark = driver()
    session: Any = cluster.session
    said, why = "", ""
    if session is None:
        try:
            session = _opened(pyspark, str(cluster.url))
        except SourceError:
            raise
        except Exception as error:  # the message names hosts
            said = f"{type(error).__name__}: {error}"
            why = ": no server answers there" if isinstance(error, ConnectionError) else ""
    if session is None:
        if owner_log is not None:
            owner_log(said)
        logged = "" if owner_log is None else " Details are in the owner's log."
        java = "" if why else "; Spark needs Java 17 or later here unless the address begins with sc://"
        raise SourceError(
            f"the Spark of `source:` cannot be connected to{why}", code=315, fix=f"Check it with pyspark{java}.{logged}"
        )
    check_reached(session)
    if int(str(session.version).partition(".")[0]) < LEAST_VERSION:
        raise SourceError(f"this is Spark {session.version}", code=319, fix="dpsql reads Spark 4 and later.")
    return cast("SparkSession", session)


def _opened(pyspark: Any, url: str) -> Any:
    """One process has one classic Spark: another than the address says is not taken for it."""
    warnings.filterwarnings("ignore", PANDAS, FutureWarning)
    builder = pyspark.SparkSession.Builder()
    if url.startswith("sc://"):
        from pyspark.sql.connect.client import DefaultChannelBuilder

        _reach(DefaultChannelBuilder(url))
        return builder.remote(url).create()
    active = pyspark.SparkSession.getActiveSession()
    running = None if active is None or is_remote(active) else active.sparkContext.master
    if running not in (None, url):
        raise SourceError(
            "this process runs Spark with another master than `source:` says",
            code=315,
            fix="Give that session: connect(…, source=spark).",
        )
    for name, value in OPTIONS.items() if running is None else ():
        builder = builder.config(name, value)
    return builder.master(url).appName("dpsql").getOrCreate()


def check_reached(session: Any) -> None:
    """SourceError 315 where the server of a session of Spark Connect answers no more."""
    if not is_remote(session):
        return
    with suppress(ConnectionError):
        _reach(session.client._builder)
        return
    raise SourceError(
        "the Spark of `source:` answers no more",
        code=315,
        fix="Nothing was charged. Connect again, with a new session where you gave one.",
    )


def _reach(builder: Any) -> None:
    """ConnectionError where nothing answers: PySpark would try again for ten minutes."""
    import grpc

    states: queue.SimpleQueue[object] = queue.SimpleQueue()
    channel = builder.toChannel()
    try:
        channel.subscribe(states.put, try_to_connect=True)
        state: object = None
        while state not in (grpc.ChannelConnectivity.READY, grpc.ChannelConnectivity.TRANSIENT_FAILURE):
            state = states.get(timeout=CONNECT_SECONDS)
    except queue.Empty:
        pass
    finally:
        channel.close()
    if state is not grpc.ChannelConnectivity.READY:
        raise ConnectionError(f"there is no Spark Connect: {state}")
