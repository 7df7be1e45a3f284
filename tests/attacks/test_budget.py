"""A budget that cannot be cheated, through the public API: what costs, what is free, and what never refills."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest

import dpsql
from dpsql.accounting import loss
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.releases import releases
from tests.worlds import dataset, keys, private
from tests.worlds.towns import COUNT, save, write


@pytest.fixture
def yaml(tmp_path: Path) -> Path:
    return write(tmp_path)


@pytest.fixture
def conn(yaml: Path) -> Iterator[dpsql.Connection[Any]]:
    with dpsql.connect(yaml, analyst="ana") as opened:
        yield opened


def spent(conn: dpsql.Connection[Any]) -> float:
    epsilon = conn.budget.spent.epsilon
    assert epsilon is not None
    return epsilon


def ledger_of(yaml: Path) -> Path:
    return yaml.with_name(yaml.name + ".ledger")


# --- free repeats

SAME = [
    COUNT,
    "SELECT v.kind AS k, COUNT(*) AS how_many FROM visits AS v GROUP BY v.kind",
    "SELECT n FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) AS t WHERE n > -1000000 ORDER BY n LIMIT 9",
    "WITH t AS (SELECT kind, COUNT(*) AS n FROM visits GROUP BY 1) SELECT SUM(n) FROM t",
    "SELECT kind, COUNT(*) * 2.5 FROM visits GROUP BY kind HAVING COUNT(*) > -1000000",
]
DIFFERENT = [
    "SELECT kind, COUNT(*) AS n FROM visits WHERE x > 3 GROUP BY kind",
    "SELECT kind, COUNT(*) AS n FROM visits WHERE x > 4 GROUP BY kind",
    "SELECT kind, SUM(x) AS n FROM visits GROUP BY kind",
    "SELECT x, COUNT(*) AS n FROM visits GROUP BY x",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=2) kind, COUNT(*) AS n FROM visits GROUP BY kind",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=1) kind, COUNT(*) AS n FROM visits GROUP BY kind",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='gaussian') kind, COUNT(*) AS n FROM visits GROUP BY kind",
]


def test_the_same_stages_are_charged_once_under_any_last_query(conn: dpsql.Connection[Any]) -> None:
    first = conn.execute(COUNT)
    assert first.privacy is not None and not first.privacy.repeated
    released = first.fetchall()
    for sql in SAME:
        again = conn.execute(sql)
        assert again.privacy is not None and again.privacy.repeated and again.privacy.cost.epsilon == 0, sql
    assert conn.execute(SAME[1]).fetchall() == released
    assert conn.execute(SAME[3]).fetchall() == [(sum(n for _, n in released),)]
    assert spent(conn) == 1


def test_anything_else_is_charged(conn: dpsql.Connection[Any]) -> None:
    conn.execute(COUNT)
    for number, sql in enumerate(DIFFERENT):
        before = spent(conn)
        cursor = conn.execute(sql)
        assert cursor.privacy is not None and not cursor.privacy.repeated, sql
        assert spent(conn) == before + (2 if number == 4 else 1), sql


def test_parameters_are_part_of_the_question(conn: dpsql.Connection[Any]) -> None:
    sql = "SELECT COUNT(*) FROM visits WHERE x > ?"
    for value, repeated in ((3, False), (4, False), (3, True), (4, True)):
        cursor = conn.execute(sql, [value])
        assert cursor.privacy is not None and cursor.privacy.repeated is repeated
    assert spent(conn) == 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT town, COUNT(*) AS n, SUM(x) FROM visits GROUP BY town",
        "SELECT kind, AVG(x), COUNT(DISTINCT id), VAR_POP(x) FROM visits GROUP BY kind",
        "SELECT COUNT(*) FROM visits WHERE x > (SELECT AVG(x) FROM visits)",
        "SELECT kind, MEDIAN(x), MIN(x), MODE(kind) FROM visits GROUP BY kind",
        "SELECT kind, town, COUNT(*) FROM visits GROUP BY ROLLUP (kind, town)",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(top_k=true) kind, COUNT(*) FROM visits GROUP BY kind"
        " ORDER BY COUNT(*) DESC LIMIT 2",
        "SELECT a.n, b.n FROM (SELECT COUNT(*) AS n FROM visits) AS a, (SELECT SUM(x) AS n FROM visits) AS b",
    ],
)
def test_a_repeat_gives_the_same_rows_to_the_bit(conn: dpsql.Connection[Any], sql: str) -> None:
    first = conn.execute(sql).fetchall()
    again = conn.execute(sql)
    assert again.privacy is not None and again.privacy.repeated
    assert repr(again.fetchall()) == repr(first)
    assert spent(conn) == 1


def test_a_noisy_stage_that_another_stage_reads_is_part_of_the_question(conn: dpsql.Connection[Any]) -> None:
    conn.execute("SELECT COUNT(*) FROM visits WHERE x > (SELECT AVG(x) FROM visits)")
    other = conn.execute("SELECT COUNT(*) FROM visits WHERE x > (SELECT AVG(x) + 1 FROM visits)")
    assert other.privacy is not None and not other.privacy.repeated


def test_a_new_connection_and_a_deleted_file_do_not_matter(yaml: Path) -> None:
    with dpsql.connect(yaml, analyst="ana") as one:
        rows = one.execute(COUNT).fetchall()
    (yaml.parent / "visits.parquet").unlink()
    with dpsql.connect(yaml, analyst="ana") as two:
        cursor = two.execute(COUNT)
        assert cursor.fetchall() == rows and cursor.privacy is not None and cursor.privacy.repeated
        assert spent(two) == 1


def test_whether_a_repeat_is_free_does_not_tell_that_the_data_changed(yaml: Path) -> None:
    with dpsql.connect(yaml, analyst="ana") as one:
        rows = one.execute(COUNT).fetchall()
    save(yaml.parent, range(30))
    with dpsql.connect(yaml, analyst="ana") as two:
        assert two.execute(COUNT).fetchall() == rows
        assert spent(two) == 1


def charged_again(first: dpsql.Connection[Any], second: dpsql.Connection[Any]) -> bool:
    first.execute(COUNT)
    before = spent(second)
    second.execute(COUNT)
    return spent(second) > before


def test_who_what_and_which_version_must_be_the_same(tmp_path: Path) -> None:
    yaml = write(tmp_path)
    with dpsql.connect(yaml, analyst="ana") as ana, dpsql.connect(yaml, analyst="bob") as bob:
        assert charged_again(ana, bob)
        assert not charged_again(ana, ana)
        write(tmp_path, version="2")
        with dpsql.connect(yaml, analyst="ana") as newer:
            assert charged_again(ana, newer)
        write(tmp_path, max_rows=2)
        with dpsql.connect(yaml, analyst="ana") as wider:
            assert charged_again(ana, wider)


def test_without_a_version_and_with_source_every_run_is_charged(tmp_path: Path) -> None:
    yaml = write(tmp_path)
    yaml.write_text(yaml.read_text().replace("version: 1\n", ""))
    with dpsql.connect(yaml) as conn:
        assert charged_again(conn, conn)
    write(tmp_path)
    with dpsql.connect(yaml, source={"visits": tmp_path / "visits.parquet"}) as conn:
        assert charged_again(conn, conn)


def test_fresh_pays_for_new_noise(conn: dpsql.Connection[Any]) -> None:
    fresh = COUNT.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(fresh=true)")
    answers = {repr(conn.execute(sql).fetchall()) for sql in (COUNT, *[fresh] * 5)}
    assert len(answers) > 1
    assert spent(conn) == 6
    conn.execute("SET fresh = true")
    conn.execute(COUNT)
    assert spent(conn) == 7
    conn.execute(COUNT.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(fresh=false)"))
    assert spent(conn) == 7


def test_users_tables_count_by_what_is_in_them(conn: dpsql.Connection[Any]) -> None:
    sql = "SELECT COUNT(*) FROM visits JOIN mine ON mine.k = visits.kind"
    conn.execute("CREATE TABLE mine (k TEXT)")
    for rows, repeated in (("('a')", False), (None, True), ("('b')", False), (None, True)):
        if rows is not None:
            conn.execute(f"INSERT INTO mine VALUES {rows}")
        cursor = conn.execute(sql)
        assert cursor.privacy is not None and cursor.privacy.repeated is repeated
    assert spent(conn) == 2


# --- failing costs the same; what was released is kept


def test_failed_post_processing_keeps_the_rows(tmp_path: Path) -> None:
    """Also where repeats are not free: with source=."""
    yaml = write(tmp_path)
    failing = "SELECT kind, CAST('x' || CAST(COUNT(*) AS TEXT) AS INTEGER) FROM visits GROUP BY kind"
    for source in (None, {"visits": tmp_path / "visits.parquet"}):
        with dpsql.connect(yaml, source=source, analyst=f"{source is None}") as conn:
            before = spent(conn)
            with pytest.raises(dpsql.PostProcessingError):
                conn.execute(failing)
            assert spent(conn) == before + 1
            cursor = conn.execute(COUNT)
            assert cursor.privacy is not None and cursor.privacy.repeated
            assert spent(conn) == before + 1


def test_rows_kept_after_a_failure_answer_once(tmp_path: Path) -> None:
    """With source= the next question is about the data as they are then, and is charged."""
    yaml = write(tmp_path)
    failing = "SELECT kind, CAST('x' || CAST(COUNT(*) AS TEXT) AS INTEGER) FROM visits GROUP BY kind"
    with dpsql.connect(yaml, source={"visits": tmp_path / "visits.parquet"}) as conn:
        with pytest.raises(dpsql.PostProcessingError):
            conn.execute(failing)
        assert (conn.would_charge(COUNT).epsilon, conn.explain(COUNT).refused) == (0, None)
        for already in (1, 2, 3):
            conn.execute(COUNT)
            assert spent(conn) == already


def test_explain_says_what_would_be_refused_now(tmp_path: Path) -> None:
    yaml = write(tmp_path, budget="{epsilon: 3}", more="analysts: {ana: {epsilon: 1.5}, bob: {}}")
    other = "SELECT SUM(x) FROM visits"
    with dpsql.connect(yaml, analyst="ana") as ana, dpsql.connect(yaml, analyst="eve") as eve:
        assert ana.explain(COUNT).refused is None and "left now: ε = 1.5" in str(ana.explain(COUNT))
        ana.execute(COUNT)
        assert ana.explain(COUNT).refused is None  # a repeat
        assert ana.explain("SELECT 1").refused is None
        told = ana.explain(other)
        assert told.left is not None and told.left.epsilon == 0.5
        assert "analyst 'ana' does not allow this query (DPSQL-400). The largest epsilon that would pass is 0.5" in str(
            told
        )
        with pytest.raises(dpsql.BudgetError, match="DPSQL-400"):
            ana.execute(other)
        assert eve.explain(other).to_dict()["refused"] == "DPSQL-403"
        assert spent(ana) == 1


def test_static_failures_and_refusals_are_free(conn: dpsql.Connection[Any]) -> None:
    for sql in ("SELECT", "SELECT x FROM visits", "SELECT nothing FROM visits", "SELECT COUNT(*) FROM elsewhere"):
        with pytest.raises(dpsql.Error):
            conn.execute(sql)
    assert spent(conn) == 0


def test_an_engine_failure_stays_charged(yaml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpsql.engine.vault import Snapshot

    def fail(*_: object, **__: object) -> object:
        raise dpsql.ExecutionError("the engine failed")

    with dpsql.connect(yaml, analyst="ana") as conn:
        with monkeypatch.context() as patched:
            patched.setattr(Snapshot, "run", fail)
            with pytest.raises(dpsql.ExecutionError):
                conn.execute(COUNT, query_id="q")
        assert spent(conn) == 1
        conn.execute(COUNT, query_id="q")  # nothing was stored: a new charge
        assert spent(conn) == 2
        conn.execute(COUNT, query_id="q")
        assert spent(conn) == 2


# --- query ids


def test_a_query_id_is_charged_once_also_where_repeats_are_not_free(tmp_path: Path) -> None:
    yaml = write(tmp_path)
    fresh = COUNT.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(fresh=true)")
    with dpsql.connect(yaml, source={"visits": tmp_path / "visits.parquet"}) as conn:
        rows = conn.execute(fresh, query_id="one").fetchall()
        assert conn.execute(fresh, query_id="one").fetchall() == rows
        assert spent(conn) == 1
        conn.execute(fresh, query_id="two")
        assert spent(conn) == 2
        with pytest.raises(dpsql.InterfaceError) as refused:
            conn.execute("SELECT COUNT(*) FROM visits", query_id="one")
        assert refused.value.code == "DPSQL-412"


def test_a_query_id_is_bound_to_its_analyst(yaml: Path) -> None:
    with dpsql.connect(yaml, analyst="ana") as ana, dpsql.connect(yaml, analyst="bob") as bob:
        ana.execute(COUNT, query_id="one")
        bob.execute(COUNT, query_id="one")
        assert spent(ana) == 2


# --- no refill


def test_nothing_refills(tmp_path: Path) -> None:
    """A new connection, other bounds, another version, another budget: what was spent stays, and the owner is told."""
    yaml = write(tmp_path, budget="{epsilon: 1.5}")
    changes: list[dict[str, object]] = [{}, {"max_rows": 3}, {"version": "9"}]
    with dpsql.connect(yaml) as conn:
        conn.execute(COUNT)
    for change in changes:
        write(tmp_path, budget="{epsilon: 1.5}", **change)
        with dpsql.connect(yaml) as conn:
            assert spent(conn) == 1
            assert bool(conn.notices) == (change != {})
            with pytest.raises(dpsql.BudgetError) as refused:
                conn.execute("SELECT SUM(x) FROM visits")
            assert refused.value.code == "DPSQL-400" and "0.5" in str(refused.value)
    write(tmp_path, budget="{epsilon: 2}")
    with dpsql.connect(yaml) as conn:
        assert spent(conn) == 1 and conn.budget.left.epsilon == 1
        assert any("budget" in notice for notice in conn.notices)
        assert any("budget" in str(message) for _, message in conn.messages)


def test_another_name_another_ledger_and_another_notion_are_refused(tmp_path: Path) -> None:
    yaml = write(tmp_path)
    with dpsql.connect(yaml) as conn:
        conn.execute(COUNT)
    write(tmp_path, dataset="renamed")
    with pytest.raises(dpsql.LedgerError) as renamed:
        dpsql.connect(yaml)
    assert renamed.value.code == "DPSQL-410"
    write(tmp_path, accounting="zcdp")
    with pytest.raises(dpsql.LedgerError) as notion:
        dpsql.connect(yaml)
    assert notion.value.code == "DPSQL-413"
    write(tmp_path)
    with pytest.raises(dpsql.InterfaceError):
        dpsql.connect(yaml, ledger=tmp_path / "second.ledger")
    with pytest.raises(dpsql.CatalogError):
        dpsql.connect(yaml, budget=1000)


def test_a_link_is_no_second_budget(tmp_path: Path) -> None:
    """Neither to the metadata, nor to its folder, nor to the ledger, nor a path with dots in it."""
    folder = tmp_path / "here"
    folder.mkdir()
    yaml = write(folder)
    (folder / "other.yaml").symlink_to(yaml)
    (folder / "second.yaml").symlink_to("other.yaml")
    (tmp_path / "there").symlink_to(folder)
    ways = [yaml, folder / "other.yaml", folder / "second.yaml", tmp_path / "there" / "towns.yaml"]
    ways += [folder / ".." / "there" / "other.yaml"]
    for number, way in enumerate(ways, start=1):
        with dpsql.connect(way, analyst="ana") as conn:
            conn.execute(f"SELECT COUNT(*) FROM visits WHERE x > {number}")
            assert spent(conn) == number, way
    (tmp_path / "link.ledger").symlink_to(ledger_of(yaml))
    with dpsql.connect(yaml, analyst="ana", ledger=tmp_path / "link.ledger") as conn:
        assert spent(conn) == len(ways)
    assert [file.name for file in tmp_path.rglob("*.ledger") if not file.is_symlink()] == ["towns.yaml.ledger"]


def test_one_account_per_process_for_a_catalog_without_a_file() -> None:
    catalog = in_memory("one account")
    frame = {"visits": pyarrow.table({"id": [1, 2], "kind": ["a", "b"]}).to_pandas()}
    with dpsql.connect(catalog, source=frame) as one:
        one.execute(COUNT)
    with dpsql.connect(catalog, source=frame) as two:
        assert spent(two) == 1
        two.execute(COUNT)
        with pytest.raises(dpsql.BudgetError):
            two.execute(COUNT)


def in_memory(name: str, **changes: object) -> dict[str, Any]:
    visits = private({"kind": keys("a", "b")}, unit="id", max_groups=1, max_rows=1)
    return dataset(
        {"visits": visits}, **{"dataset": name, "budget": {"epsilon": 2}, "per_query": {"epsilon": 1}, **changes}
    )


def test_a_fork_cannot_spend_a_budget_in_memory() -> None:
    frame = {"visits": pyarrow.table({"id": [1, 2], "kind": ["a", "b"]}).to_pandas()}
    ledger = dpsql.connect(in_memory("forked"), source=frame)._session.ledger
    assert ledger is not None
    child = os.fork()
    if child == 0:
        try:
            ledger.balance()
        except dpsql.LedgerError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_dataset_without_a_budget_says_so_in_every_result(tmp_path: Path) -> None:
    save(tmp_path, range(20))
    yaml = tmp_path / "smartnoise.yaml"
    yaml.write_text(
        "db:\n  '':\n    visits:\n      max_ids: 1\n      rows: 20\n      id: {private_id: true, type: int}\n"
        "      x: {type: int, lower: 0, upper: 10}\n"
    )
    with dpsql.connect(yaml, source=tmp_path / "visits.parquet", epsilon=500) as conn:
        for sql in ("SELECT COUNT(*) FROM visits", "SELECT SUM(x) FROM visits"):
            cursor = conn.execute(sql)
            assert cursor.privacy is not None
            assert any("no budget" in note for note in cursor.privacy.notes)
            assert "no budget" in str(cursor.privacy)
        assert spent(conn) == 1000 and conn.budget.left.epsilon is None


def test_budget_of_connect_gets_no_larger_by_connecting_again(tmp_path: Path) -> None:
    save(tmp_path, range(20))
    yaml = tmp_path / "smartnoise.yaml"
    yaml.write_text(
        "db:\n  '':\n    visits:\n      max_ids: 1\n      rows: 20\n      id: {private_id: true, type: int}\n"
        "      x: {type: int, lower: 0, upper: 10}\n"
    )

    def connect(**options: Any) -> dpsql.Connection[Any]:
        return dpsql.connect(yaml, source=tmp_path / "visits.parquet", epsilon=1, **options)

    with connect(budget=2) as conn:
        conn.execute("SELECT COUNT(*) FROM visits")
    for looser in (3, {"epsilon": 3}, {"epsilon": 2, "delta": 1e-5}, {"epsilon": 1, "delta": 0, "per": "month"}, None):
        with pytest.raises(dpsql.LedgerError) as refused:
            connect(budget=looser)
        assert refused.value.code == "DPSQL-411"
    with connect(budget=1.5) as conn:
        assert conn.budget.left.epsilon == 0.5 and conn.notices
    with connect(budget={"epsilon": 1.5}) as conn:  # without a δ, which is tighter than the number's
        assert conn.budget.total.delta == 0 and conn.notices
    with pytest.raises(dpsql.LedgerError):
        connect(budget=1.5)


# --- caps of analysts, sub-budgets, months


def test_analysts_are_listed_or_refused(tmp_path: Path) -> None:
    yaml = write(tmp_path, more="analysts: {ana: {epsilon: 1}, bob: {}}")
    for name in (None, "eve", "ANA"):
        with dpsql.connect(yaml, analyst=name) as conn, pytest.raises(dpsql.BudgetError) as refused:
            conn.execute(COUNT)
        assert refused.value.code == "DPSQL-403"
    with dpsql.connect(yaml, analyst="ana") as ana:
        ana.execute(COUNT)
        with pytest.raises(dpsql.BudgetError):
            ana.execute("SELECT SUM(x) FROM visits")
        assert ana.budget.per_analyst["ana"].left.epsilon == 0
    with dpsql.connect(yaml, analyst="bob") as bob:
        bob.execute("SELECT SUM(x) FROM visits")
        assert spent(bob) == 2


def test_who_was_taken_off_the_list_may_not_even_repeat(tmp_path: Path) -> None:
    yaml = write(tmp_path, more="analysts: {ana: {}, bob: {}}")
    with dpsql.connect(yaml, analyst="ana") as conn:
        conn.execute(COUNT)
    write(tmp_path, more="analysts: {bob: {}}")
    with dpsql.connect(yaml, analyst="ana") as conn, pytest.raises(dpsql.BudgetError):
        conn.execute(COUNT)


@pytest.mark.parametrize("accounting", ["approx", "zcdp"])
def test_one_query_may_not_cost_more_than_the_owner_says(tmp_path: Path, accounting: str) -> None:
    capped = {"more": "max_per_query: {epsilon: 1.5, delta: 1.0e-8}", "accounting": accounting}
    yaml = write(tmp_path, **capped)
    asking = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon={}, delta={}) kind, COUNT(*) FROM visits GROUP BY kind"
    with dpsql.connect(yaml, analyst="ana") as conn:
        conn.execute(asking.format("1.5", "1e-8"))
        conn.execute("SET epsilon = 1.6")
        ways = [lambda: conn.execute(COUNT), lambda: conn.execute("CREATE TABLE t AS " + COUNT)]
        ways += [lambda: conn.sub_budget(epsilon=50).execute(COUNT), lambda: conn.execute(COUNT, query_id="q")]
        for way in ways:
            with pytest.raises(dpsql.BudgetError) as refused:
                way()
            assert refused.value.code == "DPSQL-401"
            told = str(refused.value)
            assert "Requested epsilon 1.6, delta 0; the owner allows one query at most epsilon 1.5, delta 1e-08" in told
            assert "largest epsilon that would pass is 1.5" in told
        with pytest.raises(dpsql.BudgetError, match="delta of at most 1e-08"):
            conn.execute(
                "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=2e-8) town, COUNT(*) FROM visits GROUP BY town"
            )
        told = conn.explain("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=2) COUNT(*) FROM visits")
        assert "Would be refused now: the cap of one query" in str(told) and told.to_dict()["refused"] == "DPSQL-401"
        assert conn.budget.max_per_query is not None and conn.budget.max_per_query.epsilon == 1.5
        assert "one query at most ε = 1.5, δ = 1e-08" in str(conn.budget)
        told_rows = {row[:2]: row[-2:] for row in conn.execute("SHOW BUDGET").fetchall()}
        assert told_rows["towns", "max per query"] == (1.5, 1e-8)
        assert [release.cost.epsilon for release in releases(Ledger.inspect(ledger_of(yaml)).rows())] == [1.5]


def test_a_lowered_cap_of_one_query_is_told_and_keeps_repeats_free(tmp_path: Path) -> None:
    yaml = write(tmp_path)
    with dpsql.connect(yaml, analyst="ana") as conn:
        rows = conn.execute(COUNT).fetchall()
    write(tmp_path, more="max_per_query: {epsilon: 0.5}").write_text(
        yaml.read_text().replace("per_query: {epsilon: 1, ", "per_query: {epsilon: 0.5, ", 1)
    )
    with dpsql.connect(yaml, analyst="ana", epsilon=1) as conn:
        assert any("max_per_query from null to" in notice for notice in conn.notices)
        assert conn.execute(COUNT).fetchall() == rows
        with pytest.raises(dpsql.BudgetError):
            conn.execute(COUNT.replace("COUNT", "SUM").replace("*", "x"))
        assert spent(conn) == 1


def test_show_budget_shows_what_is_enforced(tmp_path: Path) -> None:
    yaml = write(tmp_path, accounting="zcdp", budget="{epsilon: 4, delta: 1.0e-6}", more="delta_keys: 1.0e-7")
    with dpsql.connect(yaml, analyst="ana") as conn:
        conn.execute(
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, delta=2e-8) town, COUNT(*) FROM visits GROUP BY town"
        )
        cursor = conn.execute("SHOW BUDGET")
        assert [column[0] for column in cursor.description] == [
            "account",
            "what",
            "rho",
            "delta_keys",
            "epsilon",
            "delta",
        ]
        shown = {row[:2]: row[2:] for row in cursor.fetchall()}
        cost = conn.cost(
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, delta=2e-8) town, COUNT(*) FROM visits GROUP BY town"
        )
        rho, keys = shown["towns", "spent"][:2]
        assert (rho, keys) == (cost.rho, 2e-8)
        most = float(loss.rho_for(Fraction(4), Fraction(9, 10**7)))
        assert shown["towns", "total"] == (most, 1e-7, 4, 1e-6)
        assert shown["towns", "left"][:2] == (pytest.approx(most - rho), pytest.approx(8e-8))
        assert shown["ana", "spent"][:2] == (rho, keys)
        held = conn.budget
        assert (held.left.rho, held.left.delta_keys) == shown["towns", "left"][:2]
        assert f"ρ = {rho:.6g}, δ of keys = 2e-08" in str(held)


def test_would_charge_knows_what_is_free(conn: dpsql.Connection[Any]) -> None:
    conn.execute("CREATE TABLE mine (k TEXT)")
    joined = "SELECT COUNT(*) FROM visits JOIN mine ON mine.k = visits.kind"
    fresh = COUNT.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(fresh=true)")
    for sql in (COUNT, joined):
        assert conn.would_charge(sql).epsilon == 1
        conn.execute(sql)
        assert (conn.would_charge(sql).epsilon, conn.cost(sql).epsilon) == (0, 1)
    for sql in (
        SAME[3],
        f"CREATE TABLE other AS {COUNT}",
        f"INSERT INTO mine SELECT kind FROM ({COUNT}) AS t",
        "SELECT 1",
    ):
        assert conn.would_charge(sql).epsilon == 0, sql
    assert conn.would_charge(fresh).epsilon == 1
    assert conn.would_charge("SELECT COUNT(*) FROM visits WHERE x > ?", [3]).epsilon == 1
    conn.execute("INSERT INTO mine VALUES ('a')")
    assert conn.would_charge(joined).epsilon == 1
    assert spent(conn) == 2


def test_a_sub_budget_cannot_spend_more_and_counts_in_the_whole(conn: dpsql.Connection[Any]) -> None:
    sub = conn.sub_budget(epsilon=1.5)
    sub.execute(COUNT)
    assert sub.budget.left.epsilon == 0.5
    with pytest.raises(dpsql.BudgetError) as refused:
        sub.execute("SELECT SUM(x) FROM visits")
    assert refused.value.code == "DPSQL-402"
    inner = sub.sub_budget(epsilon=50)
    with pytest.raises(dpsql.BudgetError):
        inner.execute("SELECT SUM(x) FROM visits")
    assert spent(conn) == 1
    sub.close()
    conn.execute("SELECT SUM(x) FROM visits")
    assert spent(conn) == 2
    with pytest.raises(dpsql.InterfaceError):
        conn.sub_budget()
    exact = dpsql.testing.exact(in_memory("exactly"), source={"visits": pyarrow.table({"id": [1], "kind": ["a"]})})
    with exact, pytest.raises(dpsql.InterfaceError):
        exact.sub_budget(epsilon=1)


def test_a_budget_per_month(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import dpsql.accounting.ledger as module

    day = 86_400_000_000
    now = [1_800_000_000_000_000]
    monkeypatch.setattr(module, "_now", lambda: now[0])
    monkeypatch.setattr(
        Ledger.open.__func__, "__kwdefaults__", Ledger.open.__func__.__kwdefaults__ | {"clock": lambda: now[0]}
    )
    yaml = write(tmp_path, budget="{epsilon: 1, per: month}")
    with dpsql.connect(yaml) as conn:
        conn.execute(COUNT)
        with pytest.raises(dpsql.BudgetError):
            conn.execute("SELECT SUM(x) FROM visits")
        now[0] += 31 * day
        conn.execute("SELECT SUM(x) FROM visits")
        now[0] -= 31 * day  # the clock set back brings nothing back
        with pytest.raises(dpsql.BudgetError):
            conn.execute("SELECT SUM(x + 1) FROM visits")
        assert spent(conn) == 1


# --- amounts

BAD = [float("nan"), float("inf"), -1, 0, 1e-320, True, False, "1e", "", "nan", "-1", Decimal("NaN"), 10**7, None, [1]]
BAD += ["1_0", "\u0661", "0x1", "1/0", "1,5", "1e999", 10**400, Decimal("sNaN"), Decimal("1e-500"), b"1", 1j, object()]
BAD += [np.float64("nan"), np.float32("inf"), np.bool_(True), np.int64(-1), np.datetime64("NaT"), Fraction(-1, 3)]


@pytest.mark.parametrize("value", BAD, ids=lambda value: "object" if type(value) is object else repr(value))
def test_amounts_that_are_none_never_get_in(tmp_path: Path, conn: dpsql.Connection[Any], value: Any) -> None:
    yaml = write(tmp_path)
    if value is not None:
        with pytest.raises(dpsql.Error):
            dpsql.connect(yaml, epsilon=value)
        with pytest.raises(dpsql.Error):
            conn.sub_budget(epsilon=value)
        with pytest.raises(dpsql.Error):
            dpsql.connect(in_memory("bad amounts", budget={"epsilon": value} if repr(value) != "10000000" else -1))
        with pytest.raises(dpsql.Error):
            dpsql.connect(
                in_memory("bad amounts", max_per_query={"epsilon": value} if repr(value) != "10000000" else 1)
            )
        frame = pd.DataFrame({"u": [1]})
        with pytest.raises(dpsql.Error):
            dpsql.PrivateFrame(frame, unit="u", max_groups=1, max_rows=1, budget=1, epsilon=value, dataset="bad").sql(
                "SELECT COUNT(*) FROM df"
            )
    with pytest.raises(dpsql.Error):
        conn.execute("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=?) COUNT(*) FROM visits", [value])
    assert spent(conn) == 0


@pytest.mark.parametrize(
    "value", [np.float64(0.5), np.float32(0.5), Decimal("0.5"), "0.5", "1/2", Fraction(1, 2), "5e-1"]
)
def test_amounts_of_every_kind_are_exact(tmp_path: Path, value: Any) -> None:
    with dpsql.connect(write(tmp_path), epsilon=value) as conn:
        assert conn.cost(COUNT).epsilon == 0.5
        assert conn.sub_budget(epsilon=value).budget.total.epsilon == 0.5


# --- cost and acceptance are a function of the question alone


def test_cost_and_acceptance_are_the_same_without_a_unit(tmp_path: Path) -> None:
    outcomes = []
    for people in (range(60), range(1, 60), [0], []):
        folder = tmp_path / str(len(outcomes))
        folder.mkdir()
        save(folder, people)
        yaml = write(folder, budget="{epsilon: 3, delta: 1.0e-6}")
        with dpsql.connect(yaml, analyst="ana") as conn:
            told: list[object] = []
            for sql in (*DIFFERENT[:3], COUNT, "SELECT town, COUNT(*) FROM visits GROUP BY town"):
                told.append((str(conn.cost(sql)), str(conn.explain(sql))))
                try:
                    told.append(conn.execute(sql).description)
                except dpsql.Error as error:
                    told.append(str(error))
            outcomes.append((told, str(conn.budget)))
    assert all(one == outcomes[0] for one in outcomes)


# --- many processes


def spend(yaml: str, number: int, told: Any) -> None:
    warnings.simplefilter("error")
    accepted = 0
    with dpsql.connect(yaml, analyst=f"a{number}") as conn:
        for asked in range(5):
            try:
                conn.execute(f"SELECT COUNT(*) FROM visits WHERE x > {asked % 10}", query_id=f"{number}-{asked}")
                accepted += 1
            except dpsql.BudgetError:
                break
    told.put(accepted)


def test_eight_processes_never_spend_twice(tmp_path: Path) -> None:
    yaml = write(tmp_path, budget="{epsilon: 20}")
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    workers = [context.Process(target=spend, args=(str(yaml), number, told)) for number in range(8)]
    for worker in workers:
        worker.start()
    accepted = sum(told.get() for _ in workers)
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    with dpsql.connect(yaml, analyst="owner") as conn:
        assert spent(conn) == accepted == 20
    assert Ledger.verify_file(yaml.with_name(yaml.name + ".ledger")) is None
