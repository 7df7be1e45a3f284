"""The vault's SQL grows with the number of calls alone, also in the forms DuckDB makes of it: it writes NULLIF's first
argument out twice, so no NULLIF may stand inside more than a few others."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dpsql.execution.vault_sql import vault_relations
from dpsql.plan.ready import with_public_keys
from dpsql.plan.render.stage import statements
from dpsql.plan.vault_query import with_steps
from dpsql.testing import Replayer
from tests.worlds import ASKED, people

DEPTH = 12
CATALOG: dict[str, Any] = people(
    {"i": "integer", "d": "date", "s": "text", "q": "decimal(38, 2)", "m": "timestamp"},
    max_groups=1,
    max_rows=1,
    budget={"epsilon": 1, "delta": 1e-5},
    per_query=ASKED,
)
TYPES = {"u": pa.int64(), "i": pa.int64(), "d": pa.date32(), "s": pa.string(), "q": pa.decimal128(38, 2)}
SOURCE = pa.schema({**TYPES, "m": pa.timestamp("us")}.items()).empty_table()
CHAINS = {
    "{} + i": "i",
    "{} * i": "i",
    "{} // i": "i",
    "{} % i": "i",
    "i % ({})": "i",
    "i // ({})": "i",
    "q % ({})": "q",
    "round({}, -1)": "i",
    "abs({})": "i",
    "-({})": "i",
    "{} + q": "q",
    "{} + 1": "d",
    "{} + INTERVAL 1 DAY": "d",
    "{} - INTERVAL 1 MONTH": "m",
    "date_trunc('month', {})": "m",
    "strftime(strptime({}, '%Y-%m-%d'), '%Y-%m-%d')": "s",
    "nullif({}, 1)": "i",
    "nullif(1, {})": "i",
    "CAST({} AS HUGEINT) * 3": "i",
    "CAST({} AS HUGEINT) + 3": "i",
    "least({}, i)": "i",
    "coalesce({}, 3)": "i",
}


@pytest.mark.parametrize("chain", CHAINS)
def test_nested_calls_are_written_out_once(chain: str) -> None:
    text = CHAINS[chain]
    for _ in range(DEPTH):
        text = chain.format(text)
    with Replayer(CATALOG, {"t": SOURCE}) as replayer:
        (stage,) = replayer.plan(f"SELECT COUNT(*) FROM t WHERE ({text}) IS NOT NULL").stages
        relations = vault_relations(replayer.session, replayer.session.vault(), stage)
        (question,) = statements(with_public_keys(stage), relations, salt=1).questions
    sql = with_steps(question.steps, question.select)
    assert nested_nullifs(sql) <= 6, sql
    assert len(sql) < 1200 * DEPTH


def nested_nullifs(sql: str) -> int:
    """How many NULLIFs stand around one place at most."""
    open_: list[bool] = []
    most = 0
    for at, sign in enumerate(sql):
        if sign == "(":
            open_.append(sql[:at].upper().endswith("NULLIF"))
            most = max(most, sum(open_))
        elif sign == ")" and open_:
            open_.pop()
    return most
