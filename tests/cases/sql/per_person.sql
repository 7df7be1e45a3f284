-- # one row per person
SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id)
-- ok
SELECT n, COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY n
-- ok
SELECT LEAST(n, 5) AS n, COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY 1
-- ok
SELECT SUM(LEAST(n, 20)) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)
-- ok
SELECT AVG(LEAST(n, 20)) FROM (SELECT patient_id, COUNT(score) AS n FROM visits GROUP BY patient_id)
-- ok
SELECT AVG(n) FROM (SELECT patient_id, COUNT(DISTINCT specialty) AS n FROM visits GROUP BY patient_id)
-- ok
SELECT AVG(m) FROM (SELECT patient_id, AVG(duration) AS m FROM visits GROUP BY patient_id)
-- ok
SELECT AVG(m) FROM (SELECT patient_id, AVG(cost) AS m FROM visits GROUP BY patient_id HAVING COUNT(*) >= 3)
-- ok
SELECT SUM(LEAST(s, 700)) FROM (SELECT patient_id, SUM(duration) AS s FROM visits GROUP BY patient_id)
-- ok
SELECT SUM(LEAST(s, 2000)) FROM (SELECT patient_id, SUM(cost) AS s FROM visits GROUP BY patient_id)
-- ok
SELECT SUM(GREATEST(LEAST(s, 50), 0)) FROM (SELECT patient_id, SUM(score) AS s FROM visits GROUP BY patient_id)
-- ok
SELECT AVG(LEAST(s, 50)), COUNT(s) FROM (SELECT patient_id, SUM(quantity) AS s FROM items JOIN visits USING (visit_id) GROUP BY patient_id)
-- ok
SELECT AVG(lo), AVG(hi), AVG(hi - lo) FROM (SELECT patient_id, MIN(duration) AS lo, MAX(duration) AS hi FROM visits GROUP BY patient_id)
-- ok
SELECT AVG(datediff('day', a, b)) FROM (SELECT patient_id, MIN(visited_on) AS a, MAX(visited_on) AS b FROM visits GROUP BY patient_id)
-- ok
SELECT first, COUNT(*) FROM (SELECT patient_id, MIN(specialty) AS first FROM visits GROUP BY patient_id) GROUP BY first
-- ok
SELECT AVG(sd), AVG(vp) FROM (SELECT patient_id, STDDEV(duration) AS sd, VAR_POP(cost) AS vp FROM visits GROUP BY patient_id)
-- ok
SELECT AVG(m) FROM (SELECT patient_id, MEDIAN(duration) AS m FROM visits GROUP BY patient_id)
-- ok
SELECT AVG(q) FROM (SELECT patient_id, quantile_cont(duration, 0.25) AS q FROM visits GROUP BY patient_id)
-- ok
SELECT b, COUNT(*) FROM (SELECT patient_id, bool_or(cost > 400) AS b FROM visits GROUP BY patient_id) GROUP BY b
-- ok
SELECT b, COUNT(*) FROM (SELECT patient_id, bool_and(cost > 50) AS b FROM visits GROUP BY patient_id) GROUP BY b
-- ok
SELECT COUNT(*) FROM (SELECT patient_id, COUNT_IF(cost > 100) AS c FROM visits GROUP BY patient_id) WHERE c > 1
-- ok
SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) FILTER (WHERE cost > 100) AS c FROM visits GROUP BY patient_id) WHERE c = 0
-- ok
SELECT AVG(m) FROM (SELECT patient_id, AVG(duration) FILTER (WHERE specialty = 'surgery') AS m FROM visits GROUP BY patient_id)
-- ok
SELECT AVG(GREATEST(LEAST(s, 300), 0)) FROM (SELECT patient_id, SUM(DISTINCT score) AS s FROM visits GROUP BY patient_id)
-- ok
SELECT f, COUNT(*) FROM (SELECT patient_id, FIRST(specialty ORDER BY visited_on, visit_id) AS f FROM visits GROUP BY patient_id) GROUP BY f
-- ok
SELECT f, COUNT(*) FROM (SELECT patient_id, LAST(specialty ORDER BY visited_on, visit_id) AS f FROM visits GROUP BY patient_id) GROUP BY f
-- ok
SELECT f, COUNT(*) FROM (SELECT patient_id, arg_max(specialty, visit_id) AS f FROM visits GROUP BY patient_id) GROUP BY f
-- ok
SELECT f, COUNT(*) FROM (SELECT patient_id, arg_min(specialty, visit_id) AS f FROM visits GROUP BY patient_id) GROUP BY f
-- ok
SELECT COUNT(*) FROM (SELECT patient_id, ANY_VALUE(specialty) AS f FROM visits GROUP BY patient_id) WHERE f IS NOT NULL
-- ok
SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING SUM(cost) > 500 AND COUNT(*) < 6)
-- ok
SELECT sex, AVG(LEAST(n, 9)) FROM (SELECT p.patient_id, sex, COUNT(v.visit_id) AS n FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id GROUP BY p.patient_id, sex) GROUP BY sex
-- ok
SELECT COUNT(*) FROM (SELECT patient_id AS who, COUNT(*) AS n FROM visits GROUP BY who) t JOIN patients p ON p.patient_id = t.who WHERE n > 2 AND age < 70
-- ok
SELECT COUNT(*), COUNT(c) FROM (SELECT patient_id, COUNT_IF(score > 3) AS c FROM visits GROUP BY patient_id)
-- ok
SELECT COUNT(c), SUM(LEAST(c, 3)) FROM (SELECT COUNT_IF(score > 3) OVER (PARTITION BY patient_id ORDER BY visit_id ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) AS c FROM visits)
-- ok
-- # one row per person and key
SELECT specialty, AVG(LEAST(n, 5)) FROM (SELECT patient_id, specialty, COUNT(*) AS n FROM visits GROUP BY patient_id, specialty) GROUP BY specialty
-- ok
SELECT specialty, COUNT(*) FROM (SELECT patient_id, specialty FROM visits GROUP BY ALL) GROUP BY specialty
-- ok
SELECT m, SUM(LEAST(c, 900)) FROM (SELECT patient_id, MONTH(visited_on) AS m, SUM(cost) AS c FROM visits GROUP BY patient_id, MONTH(visited_on)) GROUP BY m
-- ok
SELECT t, SUM(LEAST(n, 9)) FROM (SELECT patient_id, specialty AS t, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((patient_id, specialty), (patient_id))) GROUP BY t
-- ok
-- # several levels
SELECT AVG(LEAST(most, 6)) FROM (SELECT patient_id, MAX(n) AS most FROM (SELECT patient_id, specialty, COUNT(*) AS n FROM visits GROUP BY patient_id, specialty) GROUP BY patient_id)
-- ok
SELECT k, COUNT(*) FROM (SELECT patient_id, COUNT(*) AS k FROM (SELECT patient_id, specialty, AVG(duration) AS d FROM visits GROUP BY patient_id, specialty) WHERE d > 60 GROUP BY patient_id) GROUP BY k
-- ok
SELECT AVG(a) FROM (SELECT patient_id, AVG(b) AS a FROM (SELECT patient_id, specialty, AVG(c) AS b FROM (SELECT patient_id, specialty, visited_on, AVG(duration) AS c FROM visits GROUP BY patient_id, specialty, visited_on) GROUP BY patient_id, specialty) GROUP BY patient_id)
-- ok
SELECT COUNT(*) FROM (SELECT patient_id, visit_id, SUM(quantity) AS q FROM items JOIN visits USING (visit_id) GROUP BY patient_id, visit_id) WHERE q > 5
-- ok
-- # windows
SELECT specialty, COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS r FROM visits) WHERE r = 1 GROUP BY specialty
-- ok
SELECT specialty, COUNT(*) FROM (SELECT specialty FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on DESC, visit_id) <= 2) GROUP BY specialty
-- ok
SELECT r, COUNT(*) FROM (SELECT RANK() OVER (PARTITION BY patient_id ORDER BY visited_on) AS r FROM visits) GROUP BY r
-- ok
SELECT r, COUNT(*) FROM (SELECT DENSE_RANK() OVER (PARTITION BY patient_id ORDER BY score DESC) AS r FROM visits) GROUP BY r
-- ok
SELECT AVG(a), AVG(b) FROM (SELECT PERCENT_RANK() OVER w AS a, CUME_DIST() OVER w AS b FROM visits WINDOW w AS (PARTITION BY patient_id ORDER BY cost))
-- ok
SELECT t, COUNT(*) FROM (SELECT NTILE(3) OVER (PARTITION BY patient_id ORDER BY visit_id) AS t FROM visits) GROUP BY t
-- ok
SELECT AVG(LEAST(gap, 90)) FROM (SELECT datediff('day', LAG(visited_on) OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id), visited_on) AS gap FROM visits)
-- ok
SELECT COUNT(*) FROM (SELECT specialty AS a, LEAD(specialty) OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS b FROM visits) WHERE a = 'oncology' AND b = 'surgery'
-- ok
SELECT a, COUNT(*) FROM (SELECT LAG(specialty, 2, 'none') OVER (PARTITION BY patient_id ORDER BY visit_id) AS a FROM visits) GROUP BY a
-- ok
SELECT AVG(f), AVG(l) FROM (SELECT FIRST_VALUE(duration) OVER w AS f, LAST_VALUE(duration) OVER w AS l FROM visits WINDOW w AS (PARTITION BY patient_id ORDER BY visit_id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))
-- ok
SELECT COUNT(*) FROM (SELECT NTH_VALUE(cost, 2) OVER (PARTITION BY patient_id ORDER BY visit_id) AS c FROM visits) WHERE c > 100
-- ok
SELECT COUNT(*) FROM (SELECT SUM(cost) OVER (PARTITION BY patient_id ORDER BY visit_id ROWS UNBOUNDED PRECEDING) AS s FROM visits) WHERE s > 500
-- ok
SELECT AVG(LEAST(s, 800)) FROM (SELECT SUM(duration) OVER (PARTITION BY patient_id ORDER BY visited_on) AS s FROM visits)
-- ok
SELECT AVG(m) FROM (SELECT AVG(duration) OVER (PARTITION BY patient_id ORDER BY visit_id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS m FROM visits)
-- ok
SELECT SUM(LEAST(c, 9)) FROM (SELECT COUNT(*) OVER (PARTITION BY patient_id ORDER BY visited_on RANGE BETWEEN INTERVAL 14 DAYS PRECEDING AND CURRENT ROW) AS c FROM visits)
-- ok
SELECT SUM(LEAST(c, 9)) FROM (SELECT COUNT(*) OVER (PARTITION BY patient_id ORDER BY visited_on GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) AS c FROM visits)
-- ok
SELECT SUM(LEAST(c, 9)) FROM (SELECT COUNT(*) OVER (PARTITION BY patient_id ORDER BY visited_on ROWS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS c FROM visits)
-- ok
SELECT AVG(duration / t) FROM (SELECT duration, MAX(duration) OVER (PARTITION BY patient_id) AS t FROM visits) WHERE t > 1
-- ok, not compared: a quotient has no bounds
SELECT AVG(LEAST(duration / t, 1)) FROM (SELECT duration, MAX(duration) OVER (PARTITION BY patient_id) AS t FROM visits) WHERE t > 1
-- ok
SELECT COUNT(*) FROM (SELECT SUM(CASE WHEN g > 20 THEN 1 ELSE 0 END) OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id ROWS UNBOUNDED PRECEDING) AS session FROM (SELECT *, datediff('day', LAG(visited_on) OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id), visited_on) AS g FROM visits)) WHERE session > 0
-- ok
SELECT specialty, COUNT(*) FROM (SELECT specialty, COUNT(*) OVER (PARTITION BY patient_id, specialty) AS c FROM visits) WHERE c > 1 GROUP BY specialty
-- ok
-- # grouping sets
SELECT specialty, COUNT(*) FROM visits GROUP BY ROLLUP (specialty)
-- ok
SELECT specialty, MONTH(visited_on), COUNT(*), SUM(cost) FROM visits GROUP BY ROLLUP (specialty, MONTH(visited_on))
-- ok
SELECT sex, specialty, COUNT(*) FROM patients JOIN visits USING (patient_id) GROUP BY CUBE (sex, specialty)
-- ok
SELECT specialty, referrer, COUNT(*) FROM visits GROUP BY GROUPING SETS ((specialty), (referrer), ())
-- ok
SELECT specialty, referrer, GROUPING(specialty, referrer) AS g, COUNT(*) FROM visits GROUP BY ROLLUP (specialty, referrer) HAVING COUNT(*) > 3
-- ok
SELECT GROUPING(specialty) AS g, AVG(duration) FROM visits GROUP BY CUBE (specialty) ORDER BY g
-- ok
SELECT t, COUNT(*) FROM (SELECT patient_id, specialty AS t FROM visits GROUP BY GROUPING SETS ((patient_id, specialty), (patient_id))) GROUP BY t
-- ok
SELECT t, u, COUNT(*) FROM (SELECT patient_id, specialty AS t, referrer AS u FROM visits GROUP BY patient_id, ROLLUP (specialty, referrer)) GROUP BY t, u
-- ok
-- # ties: equal visiting days, so only the total order decides
SELECT specialty, COUNT(*) FROM (SELECT specialty, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY MONTH(visited_on)) AS r FROM visits) WHERE r = 2 GROUP BY specialty
-- ok, not compared: DuckDB picks any order among ties
SELECT a, COUNT(*) FROM (SELECT LAG(specialty) OVER (PARTITION BY patient_id ORDER BY MONTH(visited_on)) AS a FROM visits) GROUP BY a
-- ok, not compared: DuckDB picks any order among ties
SELECT SUM(LEAST(s, 300)) FROM (SELECT SUM(cost) OVER (PARTITION BY patient_id ORDER BY MONTH(visited_on) ROWS 1 PRECEDING) AS s FROM visits)
-- ok, not compared: DuckDB picks any order among ties
SELECT f, COUNT(*) FROM (SELECT patient_id, FIRST(specialty ORDER BY MONTH(visited_on)) AS f FROM visits GROUP BY patient_id) GROUP BY f
-- ok, not compared: DuckDB picks any order among ties
SELECT f, COUNT(*) FROM (SELECT patient_id, arg_max(referrer, MONTH(visited_on)) AS f FROM visits GROUP BY patient_id) GROUP BY f
-- ok, not compared: DuckDB picks any order among ties
-- # frames that end at a peer
SELECT l, COUNT(*) FROM (SELECT LAST_VALUE(MONTH(visited_on)) OVER (PARTITION BY patient_id ORDER BY MONTH(visited_on)) AS l FROM visits) GROUP BY l
-- ok
SELECT l, COUNT(*) FROM (SELECT LAST_VALUE(specialty) OVER (PARTITION BY patient_id ORDER BY MONTH(visited_on)) AS l FROM visits) GROUP BY l
-- ok, not compared: DuckDB picks any order among ties
SELECT COUNT(*) FROM (SELECT NTH_VALUE(1, 3) OVER (PARTITION BY patient_id ORDER BY MONTH(visited_on)) AS n FROM visits) WHERE n IS NULL
-- ok
SELECT COUNT(*) FROM (SELECT NTH_VALUE(1, 3) OVER (PARTITION BY patient_id ORDER BY MONTH(visited_on) RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS n FROM visits) WHERE n = 1
-- ok
SELECT COUNT(*) FROM (SELECT NTH_VALUE(1, 3) OVER (PARTITION BY patient_id) AS n FROM visits) WHERE n = 1
-- ok
SELECT f, COUNT(*) FROM (SELECT FIRST_VALUE(MONTH(visited_on)) OVER (PARTITION BY patient_id ORDER BY MONTH(visited_on) GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS f FROM visits) GROUP BY f
-- ok
SELECT SUM(LEAST(GREATEST(l, 0), 9)), COUNT(f), COUNT(n) FROM (SELECT LAST_VALUE(score IGNORE NULLS) OVER w AS l, FIRST_VALUE(score IGNORE NULLS) OVER w AS f, NTH_VALUE(score, 2 IGNORE NULLS) OVER w AS n FROM visits WINDOW w AS (PARTITION BY patient_id ORDER BY visit_id))
-- ok
SELECT SUM(c) FROM (SELECT LAG(cost, 1, 0) OVER (PARTITION BY patient_id ORDER BY visit_id) AS c FROM visits)
-- ok
SELECT AVG(d) FROM (SELECT LEAD(duration, 1, 0) OVER (PARTITION BY patient_id ORDER BY visit_id) AS d FROM visits)
-- ok
SELECT COUNT(*) FROM (SELECT NTILE(2) OVER (PARTITION BY patient_id ORDER BY visit_id ROWS 3 PRECEDING) AS t FROM visits) WHERE t = 1
-- ok
-- # the most frequent value, distinct values, the largest first
SELECT m, COUNT(*) FROM (SELECT patient_id, MODE(specialty) AS m FROM visits GROUP BY patient_id) GROUP BY m
-- ok, not compared: DuckDB picks any of several
SELECT m, COUNT(*) FROM (SELECT patient_id, MODE() WITHIN GROUP (ORDER BY specialty) AS m FROM visits GROUP BY patient_id) GROUP BY m
-- ok
SELECT m, COUNT(*) FROM (SELECT patient_id, MODE(specialty ORDER BY visited_on) FILTER (WHERE cost > 20) AS m FROM visits GROUP BY patient_id) GROUP BY m
-- ok, not compared: DuckDB picks any order among ties
SELECT AVG(GREATEST(LEAST(m, 9), 0)) FROM (SELECT patient_id, MEDIAN(DISTINCT score) AS m FROM visits GROUP BY patient_id)
-- ok
SELECT SUM(GREATEST(LEAST(q, 9), 0)) FROM (SELECT patient_id, QUANTILE_DISC(DISTINCT score, 0.3) AS q FROM visits GROUP BY patient_id)
-- ok
SELECT AVG(GREATEST(LEAST(q, 9), 0)) FROM (SELECT patient_id, PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY score DESC) AS q FROM visits GROUP BY patient_id)
-- ok
SELECT SUM(GREATEST(LEAST(q, 9), 0)) FROM (SELECT patient_id, PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY score DESC) AS q FROM visits GROUP BY patient_id)
-- ok
SELECT SUM(GREATEST(LEAST(q, 9), 0)) FROM (SELECT patient_id, PERCENTILE_DISC(0) WITHIN GROUP (ORDER BY score DESC) AS q FROM visits GROUP BY patient_id)
-- ok
SELECT SUM(n) FROM (SELECT patient_id, COUNT_IF(DISTINCT cost > 100) AS n FROM visits GROUP BY patient_id)
-- ok
SELECT f, COUNT(*) FROM (SELECT patient_id, FIRST(specialty ORDER BY 'x', visit_id, 1e308) AS f FROM visits GROUP BY patient_id) GROUP BY f
-- ok, not compared: DuckDB refuses to sort by a constant
SELECT COUNT(f) FROM (SELECT patient_id, ARG_MAX(referrer, 1.0) AS f FROM visits GROUP BY patient_id)
-- ok, not compared: any of them
SELECT m, COUNT(*) FROM (SELECT patient_id, MODE('x' ORDER BY visit_id) AS m FROM visits GROUP BY patient_id) GROUP BY m
-- ok, not compared: DuckDB takes the constant for a fraction
SELECT COUNT(*) FROM (SELECT BOOL_OR(cost > 50) OVER (PARTITION BY patient_id) AS m FROM visits) WHERE m = 'true'
-- ok
-- # windows that number rows in several orders: each runs over the results of those before
SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY cost) AS a, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY score DESC) AS b FROM (SELECT patient_id, cost, score FROM visits)) WHERE a = b
-- ok, not compared: DuckDB picks any order among ties
SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visit_id) AS a, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visit_id DESC) AS b FROM visits) WHERE a < b
-- ok
SELECT SUM(n) FROM (SELECT LAG(score) OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS n, LEAD(score) OVER (PARTITION BY patient_id ORDER BY visit_id) AS m, COUNT(*) OVER (PARTITION BY patient_id, specialty) AS k FROM visits) WHERE m > 3 AND k > 1
-- ok
SELECT SUM(LEAST(GREATEST(n, 0), 20)) FROM (SELECT SUM(score) OVER (PARTITION BY patient_id ORDER BY visit_id ROWS 1 PRECEDING) AS n, NTILE(2) OVER (PARTITION BY patient_id, specialty ORDER BY visit_id) AS m, LAG(score) OVER (PARTITION BY patient_id ORDER BY visit_id DESC) AS l FROM visits) WHERE m = 1 AND l > 0
-- ok
