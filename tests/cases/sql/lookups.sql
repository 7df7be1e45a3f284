-- # one row of a public table, by what is stored there
SELECT COUNT(*) FROM visits WHERE score < (SELECT floor FROM specialties WHERE name = 'surgery')
-- ok
SELECT specialty, COUNT(*) * (SELECT price FROM prices WHERE code = 'd') AS worth FROM visits GROUP BY specialty
-- ok
SELECT specialty, SUM(cost * (1 + (SELECT price / 10 FROM prices WHERE code = 'a'))) AS gross FROM visits GROUP BY specialty
-- ok
SELECT COUNT(*) FROM visits WHERE score > (SELECT n FROM numbers WHERE n = (SELECT MAX(floor) FROM specialties))
-- ok
SELECT COUNT(*) FROM visits WHERE specialty = (SELECT name FROM specialties WHERE head = 'Ada')
-- ok
SELECT COUNT(*) FROM visits WHERE (SELECT floor FROM specialties WHERE name = 'nobody') IS NULL
-- ok
SELECT COUNT(*) FROM visits WHERE cost > (SELECT price FROM prices WHERE code = 'nothing')
-- ok
SELECT (SELECT head FROM specialties WHERE name = 'surgery') AS head, COUNT(*) FROM visits
-- ok
SELECT specialty, COUNT(*) FROM visits GROUP BY specialty HAVING COUNT(*) > (SELECT price FROM prices WHERE code = 'd')
-- ok
SELECT COUNT(*) FROM visits WHERE cost > (SELECT price FROM prices WHERE code = 'b')
-- DPSQL-121 at 1:50: this subquery has several rows
SELECT COUNT(*) FROM visits WHERE cost > (SELECT price FROM prices)
-- DPSQL-121 at 1:50: this subquery has several rows
SELECT specialty, COUNT(*) + (SELECT n FROM numbers) FROM visits GROUP BY specialty
-- DPSQL-121 at 1:38: this subquery has several rows
-- # for each row its own
SELECT COUNT(*) FROM visits v WHERE score > (SELECT floor FROM specialties s WHERE s.name = v.specialty)
-- ok
SELECT (SELECT floor FROM specialties s WHERE s.name = v.specialty) AS floor, COUNT(*) FROM visits v WHERE (SELECT floor FROM specialties s WHERE s.name = v.specialty) IN (1, 2) GROUP BY 1
-- ok
SELECT (SELECT head FROM specialties s WHERE s.name = v.specialty) = 'Bo' AS bo, SUM(cost) FROM visits v GROUP BY bo
-- ok
SELECT SUM(cost) FILTER (WHERE (SELECT floor FROM specialties s WHERE s.name = v.specialty) = 2) FROM visits v
-- ok
SELECT AVG(cost - (SELECT floor * 10 FROM specialties s WHERE s.name = v.specialty)) FROM visits v
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT floor FROM specialties s WHERE s.name = v.specialty AND s.head = 'Ada') IS NULL
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT n * 2 FROM numbers m WHERE m.n = v.score) > 5 OR cost < 20
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT TRUE FROM numbers m WHERE m.n + 1 = v.score)
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT s.floor FROM specialties s WHERE upper(s.name) = upper(v.specialty)) = 2
-- ok
SELECT COUNT(*) FROM items i JOIN visits v USING (visit_id) WHERE i.quantity > (SELECT floor FROM specialties s WHERE s.name = v.specialty)
-- ok
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.score > (SELECT floor FROM specialties s WHERE s.name = v.specialty))
-- ok
SELECT COUNT(*) FROM patients p WHERE (SELECT SUM(v.score - (SELECT floor FROM specialties s WHERE s.name = v.specialty)) FROM visits v WHERE v.patient_id = p.patient_id) > 5
-- ok
SELECT AVG(LEAST(f, 9)) FROM (SELECT patient_id, SUM((SELECT floor FROM specialties s WHERE s.name = v.specialty)) AS f FROM visits v GROUP BY patient_id)
-- ok
SELECT COUNT(*) FROM visits v WHERE cost > (SELECT price FROM prices p, specialties s WHERE s.name = v.specialty AND p.code = 'd')
-- ok
SELECT specialty, COUNT(*) AS n, (SELECT head FROM specialties s WHERE s.name = v.specialty) AS head FROM visits v GROUP BY specialty
-- ok
SELECT COUNT(*) FROM visits v WHERE cost > (SELECT price FROM prices p, specialties s WHERE s.name = v.specialty)
-- DPSQL-121 at 1:52: this subquery has several rows for one row of the outer query
SELECT COUNT(*) FROM items i WHERE quantity > (SELECT price FROM prices p WHERE p.code = i.code)
-- DPSQL-121 at 1:55: this subquery has several rows for one row of the outer query
SELECT COUNT(*) FROM visits v WHERE cost > (SELECT price FROM prices p WHERE p.price < v.score)
-- DPSQL-121 at 1:52: this subquery uses a column of the outer query in a way that dpsql cannot untangle
SELECT COUNT(*) FROM visits v WHERE cost > (SELECT price + v.score FROM prices p WHERE p.code = v.referrer)
-- DPSQL-121 at 1:52: this subquery uses a column of the outer query in a way that dpsql cannot untangle
-- # one row of a release for each key, by its form
WITH a AS (SELECT specialty, AVG(cost) AS m FROM visits GROUP BY specialty) SELECT COUNT(*) FROM visits v WHERE cost > (SELECT m FROM a WHERE a.specialty = v.specialty)
-- ok
SELECT COUNT(*) FROM visits v WHERE cost > (SELECT m FROM (SELECT specialty, AVG(cost) AS m FROM visits GROUP BY specialty) a WHERE a.specialty = v.specialty AND m > 10)
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT n FROM by_specialty b WHERE b.specialty = v.specialty) > 5
-- ok
WITH a AS (SELECT specialty, score IS NULL AS u, COUNT(*) AS n FROM visits GROUP BY ALL) SELECT COUNT(*) FROM visits v WHERE (SELECT n FROM a WHERE a.specialty = v.specialty AND NOT u) > 2
-- DPSQL-121 at 1:134: this subquery may have several rows
-- # people decide how many rows there are
SELECT COUNT(*) FROM visits v WHERE (SELECT sex FROM patients p WHERE p.patient_id = v.patient_id) = 'F'
-- DPSQL-121 at 1:45: this subquery may have several rows
SELECT COUNT(*) FROM items i WHERE (SELECT specialty FROM visits v WHERE v.visit_id = i.visit_id) = 'surgery'
-- DPSQL-121 at 1:44: this subquery may have several rows
SELECT COUNT(*) FROM visits WHERE cost > (SELECT age FROM patients WHERE city = 'Bern')
-- DPSQL-121 at 1:50: this subquery may have several rows
