-- # derived tables, CTEs, views
SELECT COUNT(*) FROM (SELECT * FROM visits WHERE duration > 10)
-- ok
SELECT s, COUNT(*) FROM (SELECT specialty AS s, duration FROM visits) AS t(s, d) WHERE d < 200 GROUP BY s
-- ok
SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, specialty FROM visits)
-- ok
SELECT specialty, COUNT(*) FROM (SELECT DISTINCT patient_id, specialty FROM visits) GROUP BY specialty
-- ok
WITH t AS (SELECT * FROM visits WHERE cost > 50) SELECT specialty, COUNT(*) FROM t GROUP BY specialty
-- ok
WITH t(a, b) AS (SELECT patient_id, cost FROM visits) SELECT SUM(b) FROM t
-- ok
WITH t AS (SELECT * FROM visits), u AS (SELECT * FROM t WHERE duration > 5) SELECT COUNT(*) FROM u
-- ok
WITH t AS (SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty) SELECT a.specialty, a.n, b.n FROM t a JOIN t b USING (specialty)
-- ok
WITH t AS (SELECT code, COUNT(*) AS n FROM items GROUP BY code) SELECT SUM(n), (SELECT MAX(n) FROM t) FROM t
-- ok
SELECT COUNT(*) FROM long_visits
-- ok
SELECT n, COUNT(*) FROM per_patient GROUP BY n
-- ok
SELECT AVG(LEAST(n, 6)) FROM per_patient
-- ok
SELECT SUM(n) FROM by_specialty
-- ok
SELECT sex, AVG(LEAST(n, 5)) FROM patients JOIN per_patient USING (patient_id) GROUP BY sex
-- ok
SELECT v.specialty, COUNT(*) * 1.0 / b.n FROM visits v JOIN by_specialty b ON v.specialty = b.specialty GROUP BY v.specialty, b.n
-- ok, not compared: n is a noisy number, it cannot be a key
-- # IN and EXISTS
SELECT COUNT(*) FROM visits WHERE specialty IN (SELECT name FROM specialties WHERE floor = 2)
-- ok
SELECT COUNT(*) FROM visits WHERE specialty NOT IN (SELECT name FROM specialties WHERE floor = 2)
-- ok
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM specialties s WHERE s.name = v.specialty AND s.floor > 1)
-- ok
SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM specialties s WHERE s.name = v.specialty AND s.floor > 1)
-- ok
SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits)
-- ok
SELECT COUNT(*) FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits)
-- ok
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT * FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > 200)
-- ok
SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT * FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > p.age)
-- ok
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT * FROM items i WHERE i.visit_id = v.visit_id)
-- ok
SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT * FROM items i WHERE i.visit_id = v.visit_id AND i.code = 'a')
-- ok
SELECT COUNT(*) FROM visits WHERE visit_id IN (SELECT visit_id FROM items WHERE quantity > 4)
-- ok
SELECT COUNT(*) FROM items WHERE visit_id IN (SELECT visit_id FROM visits WHERE specialty = 'surgery')
-- ok
SELECT COUNT(*) FROM items a WHERE EXISTS (SELECT 1 FROM items b WHERE b.visit_id = a.visit_id AND b.quantity > a.quantity)
-- ok
SELECT COUNT(*) FROM visits a WHERE NOT EXISTS (SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.visit_id > a.visit_id)
-- ok
SELECT COUNT(*) FROM patients p SEMI JOIN visits v ON v.patient_id = p.patient_id
-- ok
SELECT COUNT(*) FROM patients p ANTI JOIN visits v ON v.patient_id = p.patient_id
-- ok
SELECT COUNT(*) FROM items WHERE code IN (SELECT code FROM prices)
-- ok
SELECT COUNT(*) FROM items WHERE code NOT IN (SELECT code FROM prices)
-- ok
SELECT COUNT(*) FROM items WHERE code NOT IN (SELECT code FROM prices WHERE price > 100)
-- ok
SELECT COUNT(*) FROM visits WHERE referrer NOT IN (SELECT CASE WHEN floor > 1 THEN 'Dr A' END FROM specialties)
-- ok
SELECT COUNT(*) FROM visits WHERE referrer NOT IN (SELECT CASE WHEN floor > 1 THEN 'Dr A' END FROM specialties WHERE floor > 1)
-- ok
SELECT COUNT(*) FROM visits v WHERE referrer NOT IN (SELECT CASE WHEN floor > 1 THEN 'Dr A' END FROM specialties s WHERE s.floor < v.score)
-- ok
SELECT COUNT(*) FROM visits v WHERE score NOT IN (SELECT s.floor FROM specialties s WHERE s.name = v.specialty AND s.floor < v.score)
-- ok
SELECT COUNT(*) FROM visits v WHERE UPPER(referrer) NOT IN (SELECT UPPER(head) FROM specialties)
-- ok
SELECT COUNT(*) FROM visits v WHERE specialty NOT IN (SELECT v.referrer FROM specialties)
-- ok
SELECT COUNT(*) FROM specialties WHERE floor NOT IN (SELECT CASE WHEN n > 3 THEN n END FROM numbers WHERE n < 5)
-- ok
SELECT COUNT(*) FROM visits WHERE score NOT IN (SELECT n FROM numbers WHERE n > 2)
-- ok
SELECT COUNT(*) FROM visits WHERE 3 NOT IN (SELECT floor FROM specialties)
-- ok
SELECT COUNT(*) FROM visits WHERE specialty IN (SELECT specialty FROM by_specialty WHERE n > 15)
-- ok
SELECT COUNT(*) FROM specialties WHERE name IN (SELECT specialty FROM visits GROUP BY specialty)
-- ok
SELECT COUNT(*) FROM patients WHERE (patient_id) IN (SELECT patient_id FROM visits WHERE duration > 100) AND age > 10
-- ok
-- # scalar subqueries
SELECT COUNT(*) FROM visits WHERE duration > (SELECT AVG(duration) FROM visits)
-- ok
SELECT specialty, COUNT(*) * 100.0 / (SELECT COUNT(*) FROM visits) FROM visits GROUP BY specialty
-- ok
SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty HAVING COUNT(*) > (SELECT COUNT(*) / 4 FROM visits)
-- ok
SELECT (SELECT COUNT(*) FROM visits), (SELECT COUNT(*) FROM patients)
-- ok
SELECT COUNT(*) FROM visits WHERE score < (SELECT MAX(floor) FROM specialties)
-- ok
SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id) > 2
-- ok
SELECT SUM(LEAST((SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id), 4)) FROM patients p
-- ok
SELECT COUNT(*) FROM visits a WHERE a.cost >= (SELECT MAX(b.cost) FROM visits b WHERE b.patient_id = a.patient_id)
-- ok
SELECT COUNT(*) FROM visits a WHERE a.score > (SELECT MIN(b.score) + 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.specialty = a.specialty)
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT SUM(quantity) FROM items i WHERE i.visit_id = v.visit_id) > 4
-- ok
SELECT s.name, (SELECT COUNT(*) FROM visits v WHERE v.specialty = s.name) AS n FROM specialties s
-- ok
SELECT s.name, (SELECT AVG(duration) FROM visits v WHERE v.specialty = s.name) AS m FROM specialties s WHERE s.floor = 2
-- ok
SELECT name FROM specialties s WHERE (SELECT COUNT(*) FROM visits v WHERE v.specialty = s.name) > 15
-- ok
SELECT COUNT(*) FROM items i WHERE quantity > (SELECT price FROM prices p WHERE p.code = 'a' LIMIT 1)
-- ok
-- # tied to a public table's column: its values are the public keys
SELECT head, (SELECT COUNT(*) FROM visits v WHERE v.referrer = s.head) FROM specialties s
-- ok
SELECT code, price, (SELECT SUM(quantity) FROM items i WHERE i.code = p.code) FROM prices p
-- ok
SELECT code, (SELECT AVG(quantity) FROM items i WHERE i.code = p.code) FROM prices p WHERE price > 2
-- ok
SELECT COUNT(*) FROM items i JOIN prices p ON i.code = p.code WHERE i.quantity > (SELECT AVG(quantity) FROM items j WHERE j.code = p.code)
-- ok
SELECT n, (SELECT COUNT(*) FROM visits v WHERE v.score = m.n) FROM numbers m WHERE n < 5
-- ok
SELECT n, (SELECT COUNT(*) FROM visits v WHERE v.score + 1 = m.n + 1) FROM numbers m WHERE n < 5
-- ok
SELECT UPPER(head), (SELECT COUNT(*) FROM visits v WHERE UPPER(v.referrer) = UPPER(s.head)) FROM specialties s
-- ok
SELECT s.name, p.code, (SELECT COUNT(*) FROM visits v JOIN items i USING (visit_id) WHERE v.specialty = s.name AND i.code = p.code) FROM specialties s, prices p
-- ok
SELECT head, SUM((SELECT COUNT(*) FROM visits v WHERE v.referrer = s.head)) FROM specialties s GROUP BY head
-- ok
SELECT t.specialty, (SELECT AVG(cost) FROM visits v WHERE v.specialty = t.specialty) FROM (SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty) t
-- ok
SELECT COUNT(*) FROM visits v WHERE v.cost > (SELECT AVG(cost) FROM visits w WHERE w.specialty = v.specialty)
-- ok
SELECT s.name, (SELECT SUM(LEAST(GREATEST(cost * (SELECT MAX(floor) FROM specialties), 0), 600)) FROM visits v WHERE v.specialty = s.name) FROM specialties s
-- ok
SELECT name, (SELECT COALESCE(SUM(cost), 0) FROM visits v WHERE v.referrer = s.name) FROM specialties s
-- ok
SELECT name, (SELECT COUNT(*) * 1.0 / COUNT(DISTINCT patient_id) FROM visits v WHERE v.specialty = s.name) FROM specialties s
-- ok
SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty HAVING COUNT(*) > (SELECT COUNT(*) / 2 FROM visits w WHERE w.specialty = visits.specialty)
-- ok
SELECT name, (SELECT COUNT(*) FROM visits v WHERE v.specialty = s.name AND v.cost > (SELECT AVG(cost) FROM visits w WHERE w.specialty = v.specialty)) FROM specialties s
-- ok
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM specialties s WHERE s.name = v.specialty AND s.floor < (SELECT COUNT(*) FROM visits w WHERE w.specialty = s.name))
-- ok
WITH s AS (SELECT name, (SELECT COUNT(*) FROM visits v WHERE v.specialty = sp.name) AS n FROM specialties sp) SELECT a.name, a.n, b.n FROM s a JOIN s b ON a.name = b.name
-- ok
SELECT name, (SELECT AVG(LEAST(n, 5)) FROM (SELECT patient_id, specialty, COUNT(*) AS n FROM visits GROUP BY patient_id, specialty) t WHERE t.specialty = s.name) FROM specialties s
-- ok
SELECT n, (SELECT SUM(cost) FROM visits v WHERE v.score = m.n AND v.specialty = 'surgery') FROM numbers m WHERE n % 2 = 1 AND n < 6
-- ok
SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM patients q WHERE q.age = p.age) > 1
-- ok
-- # tied along a unit path: each person's own rows
SELECT AVG(LEAST((SELECT COUNT(*) + COUNT(code) FROM items i WHERE i.visit_id = v.visit_id), 9)) FROM visits v
-- ok
SELECT SUM((SELECT COALESCE(MAX(quantity), 7) FROM items i WHERE i.visit_id = v.visit_id)) FROM visits v
-- ok
SELECT COUNT(*) FROM (SELECT patient_id, visit_id, COUNT(*) AS n FROM visits GROUP BY patient_id, visit_id) t WHERE EXISTS (SELECT 1 FROM items i WHERE i.visit_id = t.visit_id AND i.quantity > t.n)
-- ok
SELECT COUNT(*) FROM patients p FULL JOIN visits v ON p.patient_id = v.patient_id WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id)
-- ok
SELECT COUNT(*) FROM items i WHERE EXISTS (SELECT 1 FROM items j WHERE j.visit_id = i.visit_id AND j.code <> i.code)
-- ok
SELECT AVG(LEAST((SELECT COUNT(*) FROM items i WHERE i.visit_id = v.visit_id AND i.code = 'a'), 5)) FROM visits v
-- ok
SELECT COUNT(*) FROM items i WHERE quantity > (SELECT AVG(j.quantity) FROM items j WHERE j.visit_id = i.visit_id)
-- ok
SELECT specialty, SUM(LEAST((SELECT MAX(quantity) FROM items i WHERE i.visit_id = v.visit_id), 9)) FROM visits v GROUP BY specialty
-- ok
-- # several stages
WITH m AS (SELECT specialty, AVG(duration) AS d FROM visits GROUP BY specialty) SELECT v.specialty, COUNT(*) FROM visits v JOIN m ON v.specialty = m.specialty AND v.duration > m.d GROUP BY v.specialty
-- ok
SELECT a.specialty, a.n, b.n FROM (SELECT specialty, COUNT(*) AS n FROM visits WHERE cost > 100 GROUP BY specialty) a JOIN (SELECT specialty, COUNT(*) AS n FROM visits WHERE cost <= 100 GROUP BY specialty) b ON a.specialty = b.specialty
-- ok
SELECT AVG(n) FROM (SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty)
-- ok
SELECT s.head, t.n FROM specialties s LEFT JOIN (SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty) t ON s.name = t.specialty
-- ok
SELECT specialty, n, SUM(n) OVER (ORDER BY specialty) FROM (SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty)
-- ok
SELECT specialty, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) FROM visits GROUP BY specialty
-- ok
SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC, specialty) = 1
-- ok
SELECT SUM(LEAST(GREATEST(t.m, 0), v.cost)) FROM visits v, (SELECT AVG(cost) AS m FROM visits) t WHERE v.cost IS NOT NULL
-- ok
SELECT COUNT(*) FILTER (WHERE v.cost > t.m) FROM visits v, (SELECT AVG(cost) AS m FROM visits) t
-- ok
-- # set operations
SELECT specialty, COUNT(*) FROM (SELECT patient_id, specialty FROM visits WHERE cost > 100 UNION ALL SELECT patient_id, specialty FROM visits WHERE duration > 100) GROUP BY specialty
-- ok
SELECT COUNT(*) FROM (SELECT patient_id, age FROM patients UNION ALL SELECT patient_id, score FROM visits)
-- ok
SELECT COUNT(DISTINCT patient_id) FROM (SELECT patient_id FROM patients UNION ALL SELECT patient_id FROM visits)
-- ok
SELECT COUNT(*) FROM (SELECT code AS c FROM items UNION ALL SELECT referrer FROM visits) WHERE c IS NOT NULL
-- ok
SELECT specialty FROM visits GROUP BY specialty UNION SELECT name FROM specialties
-- ok
SELECT specialty, COUNT(*) FROM visits GROUP BY specialty UNION ALL SELECT 'all', COUNT(*) FROM visits
-- ok
SELECT name FROM specialties EXCEPT SELECT specialty FROM visits GROUP BY specialty HAVING COUNT(*) > 20
-- ok
SELECT name FROM specialties INTERSECT SELECT specialty FROM visits WHERE cost > 400 GROUP BY specialty
-- ok
SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty UNION ALL SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY n, 1 LIMIT 3
-- ok
SELECT 1 UNION SELECT 2
-- ok
SELECT DISTINCT specialty FROM visits
-- ok
SELECT DISTINCT floor FROM specialties ORDER BY floor
-- ok
-- # whose rows an IN along the path may look at: a unit is one in each group's count
SELECT code, COUNT(*) FROM items WHERE visit_id IN (SELECT visit_id FROM visits WHERE specialty = 'surgery') GROUP BY code
-- ok
SELECT code, COUNT(*) FROM items i WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.visit_id = i.visit_id AND v.specialty = 'oncology') GROUP BY code
-- ok
SELECT specialty, referrer, COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id) GROUP BY specialty, referrer
-- ok
-- # without FROM, and in ON
SELECT COUNT(*) FROM visits WHERE visit_id IN (SELECT visit_id WHERE cost > 3)
-- ok
SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1)
-- ok
SELECT COUNT(*) FROM visits v JOIN specialties s ON v.specialty = s.name AND v.cost > (SELECT AVG(cost) FROM visits)
-- ok
SELECT COUNT(*) FROM visits v LEFT JOIN specialties s ON v.specialty = s.name AND s.floor < (SELECT MAX(floor) FROM specialties)
-- ok
SELECT COUNT(*) FROM visits v FULL JOIN visits w ON v.patient_id = w.patient_id AND w.cost > (SELECT AVG(cost) FROM visits x)
-- ok
-- # a filter that contradicts the bounds leaves public keys without a key
SELECT referrer, specialty, COUNT(*) FROM visits WHERE specialty IN ('surgery') AND specialty IN ('oncology') GROUP BY referrer, specialty
-- ok
SELECT code, quantity, COUNT(*), (SELECT COUNT(*) FROM visits) FROM items WHERE quantity < 0 GROUP BY code, quantity
-- ok
