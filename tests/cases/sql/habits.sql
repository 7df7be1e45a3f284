-- # VAR, STD, TOP
SELECT VAR(cost) FROM visits
-- ok, as SELECT VAR_SAMP(cost) FROM visits
SELECT specialty, STD(duration) AS sd FROM visits GROUP BY specialty
-- ok, as SELECT specialty, STDDEV(duration) AS sd FROM visits GROUP BY specialty
SELECT AVG(LEAST(s, 300)) FROM (SELECT patient_id, STD(cost) AS s FROM visits GROUP BY patient_id)
-- ok, as SELECT AVG(LEAST(s, 300)) FROM (SELECT patient_id, STDDEV_SAMP(cost) AS s FROM visits GROUP BY patient_id)
SELECT TOP 2 specialty, COUNT(*) AS n FROM visits GROUP BY specialty ORDER BY n DESC
-- ok, as SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty ORDER BY n DESC LIMIT 2
SELECT DISTINCT TOP 1 specialty FROM (SELECT specialty, COUNT(*) FROM visits GROUP BY specialty) ORDER BY specialty
-- ok, as SELECT 'cardiology'
SELECT COUNT(*) FROM (SELECT TOP 2 n FROM (SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty) ORDER BY n)
-- ok, as SELECT 2
SELECT TOP 3 PERCENT specialty, COUNT(*) FROM visits GROUP BY specialty
-- DPSQL-120 at 1:12: dpsql does not answer LIMIT in per cent
SELECT TOP 3 patient_id FROM visits
-- DPSQL-112 at 1:14: this query returns rows of people, not statistics
-- # booleans as numbers
SELECT SUM(cost > 100), SUM(duration < 60) FROM visits
-- ok
SELECT AVG(cost > 100) FROM visits
-- ok, as SELECT AVG((cost > 100)::INT) FROM visits
SELECT COUNT(*) FROM visits WHERE (cost > 100) = 1
-- ok
SELECT COUNT(*) FROM visits WHERE (cost > 100) <> 0
-- ok
SELECT COUNT(*) FROM visits WHERE (cost > 100) IN (1, 2)
-- ok
SELECT COUNT(*) FROM visits WHERE true = 1
-- ok
SELECT SUM(CASE WHEN cost > 100 THEN duration > 20 ELSE 0 END) FROM visits
-- ok
SELECT SUM(COALESCE(cost > 100, 0)) FROM visits
-- ok
SELECT (cost > 100) = 1.0 AS k, COUNT(*) FROM visits GROUP BY k
-- ok
SELECT COUNT(*) FROM visits WHERE (cost > 100) + 1 = 2
-- DPSQL-105 at 1:36: integer or decimal or real is expected here, this is boolean
-- # FLOAT and unsigned types
SELECT AVG(CAST(cost AS REAL)), SUM(duration::FLOAT) FROM visits
-- ok
SELECT MEDIAN(CAST(quantity AS FLOAT)) > -1 FROM items
-- ok
SELECT COUNT(*) FROM visits WHERE TRY_CAST(referrer AS REAL) IS NULL
-- ok
SELECT SUM(CAST(score AS UTINYINT)) FROM visits
-- ok
SELECT CAST(score AS UTINYINT) % 3 AS k, COUNT(*) FROM visits GROUP BY k
-- ok
SELECT CAST(score AS USMALLINT) AS k, COUNT(*) FROM visits WHERE score IN (1, 2) GROUP BY k
-- ok
SELECT SUM(CAST(quantity AS UBIGINT)), AVG(CAST(quantity AS USMALLINT)) FROM items
-- ok
SELECT SUM(LEAST(score::UINTEGER, 10)) FROM visits
-- ok
SELECT COUNT(TRY_CAST(-score AS UTINYINT)), COUNT(TRY_CAST(score * 50 AS UTINYINT)) FROM visits
-- ok
SELECT COUNT(TRY_CAST(score * 1000000000 AS UINTEGER)), COUNT(TRY_CAST(referrer AS UBIGINT)) FROM visits
-- ok
SELECT SUM(CAST(cost AS UHUGEINT)) FROM visits
-- DPSQL-120 at 1:25: dpsql has no type UINT128
SELECT SUM(CAST(visited_on AS UINTEGER)) FROM visits
-- DPSQL-105 at 1:17: date cannot be converted to integer
-- # COUNT(unit)
SELECT COUNT(patient_id) FROM visits
-- ok
SELECT specialty, COUNT(v.patient_id) FROM visits v GROUP BY specialty
-- ok
SELECT sex, COUNT(patient_id), COUNT(DISTINCT patient_id) FROM patients GROUP BY sex
-- ok
SELECT COUNT(v.patient_id) FILTER (WHERE cost > 100) FROM visits v
-- ok
SELECT COUNT(patient_id) FROM items JOIN visits USING (visit_id)
-- ok
SELECT COUNT(v.patient_id) FROM patients p LEFT JOIN visits v USING (patient_id)
-- ok
SELECT COUNT(patient_id, cost) FROM visits
-- DPSQL-115 at 1:14: the privacy unit is in COUNT()
-- # patterns that are constants
SELECT COUNT(*) FROM visits WHERE specialty LIKE 'sur' || '%'
-- ok
SELECT COUNT(*) FROM visits WHERE referrer NOT LIKE concat('%', 'A')
-- ok
SELECT COUNT(*) FROM visits WHERE specialty LIKE '%' || 'ur' || '%' ESCAPE '/'
-- ok
SELECT COUNT(*) FROM visits WHERE regexp_matches(referrer, 'Dr' || ' [AB]')
-- ok
SELECT COUNT(*) FROM visits WHERE referrer LIKE specialty || '%'
-- DPSQL-105 at 1:49: the pattern must be a constant
-- # names that are keywords to others
SELECT COUNT(*) AS alter FROM visits
-- ok
SELECT COUNT(*) force FROM visits
-- ok
SELECT alter, COUNT(*) FROM (SELECT specialty AS alter FROM visits) GROUP BY alter
-- ok
SELECT force.specialty, COUNT(*) FROM visits force GROUP BY 1
-- ok
WITH install AS (SELECT * FROM visits) SELECT COUNT(*) AS insert FROM install
-- ok
SELECT drop.rollback, COUNT(*) FROM (SELECT specialty AS rollback FROM visits) AS drop GROUP BY ALL
-- ok
-- # frames in small letters
SELECT AVG(LEAST(s, 900)) FROM (SELECT SUM(duration) OVER (PARTITION BY patient_id ORDER BY visit_id rows between unbounded preceding and current row) AS s FROM visits)
-- ok
SELECT AVG(LEAST(s, 900)) FROM (SELECT SUM(duration) OVER (PARTITION BY patient_id ORDER BY visit_id ROWS 2 PRECEDING) AS s FROM visits)
-- ok
SELECT AVG(LEAST(s, 900)) FROM (SELECT COUNT(*) OVER (PARTITION BY patient_id ORDER BY visit_id rows 1 preceding) AS s FROM visits)
-- ok
SELECT specialty, SUM(COUNT(*)) OVER (ORDER BY specialty rows unbounded preceding) FROM visits GROUP BY specialty
-- ok
SELECT SUM(COUNT(*)) OVER (ORDER BY specialty rows between 1 following and 1 preceding) FROM visits GROUP BY specialty
-- DPSQL-105 at 1:60: this is not a valid frame: FOLLOWING to PRECEDING
-- # CONCAT_WS
SELECT concat_ws('-', specialty, referrer) AS k, COUNT(*) FROM visits GROUP BY k
-- ok
SELECT COUNT(*) FROM visits WHERE concat_ws(', ', specialty, NULL, referrer) = 'surgery, Dr A'
-- ok
SELECT COUNT(*) FROM visits WHERE concat_ws('', NULL, referrer) = ''
-- ok
SELECT AVG(LEAST(length(concat_ws('/', specialty, score, cost > 100)), 30)) FROM visits
-- ok
SELECT concat_ws('-', COUNT(*), 'x') FROM visits
-- ok
SELECT COUNT(*) FROM visits WHERE concat_ws(referrer, 'a', 'b') = ''
-- DPSQL-107 at 1:35: CONCAT_WS works on released results, not on rows of people
-- # HAVING finds an alias before a column that is no key
SELECT specialty, SUM(duration) AS duration FROM visits GROUP BY specialty HAVING duration > 10
-- ok
SELECT specialty, COUNT(*) AS cost FROM visits GROUP BY specialty HAVING cost > 3
-- ok
SELECT upper(specialty) AS specialty, COUNT(*) FROM visits GROUP BY 1 HAVING specialty = 'SURGERY'
-- ok
SELECT score + 1 AS score, COUNT(*) AS n FROM visits WHERE score IN (1, 2, 3) GROUP BY score + 1 HAVING score + 1 > 3
-- ok
SELECT score + 1 AS score, COUNT(*) AS n FROM visits WHERE score IN (1, 2, 3) GROUP BY visits.score + 1 HAVING score > 2 AND n >= 0
-- ok
SELECT specialty, SUM(duration) AS duration FROM visits GROUP BY specialty HAVING SUM(duration) > 10 AND duration > 20
-- ok
SELECT COUNT(*) AS score FROM visits HAVING score > 3
-- ok
SELECT specialty, COUNT(*) AS score FROM visits GROUP BY specialty HAVING visits.score > 3
-- DPSQL-113 at 1:75: column "score" is neither in GROUP BY nor inside an aggregate
-- # texts compared with other types
SELECT COUNT(*) FROM visits WHERE CAST(score AS VARCHAR) = 3
-- ok
SELECT COUNT(*) FROM visits WHERE CAST(score AS VARCHAR) IN (3, 4)
-- ok
SELECT COUNT(*) FROM visits WHERE CAST(score AS VARCHAR) <> score
-- ok
SELECT COUNT(*) FROM visits WHERE CAST(score AS VARCHAR) IS DISTINCT FROM 3
-- ok
SELECT COUNT(*) FROM visits WHERE CAST(score AS VARCHAR) = 3.0
-- ok
SELECT COUNT(*) FROM visits WHERE CAST(visited_on AS VARCHAR) = visited_on
-- ok
SELECT COUNT(*) FROM visits WHERE CAST(cost > 100 AS VARCHAR) = true
-- ok
SELECT CASE CAST(score AS VARCHAR) WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'more' END AS k, COUNT(*) FROM visits GROUP BY 1
-- ok
SELECT COUNT(*) FROM visits JOIN numbers ON CAST(score AS VARCHAR) = n
-- ok
SELECT COUNT(*) FROM visits WHERE referrer = 3
-- ok, as SELECT COUNT(*) FROM visits WHERE TRY_CAST(referrer AS INT) = 3
SELECT COUNT(*) FROM visits v JOIN specialties s ON v.specialty = s.floor
-- ok, as SELECT 0
SELECT COUNT(*) FROM visits WHERE visited_on < '2020-02-03 12:00:00'
-- ok
SELECT COUNT(*) FROM visits WHERE visited_on = '2020-02-03 12:00:00'
-- ok
SELECT COUNT(*) FROM visits WHERE CAST(score AS VARCHAR) < 3
-- DPSQL-105 at 1:60: integer and text cannot be combined
SELECT COUNT(*) FROM visits WHERE CAST(score AS VARCHAR) BETWEEN 1 AND 3
-- DPSQL-105 at 1:66: integer and text cannot be combined
-- # the schemas that clients of DuckDB and PostgreSQL take tables to be in
SELECT COUNT(main.visits.cost) FROM main.visits
-- ok, as SELECT COUNT(cost) FROM visits
SELECT "public"."visits"."specialty", COUNT(*) FROM "public"."visits" GROUP BY 1
-- ok, as SELECT specialty, COUNT(*) FROM visits GROUP BY specialty
WITH visits AS (SELECT 1 AS a) SELECT COUNT(*) FROM main.visits
-- ok, as SELECT COUNT(*) FROM visits
SELECT * FROM public.visits
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT COUNT(*) FROM other.visits
-- DPSQL-101 at 1:22: there is no table "other.visits"
