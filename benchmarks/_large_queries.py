"""Queries that are as large as the limits allow, of every kind that can grow: name → the text with n of something."""

from __future__ import annotations

from collections.abc import Callable


def _each(text: str, n: int, between: str = ", ") -> str:
    """text n times, with its {i}."""
    return between.join(text.format(i=i, j=i + 1) for i in range(n))


def _ctes(body: str, n: int, last: str) -> str:
    """c0 is the visits, each cj is made of ci."""
    chain = "".join(f", c{i + 1} AS ({body.format(i=i)})" for i in range(n))
    return f"WITH c0 AS (SELECT visit_id, patient_id, duration FROM visits){chain} {last.format(n=n)}"


VISITS = "SELECT COUNT(*) FROM visits"
LARGE: dict[str, Callable[[int], str]] = {
    "WHENs": lambda n: f"SELECT SUM(CASE {_each('WHEN duration > {i} THEN {i}', n, ' ')} ELSE 0 END) FROM visits",
    "WHENs of a key": lambda n: (
        f"SELECT CASE {_each('WHEN duration > {i} THEN {i}', n, ' ')} END, COUNT(*) FROM visits GROUP BY 1"
    ),
    "CASE in CASE": lambda n: (
        f"SELECT SUM({_each('CASE WHEN duration > {i} THEN {i} ELSE ', n, '')}0{' END' * n}) FROM visits"
    ),
    "IN of numbers": lambda n: f"{VISITS} WHERE visit_id IN ({_each('{i}', n)})",
    "IN of texts": lambda n: f"{VISITS} WHERE referrer IN ({_each(chr(39) + 'a{i}' + chr(39), n)})",
    "IN of sums": lambda n: f"{VISITS} WHERE duration IN ({_each('visit_id + {i}', n)})",
    "arguments": lambda n: (
        f"SELECT SUM(GREATEST({_each('visit_id + {i}', n)})) FROM visits WHERE visit_id BETWEEN 0 AND 9"
    ),
    "ORs": lambda n: f"{VISITS} WHERE {_each('duration = {i}', n, ' OR ')}",
    "sums of terms": lambda n: f"SELECT SUM({_each('LEAST(duration, {i})', n, ' + ')}) FROM visits",
    "products": lambda n: f"SELECT SUM(duration{' * 1.5' * n}) FROM visits",
    "calls in calls": lambda n: f"SELECT SUM({'ROUND(' * n}duration{', 2)' * n}) FROM visits",
    "remainders": lambda n: f"SELECT SUM({'(' * n}visit_id{' % 7)' * n}) FROM visits",
    "sums": lambda n: f"SELECT {_each('SUM(LEAST(duration, {j}))', n)} FROM visits",
    "averages": lambda n: f"SELECT {_each('AVG(LEAST(duration, {j}))', n)} FROM visits",
    "one sum again": lambda n: f"SELECT {_each('SUM(duration) AS c{i}', n)} FROM visits",
    "medians": lambda n: f"SELECT {_each('MEDIAN(LEAST(duration, {j}))', n)} FROM visits",
    "FILTERs": lambda n: f"SELECT {_each('COUNT(*) FILTER (WHERE duration > {i})', n)} FROM visits",
    "bins": lambda n: f"SELECT HISTOGRAM(duration, [{_each('{i}', n)}]) FROM visits",
    "intervals": lambda n: (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(intervals = 0.9) "
        f"{_each('AVG(LEAST(duration, {j})) / COUNT(*) AS c{i}', n)} FROM visits"
    ),
    "keys": lambda n: f"SELECT {_each('substr(referrer, {j})', n)}, COUNT(*) FROM visits GROUP BY ALL",
    "one key again": lambda n: f"SELECT {_each('specialty AS c{i}', n)}, COUNT(*) FROM visits GROUP BY ALL",
    "grouping sets": lambda n: f"{VISITS} GROUP BY GROUPING SETS ({_each('(duration > {i})', n)})",
    "CUBE": lambda n: f"{VISITS} GROUP BY CUBE ({_each('(duration > {i})', n)})",
    "CTE after CTE": lambda n: _ctes("SELECT * FROM c{i} WHERE duration > {i}", n, "SELECT COUNT(*) FROM c{n}"),
    "CTE of two": lambda n: _ctes(
        "SELECT a.* FROM c{i} AS a JOIN c{i} AS b ON a.patient_id = b.patient_id", n, "SELECT COUNT(*) FROM c{n}"
    ),
    "CTEs not used": lambda n: f"WITH {_each(f'c{{i}} AS ({VISITS})', n)} SELECT * FROM c0",
    "counts of CTEs": lambda n: (
        f"WITH {_each(f'c{{i}} AS ({VISITS} WHERE duration > {{i}})', n)} SELECT * FROM {_each('c{i}', n)}"
    ),
    "UNION of rows": lambda n: (
        f"SELECT COUNT(*) FROM ({_each('SELECT patient_id FROM visits WHERE duration > {i}', n, ' UNION ALL ')})"
    ),
    "UNION of counts": lambda n: _each(f"{VISITS} WHERE duration > {{i}}", n, " UNION ALL "),
    "public joins": lambda n: f"{VISITS} AS v {_each('JOIN specialties AS s{i} ON v.specialty = s{i}.name', n, ' ')}",
    "joins by unit": lambda n: (
        f"{VISITS} AS v {_each('JOIN visits AS s{i} ON v.patient_id = s{i}.patient_id', n, ' ')}"
    ),
    "EXISTS": lambda n: (
        f"{VISITS} AS v WHERE "
        + _each("EXISTS (SELECT 1 FROM visits AS w WHERE w.patient_id = v.patient_id AND w.duration > {i})", n, " AND ")
    ),
    "scalar subqueries": lambda n: f"SELECT {_each(f'({VISITS} WHERE duration > {{i}})', n)}",
    "windows": lambda n: (
        "SELECT COUNT(*) FROM (SELECT patient_id, "
        + _each("SUM(duration) OVER (PARTITION BY patient_id ORDER BY visit_id + {i}) AS r{i}", n)
        + " FROM visits) WHERE r0 > 3"
    ),
    "columns": lambda n: (
        f"SELECT COUNT(*) FROM (SELECT *, {_each('duration + {i} AS d{i}', n)} FROM visits) WHERE d0 > 1"
    ),
    "subqueries inside": lambda n: f"SELECT COUNT(*) FROM {'(SELECT * FROM ' * n}visits{')' * n}",
    "rows of VALUES": lambda n: f"{VISITS} JOIN (VALUES {_each('({i})', n)}) AS v(i) ON visit_id = i",
    "sort keys": lambda n: f"SELECT specialty, COUNT(*) FROM visits GROUP BY 1 ORDER BY {_each('COUNT(*) + {i}', n)}",
    "letters": lambda n: f"{VISITS} WHERE referrer = '{'x' * n}'",
    "digits": lambda n: f"{VISITS} WHERE duration > {'1' * n}",
    "wildcards": lambda n: f"{VISITS} WHERE referrer LIKE '{'%a' * n}'",
}
