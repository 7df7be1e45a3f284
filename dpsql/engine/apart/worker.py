"""The process apart, as a program of its own: it knows DuckDB and nothing of dpsql, and holds public rows alone.

A line of JSON in is one statement, a line of JSON out what became of it. Each runs in a database of its own, which is
locked before it sees the text, and gone after it. Where the process that asked is gone, this one ends.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any


def main() -> None:
    """First line: where Python finds DuckDB. Then statements."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nothing but answers on the first
    lines: queue.Queue[str] = queue.Queue()
    sys.path[:0] = json.loads(sys.stdin.readline() or "[]")
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    _be_first_to_go()
    while True:
        answer = _answer(json.loads(lines.get()))
        out.write(json.dumps(answer) + "\n")
        out.flush()


def _listen(lines: queue.Queue[str]) -> None:
    """The end of input is the end of whoever asked: no statement goes on without one."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


def _be_first_to_go() -> None:
    """Where the machine runs out of memory, this process is the one to end."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
            score.write("1000")
    except OSError:
        pass


def _limit(space: int, file_size: int) -> None:
    """Of this process as a whole: what DuckDB does not count is limited, too."""
    try:
        import resource
    except ImportError:  # Windows has none
        return
    for what, most in ((resource.RLIMIT_AS, space), (resource.RLIMIT_FSIZE, file_size), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    import duckdb

    try:
        _limit(asked["space"], asked["file_size"])
        connection = duckdb.connect(":memory:", config={"disable_database_invalidation": True})
        try:
            return _run(connection, asked)
        finally:
            connection.close()
    except (MemoryError, duckdb.OutOfMemoryException) as error:
        return {"failed": "memory", "message": str(error)}
    except (duckdb.Error, RuntimeError, ValueError, OverflowError) as error:
        return {"failed": type(error).__name__, "message": str(error)}


def _run(connection: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """columns: of the statement's rows, which are a table of the database that goes back."""
    for statement in asked["before"]:
        connection.execute(statement).fetchall()
    for name in asked["removed"]:  # what is open stays open
        os.unlink(name)
    for name, other in asked["renamed"].items():
        os.rename(name, other)
    text, given = asked["text"], _given(asked["parameters"])
    described = connection.execute(f"DESCRIBE {text}", given).fetchall()
    columns = [[name, type_] for name, type_, *_ in described]
    if asked["kind"] == "rows":
        names = ", ".join(f"c{i}" for i in range(len(columns)))
        connection.execute(f"CREATE TABLE {asked['into']} ({names}) AS {text}", given).fetchall()
    return {"columns": columns}


def _given(parameters: Any) -> Any:
    if isinstance(parameters, dict):
        return {name: _value(*one) for name, one in parameters.items()} or None
    return [_value(*one) for one in parameters] or None


def _value(kind: str, value: Any) -> Any:
    from datetime import date, datetime, time, timedelta
    from decimal import Decimal
    from uuid import UUID

    read: dict[str, Callable[[Any], Any]] = {
        "plain": lambda v: v,
        "decimal": Decimal,
        "uuid": UUID,
        "bytes": bytes.fromhex,
        "date": date.fromisoformat,
        "datetime": datetime.fromisoformat,
        "time": time.fromisoformat,
        "timedelta": lambda v: timedelta(*v),
        "list": lambda v: [_value(*one) for one in v],
        "dict": lambda v: {name: _value(*one) for name, one in v.items()},
    }
    return read[kind](value)


if __name__ == "__main__":
    main()
