"""What `engines` asks on each engine, and the plain query there: counts and sums of each unit in each group, clamped, then
added up over units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks._overhead_data import FEW, HIGH, MANY


@dataclass(frozen=True, slots=True)
class Asked:
    """asked: of dpsql. each: of a unit in a group, and clamped: over units, in plain SQL, where n is a limit of rows, s of a
    sum of reals, d of decimals, q of squares."""

    asked: str
    each: str
    clamped: str


COUNT, REALS = "sum(least(n, {n}))", "sum(least(greatest(s, 0), {s}))"
SUMS = Asked("COUNT(*), SUM(x)", "count(*) AS n, sum(x) AS s", f"{COUNT}, {REALS}")
MEAN = Asked("AVG(x)", "count(x) AS n, sum(x) AS s", f"{COUNT}, {REALS}")
SPREAD = Asked(
    "AVG(x), VAR_SAMP(x)",
    "count(x) AS n, sum(x) AS s, sum(x * x) AS q",
    f"{COUNT}, {REALS}, sum(least(q, {{q}}))",
)
DECIMALS = Asked("COUNT(*), SUM(d)", "count(*) AS n, sum(d) AS s", f"{COUNT}, sum(least(greatest(s, 0), {{d}}))")
EXPRESSION = Asked(
    "COUNT(*), SUM(greatest(least(x * x / (x + 1), 240), 0))",
    "count(*) AS n, sum(greatest(least(x * x / (x + 1), 240), 0)) AS s",
    f"{COUNT}, {REALS}",
)
SEVERAL = Asked(
    "COUNT(*), SUM(x), AVG(d), COUNT(*) FILTER (WHERE x > 120), SUM(x) FILTER (WHERE x > 120)",
    "count(*) AS n, sum(x) AS s, count(d) AS nd, sum(d) AS d, count(*) FILTER (WHERE x > 120) AS high,"
    " sum(x) FILTER (WHERE x > 120) AS sum_high",
    f"{COUNT}, {REALS}, sum(least(nd, {{n}})), sum(least(greatest(d, 0), {{d}})), sum(least(high, {{n}})),"
    " sum(least(greatest(sum_high, 0), {s}))",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question. limit: rows of a unit that count. key: what it groups by, or None; mechanism: of the noise, which decides
    how units are weighed; distinct: whose different values are counted, instead of `what`; keys: of `many`; path: rows
    find their unit in the table p, and p.region is the key."""

    name: str
    limit: int
    key: str | None = "few"
    private: bool = False
    what: Asked = SUMS
    distinct: str | None = None
    where: str = ""
    path: bool = False
    keys: int = MANY
    mechanism: str = "auto"

    @property
    def source(self) -> str:
        return f"t{' JOIN p ON t.u = p.person' if self.path else ''}{self.where}"

    @property
    def query(self) -> str:
        key, by = ("", "") if self.key is None else (f"{self.key}, ", f" GROUP BY {self.key}")
        asked = self.what.asked if self.distinct is None else f"COUNT(DISTINCT {self.distinct})"
        options = f"WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='{self.mechanism}')"
        return f"SELECT {options} {key}{asked} FROM {self.source}{by}"

    @property
    def plain(self) -> str:
        """Of each unit's different values, then of all, where these are counted (n > 0, or Spark would leave units out)."""
        name = self.key
        key, by, groups = ("", "u", "") if name is None else (f"{name}, ", f"u, {name}", f" GROUP BY {name}")
        if self.distinct is not None:
            values = f"SELECT {key}{self.distinct}, count(*) AS n FROM {self.source} GROUP BY {by}, {self.distinct}"
            return f"SELECT {key}count(DISTINCT {self.distinct}) FROM ({values}) AS y WHERE n > 0{groups}"
        most = self.limit * HIGH
        ends = {"n": str(self.limit), "s": f"{float(most)!r}e0", "d": str(most), "q": f"{float(most * HIGH)!r}e0"}
        inner = f"SELECT {key}{self.what.each} FROM {self.source} GROUP BY {by}"
        return f"SELECT {key}{self.what.clamped.format(**ends)} FROM ({inner}) AS y{groups}"

    @property
    def catalog(self) -> dict[str, object]:
        between: dict[str, object] = {"lower": 0, "upper": HIGH}
        columns: dict[str, object] = {"x": {"type": "real", **between}, "d": {"type": "decimal(12, 2)", **between}}
        for name, many in (("few", FEW), ("many", self.keys)):
            public = {"type": "integer", "lower": 0, "upper": many - 1, "nullable": False}
            columns[name] = "integer" if self.private and name == self.key else public
        unit: object = {"through": "p", "on": {"u": "person"}} if self.path else "u"
        tables = {"t": {"unit": unit, "rows_per_unit": self.limit, "columns": {"u": "integer", **columns}}}
        if self.path:
            region = {"type": "integer", "lower": 0, "upper": FEW - 1, "nullable": False}
            tables["p"] = {"unit": "person", "rows_per_unit": 1, "columns": {"person": "integer", "region": region}}
        return {
            "dataset": "engines",
            "unit": "person",
            "budget": {"epsilon": 1_000_000, "delta": 0.5},
            "per_query": {"epsilon": 1, "delta": 1e-9},
            "tables": tables,
        }


def cases(limit: int) -> Iterator[Case]:
    yield Case(name="no keys", key=None, limit=limit)
    yield Case(name="8 keys", limit=limit)
    yield Case(name="10,000 keys", key="many", limit=limit)
    yield Case(name="10,000 private", key="many", private=True, limit=limit)
    yield Case(name="8 keys, Gaussian", mechanism="gaussian", limit=limit)
    yield Case(name="private, Gaussian", key="many", private=True, mechanism="gaussian", limit=limit)
    yield Case(name="averages", what=MEAN, limit=limit)
    yield Case(name="variances", what=SPREAD, limit=limit)
    yield Case(name="variances, Gaussian", what=SPREAD, mechanism="gaussian", limit=limit)
    yield Case(name="five at once", what=SEVERAL, limit=limit)
    yield Case(name="a filter", where=" WHERE x > 60 AND many < 8000", limit=limit)
    yield Case(name="a path", path=True, key="region", limit=limit)
    yield Case(name="decimals", what=DECIMALS, limit=limit)
    yield Case(name="an expression", what=EXPRESSION, limit=limit)
    yield Case(name="distinct values", distinct="many", limit=limit)
