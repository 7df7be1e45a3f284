-- # disjoint FILTERs
SELECT COUNT(*) FILTER (WHERE specialty = 'surgery'), COUNT(*) FILTER (WHERE specialty = 'oncology') FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE specialty = 'surgery'), COUNT(*) FILTER (WHERE specialty = 'oncology'), COUNT(*) FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE specialty IN ('surgery', 'oncology')), COUNT(*) FILTER (WHERE specialty = 'cardiology') FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE referrer IS NULL), COUNT(*) FILTER (WHERE referrer = 'Dr A'), COUNT(*) FILTER (WHERE referrer = 'Dr B') FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE score < 3), COUNT(*) FILTER (WHERE score >= 3), COUNT(*) FILTER (WHERE score IS NULL) FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE duration < 60), COUNT(*) FILTER (WHERE duration >= 60 AND duration < 120), COUNT(*) FILTER (WHERE duration >= 120) FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE score BETWEEN 0 AND 2), COUNT(*) FILTER (WHERE score BETWEEN 3 AND 4), COUNT(*) FILTER (WHERE score > 4) FROM visits
-- ok
SELECT SUM(cost) FILTER (WHERE score < 3), SUM(cost) FILTER (WHERE score >= 3) FROM visits
-- ok
SELECT AVG(cost) FILTER (WHERE score < 3), AVG(cost) FILTER (WHERE score >= 3) FROM visits
-- ok
SELECT AVG(duration) FILTER (WHERE score < 3), AVG(duration) FILTER (WHERE score >= 3), AVG(duration) FILTER (WHERE score IS NULL) FROM visits
-- ok
SELECT VAR_POP(cost) FILTER (WHERE score < 3), VAR_POP(cost) FILTER (WHERE score >= 3) FROM visits
-- ok
SELECT STDDEV(duration) FILTER (WHERE referrer = 'Dr A'), STDDEV(duration) FILTER (WHERE referrer = 'Dr B') FROM visits
-- ok
SELECT specialty, COUNT(*) FILTER (WHERE score < 3) AS low, COUNT(*) FILTER (WHERE score >= 3) AS high FROM visits GROUP BY specialty
-- ok
SELECT specialty, SUM(cost) FILTER (WHERE referrer = 'Dr A'), SUM(cost) FILTER (WHERE referrer = 'Dr B') FROM visits GROUP BY specialty
-- ok
SELECT specialty, AVG(cost) FILTER (WHERE referrer = 'Dr A') AS a, AVG(cost) FILTER (WHERE referrer = 'Dr B') AS b, COUNT(*) FROM visits GROUP BY specialty
-- ok
SELECT specialty, COUNT(*) FILTER (WHERE score < 3) AS low, COUNT(*) FILTER (WHERE score >= 3) AS high, SUM(cost) FILTER (WHERE score < 3), SUM(cost) FILTER (WHERE score >= 3) FROM visits GROUP BY specialty
-- ok
SELECT referrer, COUNT(*) FILTER (WHERE score < 3) AS low, COUNT(*) FILTER (WHERE score >= 3) AS high FROM visits GROUP BY referrer
-- ok
SELECT COUNT_IF(score < 3), COUNT_IF(score >= 3) FROM visits
-- ok
SELECT COUNT(score) FILTER (WHERE specialty = 'surgery'), COUNT(score) FILTER (WHERE specialty <> 'surgery') FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE score > 2), COUNT(*) FILTER (WHERE NOT score > 2) FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE cost > 100 AND score > 2), COUNT(*) FILTER (WHERE cost > 50 AND score < 2) FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE cost > 100 AND score > 2), COUNT(*) FILTER (WHERE cost > 50 AND score > 3) FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE visited_on < '2020-02-01'), COUNT(*) FILTER (WHERE visited_on >= '2020-02-01' AND visited_on < '2020-03-01'), COUNT(*) FILTER (WHERE visited_on >= '2020-03-01') FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE UPPER(referrer) = 'DR A'), COUNT(*) FILTER (WHERE UPPER(referrer) = 'DR B') FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE 3 > score), COUNT(*) FILTER (WHERE 3 <= score) FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE score = 1), COUNT(*) FILTER (WHERE score = 2), COUNT(*) FILTER (WHERE score = 3), COUNT(*) FILTER (WHERE score = 1 OR score = 2) FROM visits
-- ok
SELECT COUNT(DISTINCT patient_id) FILTER (WHERE score < 3), COUNT(DISTINCT patient_id) FILTER (WHERE score >= 3) FROM visits
-- ok
SELECT sex, COUNT(*) FILTER (WHERE age < 30), COUNT(*) FILTER (WHERE age BETWEEN 30 AND 60), COUNT(*) FILTER (WHERE age > 60) FROM patients GROUP BY sex
-- ok
SELECT COUNT(*) FILTER (WHERE sex = 'F'), COUNT(*) FILTER (WHERE sex = 'M') FROM patients
-- ok
SELECT code, COUNT(*) FILTER (WHERE quantity < 5), COUNT(*) FILTER (WHERE quantity >= 5) FROM items GROUP BY code
-- ok
SELECT COUNT(*) FILTER (WHERE n = 1), COUNT(*) FILTER (WHERE n = 2), COUNT(*) FILTER (WHERE n > 2) FROM per_patient
-- ok
SELECT COUNT(*) FILTER (WHERE s.floor = 1), COUNT(*) FILTER (WHERE s.floor = 2) FROM visits v JOIN specialties s ON s.name = v.specialty
-- ok
SELECT COUNT(*) FILTER (WHERE i.code = 'a'), COUNT(*) FILTER (WHERE i.code = 'b') FROM visits v JOIN items i USING (visit_id)
-- ok
-- # the same constant in another type
SELECT COUNT(*) FILTER (WHERE visited_on < DATE '2020-02-15'), COUNT(*) FILTER (WHERE visited_on >= TIMESTAMP '2020-01-15 00:00:00') FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE visited_on < DATE '2020-02-15'), COUNT(*) FILTER (WHERE visited_on >= TIMESTAMP '2020-02-15 00:00:00') FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE visited_on + INTERVAL 1 HOUR < DATE '2020-02-15'), COUNT(*) FILTER (WHERE visited_on + INTERVAL 1 HOUR > TIMESTAMP '2020-01-15 00:30:00') FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE duration * 0 + 0.1e0 = 0.1), COUNT(*) FILTER (WHERE duration * 0 + 0.1e0 = 0.1e0) FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE duration * 0 + 0.1e0 <= 0.1), COUNT(*) FILTER (WHERE duration * 0 + 0.1e0 >= 0.1e0) FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE score * 0 + 9007199254740993 = 9007199254740992e0), COUNT(*) FILTER (WHERE score * 0 + 9007199254740993 = 9007199254740993) FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE score * 0 + 9007199254740992 BETWEEN 9007199254740993 AND 1e300), COUNT(*) FILTER (WHERE score * 0 + 9007199254740992 < 9007199254740993) FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE duration = -0.0), COUNT(*) FILTER (WHERE duration = 0), COUNT(*) FILTER (WHERE duration > 0) FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE CAST(score AS VARCHAR) = 3), COUNT(*) FILTER (WHERE CAST(score AS VARCHAR) = '3') FROM visits
-- ok
SELECT COUNT(*) FILTER (WHERE score IN (1, 2.5e0)), COUNT(*) FILTER (WHERE score IN (2, 3)) FROM visits
-- ok
-- # pivots by CASE
SELECT SUM(CASE WHEN specialty = 'surgery' THEN duration END), SUM(CASE WHEN specialty = 'oncology' THEN duration END), SUM(CASE WHEN specialty = 'cardiology' THEN duration ELSE 0 END) FROM visits
-- ok
SELECT referrer, AVG(CASE WHEN score < 3 THEN duration END), AVG(CASE WHEN score >= 3 THEN duration END) FROM visits WHERE referrer IN ('Dr A', 'Dr B') GROUP BY referrer
-- ok
SELECT SUM(CASE WHEN score BETWEEN 0 AND 2 THEN score END), SUM(CASE WHEN score BETWEEN 3 AND 5 THEN score END) FROM visits
-- ok
SELECT SUM(CASE WHEN cost < 100 THEN cost ELSE 0 END), SUM(CASE WHEN cost >= 100 THEN cost ELSE 0 END) FROM visits
-- ok
SELECT sex, SUM(CASE WHEN city = 'Bern' THEN age END) AS bern, SUM(CASE WHEN city = 'Basel' THEN age END) AS basel FROM patients GROUP BY sex
-- ok
SELECT SUM(CASE WHEN specialty = 'surgery' THEN cost END), SUM(CASE WHEN specialty = 'oncology' THEN cost END) FROM visits
-- ok
SELECT SUM(CASE WHEN specialty = 'surgery' THEN cost ELSE 0 END), SUM(CASE WHEN specialty = 'oncology' THEN cost ELSE 0 END) FROM visits
-- ok
SELECT SUM(CASE WHEN specialty = 'surgery' THEN 1 ELSE 0 END), SUM(CASE WHEN specialty = 'oncology' THEN 1 ELSE 0 END) FROM visits
-- ok
SELECT SUM(CASE specialty WHEN 'surgery' THEN 1 ELSE 0 END), SUM(CASE specialty WHEN 'oncology' THEN 1 ELSE 0 END) FROM visits
-- ok
SELECT COUNT(CASE WHEN specialty = 'surgery' THEN 1 END), COUNT(CASE WHEN specialty = 'oncology' THEN 1 END) FROM visits
-- ok
SELECT COUNT(CASE WHEN specialty = 'surgery' THEN score END), COUNT(CASE WHEN specialty = 'oncology' THEN score END) FROM visits
-- ok
SELECT AVG(CASE WHEN specialty = 'surgery' THEN cost END), AVG(CASE WHEN specialty = 'oncology' THEN cost END) FROM visits
-- ok
SELECT AVG(CASE WHEN specialty = 'surgery' THEN cost ELSE 0 END), AVG(CASE WHEN specialty = 'oncology' THEN cost ELSE 0 END) FROM visits
-- ok
SELECT SUM(IF(specialty = 'surgery', quantity, 0)), SUM(IF(specialty = 'oncology', quantity, 0)) FROM items JOIN visits USING (visit_id)
-- ok
SELECT specialty, SUM(CASE WHEN score >= 3 THEN 1 ELSE 0 END) AS a, SUM(CASE WHEN score < 3 THEN 1 ELSE 0 END) AS b, SUM(CASE WHEN score IS NULL THEN 1 ELSE 0 END) FROM visits GROUP BY specialty
-- ok
SELECT specialty, SUM(CASE WHEN score >= 3 THEN cost ELSE 0 END) AS a, SUM(CASE WHEN score < 3 THEN cost ELSE 0 END) AS b FROM visits GROUP BY specialty ORDER BY a - b
-- ok
SELECT specialty, SUM(CASE WHEN month(visited_on) = 1 THEN cost ELSE 0 END) AS january, SUM(CASE WHEN month(visited_on) = 2 THEN cost ELSE 0 END) AS february, SUM(CASE WHEN month(visited_on) = 3 THEN cost ELSE 0 END) AS march FROM visits GROUP BY specialty
-- ok
SELECT SUM(CASE WHEN specialty = 'surgery' THEN cost END) * 100.0 / SUM(cost) FROM visits
-- ok
SELECT SUM(CASE WHEN specialty = 'surgery' THEN cost END) / SUM(CASE WHEN specialty = 'oncology' THEN cost END) FROM visits
-- ok
SELECT SUM(CASE WHEN specialty = 'astrology' THEN cost ELSE 0 END), SUM(CASE WHEN specialty = 'surgery' THEN cost ELSE 0 END) FROM visits
-- ok
SELECT specialty, SUM(CASE WHEN referrer = 'Dr Z' THEN 1 ELSE 0 END), SUM(CASE WHEN referrer = 'Dr A' THEN 1 ELSE 0 END) FROM visits GROUP BY specialty
-- ok
SELECT SUM(CASE WHEN specialty = 'surgery' AND score > 3 THEN cost END), SUM(CASE WHEN specialty = 'surgery' AND score <= 3 THEN cost END), SUM(CASE WHEN specialty = 'oncology' THEN cost END) FROM visits
-- ok
SELECT SUM(CASE WHEN specialty = 'surgery' THEN cost WHEN specialty = 'oncology' THEN 1 END), SUM(CASE WHEN specialty = 'cardiology' THEN cost END) FROM visits
-- ok
SELECT ROUND(AVG(CASE WHEN sex = 'F' THEN age END), 6), ROUND(AVG(CASE WHEN sex = 'M' THEN age END), 6) FROM patients
-- ok
SELECT COUNT(*) FILTER (WHERE specialty = 'surgery') - COUNT(*) FILTER (WHERE specialty = 'oncology') AS d FROM visits HAVING COUNT(*) FILTER (WHERE specialty = 'surgery') > 0
-- ok
SELECT specialty, COUNT(*) FILTER (WHERE score < 3), COUNT(*) FILTER (WHERE score >= 3) FROM visits GROUP BY ROLLUP (specialty)
-- ok
-- # disjoint parts in queries of their own
SELECT 'a' AS part, COUNT(*) AS n FROM visits WHERE specialty = 'surgery' UNION ALL SELECT 'b', COUNT(*) FROM visits WHERE specialty = 'oncology'
-- ok
SELECT COUNT(*) AS n FROM visits WHERE specialty = 'surgery' UNION ALL SELECT COUNT(*) FROM visits WHERE specialty = 'oncology' UNION ALL SELECT COUNT(*) FROM visits
-- ok
SELECT COUNT(*) AS n FROM visits WHERE duration < 60 UNION ALL SELECT COUNT(*) FROM visits WHERE duration >= 60 UNION ALL SELECT COUNT(*) FROM visits WHERE duration IS NULL
-- ok
SELECT COUNT(*) AS n FROM visits WHERE duration < 60 UNION ALL SELECT COUNT(*) FROM visits WHERE duration >= 50
-- ok
SELECT SUM(cost) AS s, COUNT(*) AS n FROM visits WHERE score < 3 UNION ALL SELECT SUM(cost), COUNT(*) FROM visits WHERE score >= 3
-- ok
SELECT AVG(cost) AS a FROM visits WHERE score < 3 AND duration > 10 UNION ALL SELECT AVG(cost) FROM visits WHERE score >= 3 AND duration > 10
-- ok
SELECT SUM(duration) AS s FROM visits WHERE duration < 60 UNION ALL SELECT SUM(duration) FROM visits WHERE duration >= 60
-- ok
SELECT SUM(cost) FILTER (WHERE score < 3) AS s FROM visits WHERE specialty = 'surgery' UNION ALL SELECT SUM(cost) FROM visits WHERE specialty = 'oncology'
-- ok
SELECT (SELECT COUNT(*) FROM visits WHERE specialty = 'surgery') - (SELECT COUNT(*) FROM visits WHERE specialty = 'oncology') AS d
-- ok
WITH v AS (SELECT specialty, cost FROM visits WHERE duration > 10) SELECT SUM(cost) AS s FROM v WHERE specialty = 'surgery' UNION ALL SELECT SUM(cost) FROM v WHERE specialty = 'oncology'
-- ok
WITH a AS (SELECT COUNT(*) AS n FROM visits WHERE score < 3), b AS (SELECT COUNT(*) AS n FROM visits WHERE score >= 3) SELECT a.n, b.n, a.n + b.n FROM a, b, a AS c WHERE c.n >= 0
-- ok
SELECT COUNT(*) AS n FROM items JOIN visits USING (visit_id) WHERE score < 3 UNION ALL SELECT COUNT(*) FROM items JOIN visits USING (visit_id) WHERE score >= 3
-- ok
SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.patient_id = b.patient_id WHERE a.score < 3 UNION ALL SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id WHERE b.score >= 3
-- ok
SELECT COUNT(*) AS n FROM visits WHERE referrer = 'Dr A' UNION SELECT COUNT(*) FROM visits WHERE referrer = 'Dr B'
-- ok
SELECT COUNT(DISTINCT patient_id) AS n FROM visits WHERE score < 3 UNION ALL SELECT COUNT(DISTINCT patient_id) FROM visits WHERE score >= 3
-- ok
SELECT COUNT(*) AS n FROM visits WHERE score < 3 AND EXISTS (SELECT 1 FROM items WHERE items.visit_id = visits.visit_id) UNION ALL SELECT COUNT(*) FROM visits WHERE score >= 3
-- ok
