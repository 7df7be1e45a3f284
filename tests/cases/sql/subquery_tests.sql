-- # EXISTS and IN under OR
SELECT COUNT(*) FROM visits v WHERE v.cost > 100 OR EXISTS (SELECT 1 FROM specialties s WHERE s.name = v.specialty AND s.floor > 1)
-- ok
SELECT COUNT(*) FROM visits v WHERE v.cost > 400 OR NOT EXISTS (SELECT 1 FROM specialties s WHERE s.name = v.specialty AND s.floor > 1)
-- ok
SELECT COUNT(*) FROM visits WHERE specialty IN (SELECT name FROM specialties WHERE floor = 2) OR cost > 300
-- ok
SELECT COUNT(*) FROM visits WHERE specialty NOT IN (SELECT name FROM specialties WHERE floor = 2) OR cost > 300
-- ok
SELECT COUNT(*) FROM visits WHERE NOT (specialty IN (SELECT name FROM specialties WHERE floor = 1) OR cost > 300)
-- ok
SELECT COUNT(*) FROM visits WHERE NOT (score IN (SELECT n FROM numbers WHERE n < 3) OR cost > 300)
-- ok
SELECT COUNT(*) FROM visits WHERE NOT (score NOT IN (SELECT n FROM numbers WHERE n < 3) OR cost > 300)
-- ok
SELECT COUNT(*) FROM visits WHERE score IN (SELECT n FROM numbers WHERE n < 3) OR referrer IN (SELECT 'Dr ' || UPPER(LEFT(head, 1)) FROM specialties)
-- ok
SELECT COUNT(*) FROM patients p WHERE age > 50 OR EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND cost > 200)
-- ok
SELECT COUNT(*) FROM patients p WHERE age > 50 OR NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND cost > p.age)
-- ok
SELECT COUNT(*) FROM patients WHERE age < 20 OR patient_id IN (SELECT patient_id FROM visits)
-- ok
SELECT COUNT(*) FROM patients WHERE age < 20 OR patient_id NOT IN (SELECT patient_id FROM visits)
-- ok
SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE cost > 400) OR patient_id IN (SELECT patient_id FROM visits WHERE duration > 200)
-- ok
SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE cost > 400) AND (age > 50 OR patient_id NOT IN (SELECT patient_id FROM visits WHERE duration > 200))
-- ok
SELECT COUNT(*) FROM items i WHERE quantity > 3 OR EXISTS (SELECT 1 FROM visits v WHERE v.visit_id = i.visit_id AND v.cost > 50)
-- ok
SELECT COUNT(*) FROM items i WHERE quantity > 3 OR NOT EXISTS (SELECT 1 FROM visits v WHERE v.visit_id = i.visit_id AND v.cost > 50)
-- ok
SELECT COUNT(*) FROM visits v WHERE cost > 300 OR EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id)
-- ok
SELECT COUNT(*) FROM visits v WHERE cost > 300 OR NOT EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND i.code = 'a')
-- ok
SELECT COUNT(*) FROM visits v WHERE cost > 300 OR visit_id IN (SELECT visit_id FROM items WHERE quantity > 4)
-- ok
SELECT COUNT(*) FROM visits a WHERE a.cost < 20 OR EXISTS (SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.cost > a.cost AND b.specialty = a.specialty)
-- ok
SELECT COUNT(*) FROM visits a WHERE a.cost < 20 OR a.score IN (SELECT b.score FROM visits b WHERE b.patient_id = a.patient_id AND b.visit_id <> a.visit_id)
-- ok
SELECT COUNT(*) FROM visits a WHERE a.cost < 20 OR a.score NOT IN (SELECT b.score FROM visits b WHERE b.patient_id = a.patient_id AND b.visit_id <> a.visit_id)
-- ok
SELECT COUNT(*) FROM visits a WHERE NOT (a.cost < 20 OR a.score IN (SELECT b.score FROM visits b WHERE b.patient_id = a.patient_id AND b.visit_id <> a.visit_id))
-- ok
SELECT COUNT(*) FROM visits v WHERE v.specialty = 'surgery' AND (cost > 200 OR EXISTS (SELECT 1 FROM numbers WHERE n = v.score AND n % 2 = 0))
-- ok
SELECT COUNT(*) FROM visits WHERE cost > 300 OR EXISTS (SELECT 1 FROM specialties WHERE floor > 1)
-- ok
SELECT COUNT(*) FROM visits WHERE cost > 300 OR EXISTS (SELECT 1 FROM specialties WHERE floor > 100)
-- ok
SELECT COUNT(*) FROM visits WHERE (specialty, score) IN (SELECT name, floor FROM specialties) OR cost > 400
-- ok
SELECT COUNT(*) FROM visits WHERE (specialty, score) IN (SELECT name, floor FROM specialties)
-- ok
SELECT COUNT(*) FROM visits WHERE (specialty, score) NOT IN (SELECT name, floor FROM specialties)
-- ok
SELECT COUNT(*) FROM patients WHERE (patient_id, age) NOT IN (SELECT patient_id, score FROM visits)
-- ok
SELECT COUNT(*) FROM patients WHERE (patient_id, 1) IN (SELECT patient_id, floor FROM visits JOIN specialties ON name = specialty)
-- ok
SELECT COUNT(*) FROM patients p WHERE age < 10 OR EXISTS (SELECT patient_id, COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id GROUP BY patient_id)
-- DPSQL-121 at 1:66: this subquery uses a column of the outer query in a way that dpsql cannot untangle
SELECT COUNT(*) FROM patients p WHERE age < 10 OR patient_id IN (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) > 3)
-- ok
SELECT COUNT(*) FROM patients p WHERE age < 10 OR patient_id IN (SELECT DISTINCT patient_id FROM visits)
-- ok
SELECT COUNT(*) FROM visits v WHERE specialty IN (SELECT specialty FROM by_specialty WHERE n > 15) OR cost < 10
-- ok
SELECT COUNT(*) FROM visits v WHERE specialty IN (SELECT name FROM specialties UNION SELECT code FROM prices) OR cost < 10
-- ok
SELECT COUNT(*) FROM visits v WHERE cost > 300 OR EXISTS (SELECT 1 FROM visits)
-- DPSQL-114 at 1:66: this joins rows of different people (visits with visits)
SELECT COUNT(*) FROM visits v WHERE cost > 300 OR EXISTS (SELECT 1 FROM patients p WHERE p.age > v.score)
-- DPSQL-114 at 1:90: this joins rows of different people (visits with patients)
SELECT COUNT(*) FROM visits v WHERE cost > 300 OR visit_id NOT IN (SELECT visit_id FROM items)
-- DPSQL-114 at 1:51: this joins rows of different people (visits with items)
SELECT COUNT(*) FROM specialties s WHERE EXISTS (SELECT 1 FROM visits v WHERE v.specialty = s.name) OR floor = 1
-- DPSQL-126 at 1:79: private rows decide which rows of a public table are kept
SELECT COUNT(*) FROM patients WHERE (patient_id, age) IN (SELECT patient_id FROM visits)
-- DPSQL-105 at 1:66: this subquery has 1 column, 2 are needed
-- # in CASE, COALESCE and FILTER
SELECT COUNT(*) FROM patients p WHERE CASE WHEN EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id) THEN age > 10 ELSE age > 50 END
-- ok
SELECT SUM(CASE WHEN patient_id IN (SELECT patient_id FROM visits) THEN 1 ELSE 0 END) FROM patients
-- ok
SELECT SUM(CASE WHEN patient_id NOT IN (SELECT patient_id FROM visits WHERE cost > 300) THEN age ELSE 0 END) FROM patients
-- ok
SELECT SUM(CASE WHEN score IN (SELECT n FROM numbers WHERE n < 3) THEN cost WHEN score NOT IN (SELECT n FROM numbers WHERE n < 5) THEN 1 ELSE 2 END) FROM visits
-- ok
SELECT SUM(CASE EXISTS (SELECT 1 FROM specialties s WHERE s.name = v.specialty AND floor = 2) WHEN TRUE THEN 1 ELSE 2 END) FROM visits v
-- ok
SELECT SUM(CASE score IN (SELECT n FROM numbers WHERE n < 3) WHEN TRUE THEN 1 WHEN FALSE THEN 2 ELSE 4 END) FROM visits v
-- ok
SELECT SUM(CASE WHEN score IN (SELECT n FROM numbers WHERE n < 3) IS NULL THEN 1 ELSE 0 END) FROM visits v
-- ok
SELECT SUM(COALESCE(score IN (SELECT n FROM numbers WHERE n < 3), TRUE)) FROM visits v
-- ok
SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM specialties s WHERE s.name = v.specialty AND floor = 2)) FROM visits v
-- ok
SELECT SUM(cost) FILTER (WHERE score NOT IN (SELECT n FROM numbers WHERE n < 3)) FROM visits v
-- ok
SELECT specialty, SUM(cost) FILTER (WHERE patient_id IN (SELECT patient_id FROM patients)) FROM visits GROUP BY specialty
-- ok
SELECT specialty, AVG(CASE WHEN EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND quantity > 5) THEN cost ELSE 0 END) FROM visits v GROUP BY specialty
-- ok
SELECT COUNT(*) FROM visits v WHERE IF(EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id), cost, 0) > 100
-- ok
SELECT COUNT(*) FROM visits v WHERE (score IN (SELECT n FROM numbers WHERE n < 3)) IS NULL
-- ok
SELECT COUNT(*) FROM visits v WHERE (score IN (SELECT n FROM numbers WHERE n < 3)) IS DISTINCT FROM TRUE
-- ok
SELECT COUNT(*) FROM visits v WHERE (score IN (SELECT n FROM numbers WHERE n < 3)) = (cost > 100)
-- ok
SELECT COUNT(*) FROM visits v WHERE (referrer IN (SELECT CASE WHEN floor > 1 THEN 'Dr A' END FROM specialties)) IS NULL
-- ok
SELECT COUNT(*) FROM visits v WHERE (referrer NOT IN (SELECT CASE WHEN floor > 1 THEN 'Dr A' END FROM specialties)) IS NOT TRUE
-- ok
SELECT COUNT(*) FROM visits v WHERE (referrer IN (SELECT head FROM specialties WHERE floor > 99)) IS NULL
-- ok
SELECT COUNT(*) FROM visits a WHERE (score IN (SELECT score FROM visits b WHERE b.patient_id = a.patient_id AND b.cost > a.cost)) IS NULL
-- ok
SELECT COUNT(*) FROM visits a WHERE (score NOT IN (SELECT score FROM visits b WHERE b.patient_id = a.patient_id AND b.cost > a.cost)) IS NULL
-- ok
-- # in SELECT and GROUP BY
SELECT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id) AS seen, COUNT(*) FROM patients p GROUP BY seen
-- ok
SELECT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id), COUNT(*) FROM patients p GROUP BY EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id)
-- ok
SELECT patient_id IN (SELECT patient_id FROM visits), COUNT(*) FROM patients GROUP BY 1
-- ok
SELECT specialty, specialty IN (SELECT name FROM specialties WHERE floor = 2) AS high, COUNT(*) FROM visits GROUP BY specialty
-- ok
SELECT specialty, specialty IN (SELECT name FROM specialties WHERE floor = 2) AS high, COUNT(*) FROM visits GROUP BY ALL
-- ok
SELECT specialty, COUNT(*) > ANY (SELECT n FROM numbers WHERE n IN (5, 20)) FROM visits GROUP BY specialty
-- ok
SELECT specialty, COUNT(*) FROM visits GROUP BY specialty HAVING COUNT(*) > 20 OR EXISTS (SELECT 1 FROM specialties s WHERE s.name = specialty AND floor = 1)
-- ok
SELECT specialty, COUNT(*) FROM visits GROUP BY specialty HAVING COUNT(*) IN (SELECT n FROM numbers) OR specialty = 'oncology'
-- ok
SELECT score IN (SELECT n FROM numbers WHERE n < 3) AS low, COUNT(*) FROM visits GROUP BY low
-- ok
SELECT COUNT(*) FROM (SELECT patient_id, EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id) AS e FROM visits v) WHERE e
-- ok
SELECT e, COUNT(*) FROM (SELECT patient_id, EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id) AS e FROM visits v) GROUP BY e
-- ok
SELECT AVG(LEAST(n, 5)) FROM (SELECT patient_id, COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id)) AS n FROM visits v GROUP BY patient_id)
-- ok
SELECT COUNT(*) FROM (SELECT patient_id, BOOL_OR(EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND quantity > 6)) AS big FROM visits v GROUP BY patient_id) WHERE big
-- ok
SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id HAVING COUNT(*) > 4 OR patient_id IN (SELECT patient_id FROM patients WHERE age > 50))
-- ok
SELECT COUNT(*) FROM (SELECT patient_id, specialty, SUM(cost) AS s FROM visits v GROUP BY patient_id, specialty HAVING SUM(cost) > 500 OR EXISTS (SELECT 1 FROM patients p WHERE p.patient_id = v.patient_id AND p.age > 50))
-- ok
SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id, EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id) ORDER BY visit_id) AS r FROM visits v) WHERE r = 1
-- ok
SELECT s.name, EXISTS (SELECT 1 FROM visits v WHERE v.specialty = s.name) FROM specialties s
-- DPSQL-126 at 1:53: private rows decide which rows of a public table are kept
-- # in ON
SELECT COUNT(*) FROM visits v JOIN specialties s ON v.specialty = s.name AND (v.cost > 300 OR EXISTS (SELECT 1 FROM prices p WHERE p.price > s.floor * 3))
-- ok
SELECT COUNT(*) FROM visits v JOIN specialties s ON v.specialty = s.name AND EXISTS (SELECT 1 FROM numbers n WHERE n.n = v.score + s.floor AND n.n % 2 = 0)
-- ok
SELECT COUNT(*) FROM patients p JOIN visits v ON v.patient_id = p.patient_id AND NOT EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND i.quantity > 5)
-- ok
SELECT COUNT(*) FROM visits v LEFT JOIN specialties s ON v.specialty = s.name AND EXISTS (SELECT 1 FROM numbers WHERE n = v.score)
-- ok
SELECT COUNT(s.name) FROM visits v LEFT JOIN specialties s ON v.specialty = s.name AND v.score IN (SELECT n FROM numbers WHERE n < 3)
-- ok
SELECT COUNT(*) FROM patients p JOIN visits v ON v.patient_id = p.patient_id AND v.cost > (SELECT MAX(price) FROM prices) AND v.score IN (SELECT n FROM numbers)
-- ok
-- # ANY and ALL
SELECT COUNT(*) FROM visits WHERE cost > ANY (SELECT price * 30 FROM prices)
-- ok
SELECT COUNT(*) FROM visits WHERE cost > ALL (SELECT price * 30 FROM prices)
-- ok
SELECT COUNT(*) FROM visits WHERE cost <= ANY (SELECT price * 30 FROM prices)
-- ok
SELECT COUNT(*) FROM visits WHERE cost <= ALL (SELECT price * 30 FROM prices)
-- ok
SELECT COUNT(*) FROM visits WHERE cost < SOME (SELECT price * 30 FROM prices)
-- ok
SELECT COUNT(*) FROM visits WHERE score = ANY (SELECT floor FROM specialties)
-- ok
SELECT COUNT(*) FROM visits WHERE score <> ALL (SELECT floor FROM specialties)
-- ok
SELECT COUNT(*) FROM visits WHERE score <> ANY (SELECT floor FROM specialties)
-- ok
SELECT COUNT(*) FROM visits WHERE score = ALL (SELECT floor FROM specialties WHERE floor = 2)
-- ok
SELECT COUNT(*) FROM visits WHERE NOT score = ANY (SELECT floor FROM specialties)
-- ok
SELECT COUNT(*) FROM visits WHERE NOT score >= ALL (SELECT floor FROM specialties)
-- ok
SELECT COUNT(*) FROM visits WHERE score >= ALL (SELECT n FROM numbers WHERE n < 0)
-- ok
SELECT COUNT(*) FROM visits WHERE score >= ANY (SELECT n FROM numbers WHERE n < 0)
-- ok
SELECT COUNT(*) FROM visits WHERE score > ALL (SELECT CASE WHEN floor > 1 THEN floor END FROM specialties)
-- ok
SELECT COUNT(*) FROM visits WHERE score > ANY (SELECT CASE WHEN floor > 1 THEN floor END FROM specialties)
-- ok
SELECT COUNT(*) FROM visits WHERE (score > ALL (SELECT CASE WHEN floor > 1 THEN floor END FROM specialties)) IS NULL
-- ok
SELECT COUNT(*) FROM visits WHERE (score > ANY (SELECT CASE WHEN floor > 1 THEN floor END FROM specialties)) IS NULL
-- ok
SELECT COUNT(*) FROM visits a WHERE cost >= ALL (SELECT b.cost FROM visits b WHERE b.patient_id = a.patient_id)
-- ok
SELECT COUNT(*) FROM visits a WHERE cost > ANY (SELECT b.cost FROM visits b WHERE b.patient_id = a.patient_id)
-- ok
SELECT COUNT(*) FROM visits a WHERE score <= ALL (SELECT b.score FROM visits b WHERE b.patient_id = a.patient_id)
-- ok
SELECT COUNT(*) FROM visits a WHERE specialty = ALL (SELECT b.specialty FROM visits b WHERE b.patient_id = a.patient_id)
-- ok
SELECT COUNT(*) FROM patients WHERE age > ALL (SELECT score * 10 FROM visits v WHERE v.patient_id = patients.patient_id)
-- ok
SELECT COUNT(*) FROM patients WHERE age < 20 OR age > ALL (SELECT score * 10 FROM visits v WHERE v.patient_id = patients.patient_id)
-- ok
SELECT SUM(CASE WHEN age > ANY (SELECT score * 10 FROM visits v WHERE v.patient_id = patients.patient_id) THEN 1 ELSE 3 END) FROM patients
-- ok
SELECT specialty, COUNT(*) FROM visits WHERE cost > ALL (SELECT price FROM prices) OR score = ANY (SELECT floor FROM specialties) GROUP BY specialty
-- ok
SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty HAVING COUNT(*) >= ALL (SELECT n FROM by_specialty)
-- ok
SELECT COUNT(*) FROM visits WHERE cost > ANY (SELECT AVG(cost) FROM visits GROUP BY specialty)
-- ok
SELECT COUNT(*) FROM visits WHERE cost > ALL (SELECT score FROM visits)
-- DPSQL-114 at 1:35: this joins rows of different people (visits with visits)
SELECT COUNT(*) FROM visits WHERE cost = ANY ([1, 2])
-- DPSQL-100 at 1:48: this is not possible here
SELECT ANY (SELECT 1)
-- DPSQL-100 at 1:20: this is not possible here
-- # subqueries that are one row by their form
WITH m AS (SELECT AVG(cost) AS a FROM visits) SELECT COUNT(*) FROM visits WHERE cost > (SELECT a FROM m)
-- ok
WITH m AS (SELECT AVG(cost) AS a, COUNT(*) AS n FROM visits) SELECT (SELECT a FROM m) > 0, (SELECT n FROM m), COUNT(*) FROM visits WHERE cost > (SELECT a FROM m)
-- ok
SELECT COUNT(*) FROM visits WHERE cost > (SELECT a FROM (SELECT AVG(cost) AS a FROM visits))
-- ok
SELECT COUNT(*) FROM visits WHERE cost > (SELECT a + 1 FROM (SELECT AVG(cost) AS a FROM visits) t WHERE a > 0)
-- ok
SELECT COUNT(*) FROM visits WHERE cost > (SELECT a * b FROM (SELECT AVG(cost) AS a FROM visits), (SELECT MAX(price) / 10 AS b FROM prices))
-- ok
SELECT COUNT(*) FROM visits WHERE score < (SELECT 3)
-- ok
SELECT COUNT(*) FROM visits WHERE score < (SELECT 3 WHERE 1 = 1)
-- ok
SELECT COUNT(*) FROM visits WHERE score < (SELECT n FROM (VALUES (3)) t(n))
-- ok
SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits HAVING COUNT(*) > 3)
-- ok
SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits WHERE specialty = 'surgery' GROUP BY specialty)
-- ok
SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits GROUP BY specialty HAVING specialty = 'surgery')
-- ok
SELECT COUNT(*) FROM visits WHERE cost > (SELECT m FROM (SELECT specialty, AVG(cost) AS m FROM visits GROUP BY specialty) WHERE specialty = 'oncology')
-- ok
SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits ORDER BY 1 LIMIT 1)
-- ok
SELECT (SELECT n FROM (SELECT COUNT(*) AS n FROM visits)) AS x
-- ok
SELECT (SELECT n FROM (SELECT COUNT(*) AS n FROM visits)) * 1.0 / (SELECT n FROM (SELECT COUNT(*) AS n FROM patients)) AS x
-- ok
SELECT specialty, COUNT(*) * 1.0 / (SELECT n FROM (SELECT COUNT(*) AS n FROM visits)) FROM visits GROUP BY specialty
-- ok
SELECT COUNT(*) FROM visits WHERE score < (SELECT floor FROM (SELECT DISTINCT floor FROM specialties WHERE floor = 2) WHERE floor = 2)
-- ok
SELECT COUNT(*) FROM visits WHERE score < (SELECT MAX(floor) FROM specialties GROUP BY ())
-- ok
SELECT COUNT(*) FROM visits WHERE score < (SELECT floor FROM specialties ORDER BY name LIMIT 1)
-- ok
SELECT COUNT(*) FROM visits WHERE cost > (SELECT n FROM by_specialty WHERE specialty = 'surgery')
-- ok
SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits GROUP BY specialty)
-- DPSQL-121 at 1:50: this subquery may have several rows
SELECT COUNT(*) FROM visits WHERE cost > (SELECT cost FROM visits)
-- DPSQL-121 at 1:50: this subquery may have several rows
SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits GROUP BY ROLLUP (specialty) HAVING specialty = 'surgery')
-- DPSQL-121 at 1:50: this subquery may have several rows
SELECT COUNT(*) FROM visits WHERE duration > 5 OR EXISTS (SELECT 1 FROM specialties WHERE name = specialty)
-- ok
SELECT COUNT(*) FROM visits WHERE specialty IN (SELECT name FROM specialties) OR cost > 3
-- ok
SELECT specialty IN (SELECT name FROM specialties) AS known, COUNT(*) FROM visits GROUP BY 1
-- ok
SELECT COUNT(*) FROM visits a WHERE cost = ANY (SELECT cost FROM visits b WHERE b.patient_id = a.patient_id)
-- ok
