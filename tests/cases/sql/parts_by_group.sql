-- # disjoint parts with groups
SELECT specialty, COUNT(*) AS n FROM visits WHERE score < 3 GROUP BY specialty UNION ALL SELECT specialty, COUNT(*) FROM visits WHERE score >= 3 GROUP BY specialty
-- ok
SELECT 'low' AS part, specialty, SUM(cost) AS s FROM visits WHERE score < 3 GROUP BY specialty UNION ALL SELECT 'high', specialty, SUM(cost) FROM visits WHERE score >= 3 GROUP BY specialty UNION ALL SELECT 'none', specialty, SUM(cost) FROM visits WHERE score IS NULL GROUP BY specialty
-- ok
SELECT city, sex, AVG(age) FROM patients WHERE age < 40 GROUP BY city, sex UNION SELECT city, sex, AVG(age) FROM patients WHERE age >= 40 GROUP BY city, sex
-- ok
WITH a AS (SELECT specialty, AVG(cost) AS m FROM visits WHERE month(visited_on) = 1 GROUP BY specialty), b AS (SELECT specialty, AVG(cost) AS m FROM visits WHERE month(visited_on) = 2 GROUP BY specialty) SELECT specialty, b.m - a.m AS rise FROM a JOIN b USING (specialty)
-- ok
SELECT a.specialty, a.n, b.n, a.n * 1.0 / (a.n + b.n) AS share FROM (SELECT specialty, COUNT(*) AS n FROM visits WHERE referrer = 'Dr A' GROUP BY specialty) a LEFT JOIN (SELECT specialty, COUNT(*) AS n FROM visits WHERE referrer = 'Dr B' GROUP BY specialty) b ON a.specialty = b.specialty
-- ok
SELECT referrer, COUNT(*) AS n FROM visits WHERE duration < 60 GROUP BY referrer UNION ALL SELECT referrer, COUNT(*) FROM visits WHERE duration >= 60 GROUP BY referrer
-- ok
SELECT specialty, COUNT(*) AS n FROM visits WHERE cost > 50 AND score < 3 GROUP BY specialty HAVING COUNT(*) > 1 UNION ALL SELECT specialty, COUNT(*) FROM visits WHERE score > 3 AND cost > 50 GROUP BY specialty HAVING COUNT(*) > 2 ORDER BY n LIMIT 5
-- ok
SELECT s.floor, COUNT(*) FROM visits v JOIN specialties s ON s.name = v.specialty WHERE v.score < 3 GROUP BY s.floor UNION ALL SELECT s.floor, COUNT(*) FROM visits v JOIN specialties s ON s.name = v.specialty WHERE v.score >= 3 GROUP BY s.floor
-- ok
SELECT code, COUNT(*), SUM(quantity * 2) FROM items JOIN visits USING (visit_id) WHERE specialty = 'surgery' GROUP BY code UNION ALL SELECT code, COUNT(*), SUM(quantity * 2) FROM items JOIN visits USING (visit_id) WHERE specialty = 'oncology' GROUP BY code
-- ok
SELECT specialty, COUNT(DISTINCT patient_id) FROM visits WHERE visited_on < '2020-02-01' GROUP BY specialty UNION ALL SELECT specialty, COUNT(DISTINCT patient_id) FROM visits WHERE visited_on >= '2020-02-01' GROUP BY specialty
-- ok
SELECT specialty, COUNT(*) FILTER (WHERE cost > 100) AS dear, COUNT(*) AS n FROM visits WHERE score < 3 GROUP BY specialty UNION ALL SELECT specialty, COUNT(*) FILTER (WHERE cost > 100), COUNT(*) FROM visits WHERE score >= 3 GROUP BY specialty
-- ok
SELECT specialty, COUNT(*) AS n FROM visits WHERE score = 1 GROUP BY specialty UNION ALL SELECT specialty, SUM(duration) FROM visits WHERE score = 2 GROUP BY specialty UNION ALL SELECT specialty, COUNT(*) FROM visits WHERE score = 3 GROUP BY specialty
-- ok
SELECT specialty, COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE score IN (1, 2) GROUP BY specialty UNION ALL SELECT specialty, SUM(cost), COUNT(*) FROM visits WHERE score IN (3, 4) GROUP BY specialty
-- ok
SELECT specialty, COUNT(*) FROM visits WHERE specialty IN ('surgery', 'oncology') GROUP BY specialty UNION ALL SELECT specialty, COUNT(*) FROM visits WHERE specialty = 'cardiology' GROUP BY specialty
-- ok
SELECT specialty, COUNT(*) FROM visits WHERE cost < 100 GROUP BY ROLLUP (specialty) UNION ALL SELECT specialty, COUNT(*) FROM visits WHERE cost >= 100 GROUP BY ROLLUP (specialty)
-- ok
WITH v AS (SELECT patient_id, specialty, score FROM visits WHERE duration > 20) SELECT specialty, COUNT(*) FROM v WHERE score < 4 GROUP BY specialty EXCEPT SELECT specialty, COUNT(*) FROM v WHERE score >= 4 GROUP BY specialty
-- ok
WITH few AS (SELECT specialty, COUNT(*) AS n FROM visits WHERE score <= 3 GROUP BY specialty), many AS (SELECT specialty, COUNT(*) AS n FROM visits WHERE score > 3 GROUP BY specialty) SELECT f.specialty, f.n, g.n FROM few f, few g, many m WHERE f.specialty = m.specialty AND g.n > m.n
-- ok
SELECT specialty, COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id) GROUP BY specialty UNION ALL SELECT specialty, COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id) GROUP BY specialty
-- ok
SELECT MAX(n), MIN(n) FROM (SELECT specialty, COUNT(*) AS n FROM visits WHERE cost < 200 GROUP BY specialty UNION ALL SELECT specialty, COUNT(*) FROM visits WHERE cost >= 200 GROUP BY specialty)
-- ok
SELECT AVG(LEAST(n, 4)) FROM (SELECT patient_id, COUNT(*) AS n FROM visits WHERE score < 3 GROUP BY patient_id UNION ALL SELECT patient_id, COUNT(*) FROM visits WHERE score >= 3 GROUP BY patient_id)
-- ok
SELECT COUNT(*) FROM visits WHERE specialty IN (SELECT specialty FROM visits WHERE score < 3 GROUP BY specialty HAVING COUNT(*) > 5) OR specialty NOT IN (SELECT specialty FROM visits WHERE score >= 3 GROUP BY specialty HAVING COUNT(*) > 5)
-- ok
SELECT specialty, COUNT(*) FROM visits WHERE visited_on < DATE '2020-02-15' GROUP BY specialty UNION ALL SELECT specialty, COUNT(*) FROM visits WHERE visited_on >= TIMESTAMP '2020-01-15 00:00:00' GROUP BY specialty
-- ok
SELECT specialty, score IS NULL AS k, COUNT(*) FROM visits WHERE duration < 100 GROUP BY specialty, k UNION ALL SELECT specialty, score IS NULL, COUNT(*) FROM visits WHERE duration > 100 GROUP BY 1, 2 UNION ALL SELECT specialty, score IS NULL, COUNT(*) FROM visits WHERE duration IS NULL GROUP BY 1, 2
-- ok
SELECT specialty, COUNT(*) FROM visits a WHERE score < 3 GROUP BY specialty UNION ALL SELECT b.specialty, COUNT(*) FROM visits a JOIN visits b USING (patient_id) WHERE a.score >= 3 GROUP BY b.specialty
-- ok
SELECT b.specialty, COUNT(*) FROM visits a JOIN visits b USING (patient_id) WHERE a.score < 3 GROUP BY b.specialty UNION ALL SELECT b.specialty, COUNT(*) FROM visits a JOIN visits b USING (patient_id) WHERE a.score >= 3 GROUP BY b.specialty
-- ok
