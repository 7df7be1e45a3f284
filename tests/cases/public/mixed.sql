-- # Private queries in parentheses, and DuckDB's SQL above them: in exact mode what DuckDB answers over the private rows
-- # each line: equal
PIVOT (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ON ward USING sum(n)
PIVOT (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ON ward IN ('a', 'b') USING sum(n) AS s
WITH a AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) PIVOT a ON ward USING sum(n)
FROM (PIVOT (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ON ward USING max(n))
SELECT * FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) PIVOT (sum(n) FOR ward IN ('a', 'c'))
UNPIVOT (SELECT COUNT(*) AS n, SUM(age) AS s FROM visits) ON n, s INTO NAME what VALUE v ORDER BY what
WITH a AS (SELECT COUNT(*) AS n, COUNT(DISTINCT u) AS m FROM visits) UNPIVOT a ON COLUMNS(*) INTO NAME what VALUE v ORDER BY what
SELECT ward, list_transform([n], lambda x: x / 2) AS l FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY ward
SELECT list(n ORDER BY ward) AS l FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)
SELECT map_from_entries(list((ward, n) ORDER BY ward)) AS m FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)
SELECT unnest([n, n + 1]) AS x FROM (SELECT COUNT(*) AS n FROM visits)
SELECT x FROM (SELECT COUNT(*) AS n FROM visits) t, unnest([n, 2 * n]) AS u(x) ORDER BY x
SELECT {'ward': ward, 'n': n} AS s FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY ward
SELECT t FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS t ORDER BY t
SELECT DISTINCT ON (n > 150) ward, n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY n > 150, ward
SELECT * EXCLUDE (n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY ward
SELECT * REPLACE (n * 2 AS n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY ward
SELECT COLUMNS('n') FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY 1
SELECT ward, n FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) QUALIFY row_number() OVER (ORDER BY n DESC, ward) = 1 AND list_contains(['a'], ward)
SELECT ward, n, regexp_replace(ward, 'a', 'A') AS w FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY ward
SELECT format('{}: {}', ward, n) AS line FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY ward
SELECT bar(n, 0, 400, 10) AS b FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY ALL
WITH a AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) SELECT ward, n FROM a UNION ALL BY NAME SELECT 0 AS n, 'none' AS ward ORDER BY ALL
(SELECT [n] AS l FROM (SELECT COUNT(*) AS n FROM visits)) UNION ALL (SELECT [1, 2]) ORDER BY 1
WITH RECURSIVE r AS (SELECT n, 1 AS i FROM (SELECT COUNT(*) AS n FROM visits) UNION ALL SELECT n / 2, i + 1 FROM r WHERE i < 4) SELECT i, n FROM r ORDER BY i
WITH RECURSIVE a AS (SELECT COUNT(*) AS n FROM visits), r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 3) SELECT i * n AS x FROM r, a ORDER BY x
SELECT i, n FROM range(3) AS r(i), (SELECT COUNT(*) AS n FROM visits) AS t ORDER BY i
SELECT d.day, coalesce(n, 0) AS n FROM generate_series(DATE '2024-01-01', DATE '2024-01-07', INTERVAL 1 DAY) AS d(day) LEFT JOIN (SELECT day, COUNT(*) AS n FROM visits WHERE day BETWEEN DATE '2024-01-01' AND DATE '2024-01-07' GROUP BY day) v ON v.day = d.day ORDER BY d.day
SELECT a.ward, n, m FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a ASOF JOIN (SELECT ward, SUM(age) AS m FROM visits GROUP BY ward) b ON a.ward = b.ward AND a.n <= b.m ORDER BY a.ward
SELECT a.ward FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) a POSITIONAL JOIN range(3) ORDER BY ALL
SELECT v.ward, w.x FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) v, LATERAL (SELECT v.n + 1 AS x) w ORDER BY ALL
WITH v AS (SELECT ward, age FROM visits WHERE age > 10), a AS (SELECT ward, COUNT(*) AS n FROM v GROUP BY ward) SELECT [ward] AS l, n FROM a ORDER BY n, l
WITH v(w, a) AS (SELECT ward, age FROM visits), x AS (SELECT w, COUNT(*) AS n FROM v GROUP BY w), y AS (SELECT COUNT(a) AS s FROM v) SELECT {'w': w, 'n': n, 's': s} AS r FROM x, y ORDER BY w
WITH v AS (SELECT ward FROM visits), a AS (WITH b AS (SELECT ward, COUNT(*) AS n FROM v GROUP BY ward) SELECT * FROM b) SELECT max(n), list_sort(list(ward)) FROM a
WITH a AS MATERIALIZED (SELECT COUNT(*) AS n FROM visits) SELECT [n] AS l FROM a
SELECT len([1, 2]) + (SELECT COUNT(*) FROM visits) AS x
SELECT list_value((SELECT COUNT(*) FROM visits), 1)
SELECT [x * n FOR x IN [1, 2]] AS l FROM (SELECT COUNT(*) AS n FROM visits)
SELECT name, (SELECT COUNT(*) FROM visits) AS n, [id] AS l FROM towns ORDER BY id
SELECT name FROM towns WHERE [people > (SELECT COUNT(*) FROM visits) / 4][1] ORDER BY name
SELECT kind, s.n FROM towns, (SELECT {'n': n} AS s FROM (SELECT COUNT(*) AS n FROM visits)) ORDER BY id
SELECT a, (b)[1] AS first FROM (SELECT 1 AS a, [n] AS b FROM (SELECT COUNT(*) AS n FROM visits))
SELECT json_object('ward', ward, 'n', n)::VARCHAR AS j FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY 1
SELECT ward, struct_pack(n := n, share := round(n / sum(n) OVER (), 4)) AS s FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY ward
SELECT arg_max(ward, n), arg_min(ward, n + ascii(ward)) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)
SELECT median(n), mode(n), string_agg(ward, '' ORDER BY ward) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)
SELECT l[1] AS x, l[-1] AS y, l[1:2] AS z FROM (SELECT list(n ORDER BY ward) AS l FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward))
SELECT list_sum(list(n))::BIGINT AS s FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)
SELECT column_name FROM (DESCRIBE (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)) ORDER BY 1
SELECT column_name, max FROM (SUMMARIZE (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)) ORDER BY 1
SUMMARIZE (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)
SELECT n, random() BETWEEN 0 AND 1 AS r, current_date > DATE '2020-01-01' AS c FROM (SELECT COUNT(*) AS n FROM visits)
SELECT b.name, l FROM big_towns b, (SELECT [n] AS l FROM (SELECT COUNT(*) AS n FROM visits)) ORDER BY name
SELECT l[1] + n AS x FROM nested, (SELECT COUNT(*) AS n FROM visits) ORDER BY x
SELECT 'visits' AS visits, [n] AS l FROM (SELECT COUNT(*) AS n FROM visits)
SELECT [n] AS l FROM (SELECT COUNT(*) AS n FROM "VISITS" WHERE "Age" > 50)
SELECT [n] AS l FROM (SELECT COUNT(*) AS n FROM private_view)
SELECT [n] AS l /* FROM visits ( */ FROM (SELECT COUNT(*) AS n FROM visits /* ) */)
SELECT MAP {ward: n} AS m FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY ward
SELECT [n] AS l FROM ((SELECT COUNT(*) AS n FROM visits))
SELECT [n] AS l FROM (SELECT COUNT(*) AS n FROM visits UNION ALL SELECT COUNT(*) FROM visits WHERE age > 50) ORDER BY n
SELECT [a.n, b.n] AS l FROM (SELECT COUNT(*) AS n FROM visits) a, (SELECT COUNT(*) AS n FROM visits WHERE age > 50) b
SELECT list_value(COUNT(*), 1) FROM visits
SELECT list_value(COUNT(*), 1) AS l, ward FROM visits GROUP BY ward ORDER BY ward
SELECT ward, {'n': COUNT(*), 'm': SUM(age)::BIGINT} AS s FROM visits GROUP BY ward ORDER BY COUNT(*) DESC, ward
SELECT ward, format('{} {}', ward, COUNT(*)) FROM visits GROUP BY 1 ORDER BY 1
SELECT upper(ward) AS w, [COUNT(*)] FROM visits GROUP BY ALL ORDER BY w
SELECT [COUNT(*)] AS l FROM visits HAVING COUNT(*) > 5
SELECT ward, [COUNT(*) FILTER (WHERE age > 50), COUNT(*)] AS l FROM visits v GROUP BY v.ward ORDER BY ward
SELECT v.ward, [COUNT(*)] FROM visits v GROUP BY v.ward ORDER BY ALL
SELECT bar(COUNT(*), 0, 400, 10), COUNT(*) FROM visits WHERE age > 10
SELECT regexp_replace(ward, 'a', 'b') AS w, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n, w
WITH v AS (SELECT ward FROM visits) SELECT lpad(ward, 3, '-') AS w, [COUNT(*)] AS l FROM v GROUP BY ward ORDER BY w
SELECT ward, [COUNT(*)] AS l FROM visits GROUP BY ward QUALIFY row_number() OVER (ORDER BY COUNT(*) DESC, ward) = 1
SELECT ward, [COUNT(*), (sum(COUNT(*)) OVER ())::BIGINT] AS l FROM visits GROUP BY ward ORDER BY ward
SELECT DISTINCT [COUNT(*) > 0] AS l FROM visits GROUP BY ward
SELECT random() < 2 AS r, COUNT(*) AS n, current_date > DATE '2020-01-01' AS c FROM visits
SELECT day + INTERVAL 1 DAY AS d, [COUNT(*)] AS l FROM visits WHERE day BETWEEN DATE '2024-01-01' AND DATE '2024-01-03' GROUP BY day ORDER BY d
SELECT ward, printf('%.1f', AVG(age)) AS a FROM visits GROUP BY ward ORDER BY ward
SELECT ward, [COUNT(*)] AS l FROM visits GROUP BY ward ORDER BY l LIMIT 1
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward UNION ALL BY NAME SELECT 5 AS m, 'none' AS ward ORDER BY ALL
SELECT COUNT(*) AS n, ward FROM visits GROUP BY ward UNION BY NAME SELECT 'all' AS ward, COUNT(*) AS n FROM visits ORDER BY ALL
SELECT COUNT(*) AS n FROM visits UNION ALL SELECT unnest([1, 2]) ORDER BY n DESC LIMIT 2
SELECT unnest([1, 2, 400]) AS x INTERSECT SELECT COUNT(*) FROM visits
SELECT unnest([1, 400]) AS x EXCEPT SELECT COUNT(*) FROM visits WHERE age >= 0
SELECT unnest([1, 2]) AS x UNION ALL SELECT COUNT(*) FROM visits EXCEPT SELECT 1 ORDER BY ALL
FROM visits SELECT COUNT(*) AS n UNION ALL SELECT unnest([1, 2]) ORDER BY 1
WITH v AS (SELECT * FROM visits WHERE age > 10) SELECT COUNT(*) AS n FROM v UNION ALL SELECT unnest([1, 2]) ORDER BY n
WITH v AS (SELECT ward FROM visits), w AS (SELECT ward FROM v) SELECT ward, COUNT(*) AS n FROM w GROUP BY ward UNION ALL SELECT 'sum', sum(i) FROM range(3) r(i) ORDER BY ALL
WITH RECURSIVE r AS (SELECT COUNT(*) AS n, 1 AS i FROM visits UNION ALL SELECT n // 2, i + 1 FROM r WHERE i < 4) SELECT n, i FROM r ORDER BY i
SELECT (SELECT COUNT(*) FROM visits UNION ALL SELECT unnest([]::BIGINT[])) AS n
SELECT [n] AS l FROM (SELECT COUNT(*) AS n FROM visits UNION ALL SELECT unnest([1, 2])) ORDER BY l
SELECT x FROM (VALUES (1), (2)) t(x) UNION ALL SELECT COUNT(*) FROM visits UNION ALL VALUES (7) ORDER BY x
SELECT bin((SELECT COUNT(*) FROM visits)) AS b
WITH a AS ((SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)) SELECT [n] AS l FROM a ORDER BY l
SUMMARIZE SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward
SUMMARIZE WITH v AS (SELECT ward FROM visits) SELECT ward, COUNT(*) AS n FROM v GROUP BY ward
SELECT column_name FROM (SUMMARIZE SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY 1
FROM (DESCRIBE SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward QUALIFY row_number() OVER (ORDER BY n DESC, ward) = 1
SELECT * EXCLUDE (ward) FROM (SELECT ward, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY ward) ORDER BY ALL
SELECT COLUMNS(* EXCLUDE ward) + 1 FROM (SELECT ward, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY ward) ORDER BY ALL
SELECT ward, COUNT(*) AS n, format('{:.1f}', SUM(age)::DOUBLE) AS f FROM visits GROUP BY ward ORDER BY ward
SELECT ward, round(100.0 * COUNT(*) / sum(COUNT(*)) OVER (), 1) AS pct FROM visits GROUP BY ward ORDER BY ward
WITH d AS (SELECT day, COUNT(*) AS n FROM visits WHERE day BETWEEN DATE '2024-01-01' AND DATE '2024-01-05' GROUP BY day) SELECT day, n, avg(n) OVER (ORDER BY day ROWS 2 PRECEDING) AS m, n - lag(n) OVER (ORDER BY day) AS d FROM d ORDER BY day
WITH a AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) SELECT a.*, t.name FROM a LEFT JOIN towns t ON t.kind = a.ward ORDER BY ALL
WITH a AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) SELECT ward, n FROM a UNION ALL SELECT 'all', sum(n) FROM a ORDER BY ALL
SELECT string_agg(ward || '=' || n, ', ' ORDER BY ward) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)
SELECT ward, n, CASE WHEN n > 150 THEN 'big' ELSE 'small' END AS size, lpad(ward, 3, '.') AS w FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) ORDER BY ward
SELECT r.ward, r.n, s.amount FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) r ASOF JOIN sales s ON r.ward = s.kind AND r.n >= s.n ORDER BY ALL
SELECT * FROM (SELECT ward, day, COUNT(*) AS n FROM visits WHERE day BETWEEN DATE '2024-01-01' AND DATE '2024-01-03' GROUP BY ward, day) PIVOT (sum(n) FOR ward IN ('a', 'b', 'c')) ORDER BY day
SELECT name FROM towns WHERE people > (SELECT COUNT(*) FROM visits) / 3 AND name.lower() ~ '[a-z]+' ORDER BY name
SELECT MAP {'n': COUNT(*)} AS m, {'s': COUNT(age)} AS s, [COUNT(*)] AS l FROM visits
SELECT ward, to_json({'n': COUNT(*)})::VARCHAR AS j FROM visits GROUP BY ward ORDER BY ward
SELECT ward, COUNT(*) AS n, repeat('#', (COUNT(*) // 20)::INTEGER) AS line FROM visits GROUP BY ward ORDER BY n DESC, ward
FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) SELECT max_by(ward, n), min_by(ward, n || ward), list(n ORDER BY n DESC)[1:2] AS top
-- # each line: released
SELECT h, map_keys(h)[1] AS k FROM (SELECT HISTOGRAM(age, 5) AS h FROM visits)
SELECT e.key, e.value FROM (SELECT unnest(map_entries(h)) AS e FROM (SELECT HISTOGRAM(age, 5) AS h FROM visits))
SELECT unnest(q) AS x FROM (SELECT QUANTILE_CONT(age, [0.25, 0.75]) AS q FROM visits)
SELECT q[1] AS low, q[2] AS high FROM (SELECT QUANTILE_CONT(age, [0.25, 0.75]) AS q FROM visits)
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(split = (n => 3, m => 1)) [n, m] FROM (SELECT COUNT(*) AS n, SUM(age) AS m FROM visits)
SELECT unnest(map_values(h)) AS n FROM (SELECT HISTOGRAM(age, 4) AS h FROM visits)
SELECT HISTOGRAM(age, 4)[50] AS at FROM visits
SELECT k, h[k] FROM (SELECT h, unnest(map_keys(h)) AS k FROM (SELECT HISTOGRAM(age, 4) AS h FROM visits))
SELECT q[1] AS lo, q[-1] AS hi, list_avg(q) AS mid FROM (SELECT QUANTILE_CONT(age, [0.1, 0.5, 0.9]) AS q FROM visits)
SELECT QUANTILE_CONT(age, [0.1, 0.5, 0.9])[2] AS mid FROM visits
SELECT i, q[i] FROM (SELECT QUANTILE_CONT(age, [0.1, 0.5]) AS q FROM visits), range(1, 3) AS r(i)
SELECT ward, unnest(q) AS v FROM (SELECT ward, QUANTILE_CONT(age, [0.1, 0.5]) AS q FROM visits GROUP BY ward)
SELECT unnest(t) AS place FROM (SELECT APPROX_TOP_K(ward, 2) AS t FROM visits)
SELECT APPROX_TOP_K(ward, 2)[1] AS best, len(APPROX_TOP_K(ward, 2)) AS n FROM visits
