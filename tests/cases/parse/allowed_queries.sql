-- # passes parse and allow
-- # each line: ok
SELECT specialty, COUNT(*) AS n FROM visits WHERE duration > 30 GROUP BY specialty
SELECT k, SUM(x), AVG(x), COUNT(DISTINCT id) FILTER (WHERE x > 0) FROM t GROUP BY k HAVING COUNT(*) > 10 ORDER BY 2 DESC NULLS FIRST LIMIT 3 OFFSET 1
SELECT DISTINCT k FROM t
SELECT k FROM t FETCH FIRST 3 ROWS ONLY
SELECT * FROM a JOIN b ON a.x = b.x LEFT OUTER JOIN c USING (x) NATURAL FULL JOIN d CROSS JOIN e, f
SELECT * FROM (a JOIN b ON a.x = b.x) JOIN c ON true
SELECT * FROM a SEMI JOIN b ON a.x = b.x
SELECT * FROM a ANTI JOIN b USING (x)
SELECT * FROM (SELECT 1 AS x) s(a)
SELECT * FROM (VALUES (1, 2), (3, 4)) v(a, b)
SELECT a.b.c.d FROM a.b.c
SELECT t.*, t.x FROM t
FROM t SELECT x WHERE x > 1
WITH c(a) AS (SELECT 1), d AS MATERIALIZED (SELECT 2) SELECT * FROM c, d
(SELECT 1) UNION ALL (SELECT 2) ORDER BY 1 LIMIT 3
SELECT 1 INTERSECT ALL SELECT 2 EXCEPT SELECT 3
SELECT a, b FROM t GROUP BY ROLLUP (a, b), CUBE (c), GROUPING SETS ((a), (), (a, b)), d
SELECT a, count(*) FROM t GROUP BY ALL ORDER BY ALL DESC
SELECT sum(x) OVER (PARTITION BY a ORDER BY b DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t
SELECT sum(x) OVER w, rank() OVER (w ORDER BY y) FROM t WINDOW w AS (PARTITION BY a)
SELECT first_value(x IGNORE NULLS) OVER (ORDER BY y), lag(x, 2, 0) OVER (ORDER BY y) FROM t
SELECT x FROM t QUALIFY row_number() OVER (PARTITION BY a ORDER BY b) = 1
SELECT quantile_cont(x, 0.5), quantile_cont(x, [0.1, 0.9]), percentile_disc(0.5) WITHIN GROUP (ORDER BY x), median(x), mode(x) FROM t
SELECT min(x), max(x), var_samp(x), stddev_pop(x), covar_pop(x, y), corr(x, y), regr_slope(x, y), any_value(x) FROM t
SELECT string_agg(s, ',' ORDER BY s), list(x), arg_max(x, y) FROM t
SELECT x IN (1, 2), x NOT IN (SELECT y FROM u), EXISTS (SELECT 1 FROM u WHERE u.x = t.x), (SELECT max(y) FROM u) FROM t
SELECT CASE WHEN x > 1 THEN 'a' ELSE 'b' END, CASE x WHEN 1 THEN 2 END, coalesce(x, 1), nullif(x, 1), if(b, 1, 2) FROM t
SELECT x + 1 - 2 * 3 / 4 // 5 % 6 ^ 7, -x, s || 'a', NOT b AND c OR d FROM t
SELECT x = 1, x <> 1, x != 1, x < 1, x <= 1, x > 1, x >= 1, x BETWEEN 1 AND 2, x IS NULL, x IS NOT NULL, b IS TRUE, x IS DISTINCT FROM y FROM t
SELECT s LIKE 'a%', s NOT ILIKE 'a' ESCAPE '$', upper(s), lower(s), trim(s), substring(s, 1, 2), left(s, 1), length(s) FROM t
SELECT CAST(x AS DOUBLE), x::VARCHAR, TRY_CAST(s AS DECIMAL(9, 2)), DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00' FROM t
SELECT extract(year FROM d), date_trunc('month', d), date_diff('day', d, e), d + INTERVAL 1 DAY, d - INTERVAL '3 days' FROM t
SELECT round(x, 1), floor(x), ceil(x), abs(x), least(x, y), greatest(x, y), sqrt(x), ln(x), log(2, x), power(x, 2) FROM t
SELECT TRUE, false, NULL, 1, 1.5, .5, 1e5, 'it''s', "q""uoted" FROM "strange table"
