-- # two levels: inner conditions about the outermost rows
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND i.quantity * 10 > p.age))
-- ok
SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND i.quantity * 10 > p.age))
-- ok
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND NOT EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND i.quantity * 10 > p.age))
-- ok
SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND NOT EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND i.quantity * 10 > p.age))
-- ok
SELECT COUNT(*) FROM patients p WHERE patient_id IN (SELECT v.patient_id FROM visits v WHERE v.patient_id = p.patient_id AND EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND i.quantity * 10 > p.age))
-- ok
SELECT COUNT(*) FROM patients p WHERE age NOT IN (SELECT v.score FROM visits v WHERE v.patient_id = p.patient_id AND EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND i.quantity * 10 > p.age))
-- ok
SELECT COUNT(*) FROM patients p WHERE age > 5 OR EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND (v.cost > 400 OR EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND i.quantity * 10 > p.age)))
-- ok
SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND NOT EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND i.quantity * 10 > p.age)) THEN 1 ELSE 3 END) FROM patients p
-- ok
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM specialties s WHERE s.name = v.specialty AND EXISTS (SELECT 1 FROM prices p WHERE p.price > s.floor AND p.price < v.score))
-- ok
SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM specialties s WHERE s.floor < v.score AND NOT EXISTS (SELECT 1 FROM prices p WHERE p.price > s.floor AND p.price < v.score))
-- ok
SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM numbers n WHERE n.n < 3 AND NOT EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND i.quantity > n.n))
-- ok
SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM specialties s WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.specialty = s.name))
-- ok
SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM specialties s WHERE s.floor = 2 AND NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.specialty = s.name AND v.cost > p.age))
-- ok
SELECT sex, COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM specialties s WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.specialty = s.name)) GROUP BY sex
-- ok
SELECT COUNT(*) FROM items i WHERE EXISTS (SELECT 1 FROM visits v WHERE v.visit_id = i.visit_id AND EXISTS (SELECT 1 FROM patients p WHERE p.patient_id = v.patient_id AND p.age > i.quantity * 10))
-- ok
SELECT COUNT(*) FROM items i WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.visit_id = i.visit_id AND NOT EXISTS (SELECT 1 FROM patients p WHERE p.patient_id = v.patient_id AND p.age > i.quantity * 10))
-- ok
SELECT COUNT(*) FROM visits a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.visit_id > a.visit_id AND NOT EXISTS (SELECT 1 FROM visits c WHERE c.patient_id = a.patient_id AND c.visit_id > a.visit_id AND c.visit_id < b.visit_id AND c.cost > a.cost))
-- ok
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > ALL (SELECT w.cost FROM visits w WHERE w.patient_id = v.patient_id AND w.visit_id <> v.visit_id AND w.score < p.age))
-- ok
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.cost > p.age AND EXISTS (SELECT 1 FROM items i WHERE i.visit_id = v.visit_id AND i.quantity > p.age))
-- DPSQL-114 at 1:76: this joins rows of different people (patients with visits)
SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM specialties s WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.specialty = s.name AND v.cost > p.age))
-- DPSQL-114 at 1:126: this joins rows of different people (patients with visits)
-- # aggregates that are connected by any condition
SELECT COUNT(*) FROM visits v WHERE (SELECT COUNT(*) FROM visits w WHERE w.patient_id = v.patient_id AND w.cost > v.cost) < 2
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT COUNT(*) FROM visits w WHERE w.patient_id = v.patient_id AND w.visit_id < v.visit_id) = 1
-- ok
SELECT AVG(LEAST((SELECT COUNT(*) FROM visits w WHERE w.patient_id = v.patient_id AND w.cost >= v.cost), 4)) FROM visits v
-- ok
SELECT COUNT(*) FROM visits v WHERE v.cost > (SELECT AVG(w.cost) FROM visits w WHERE w.patient_id = v.patient_id AND w.visit_id <> v.visit_id)
-- ok
SELECT COUNT(*) FROM visits v WHERE v.cost > (SELECT MAX(w.cost) FROM visits w WHERE w.patient_id = v.patient_id AND (w.visit_id < v.visit_id OR w.specialty = v.specialty AND w.visit_id <> v.visit_id))
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT SUM(w.cost - v.cost) FROM visits w WHERE w.patient_id = v.patient_id AND w.score > v.score) > 10
-- ok
SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > p.age) > 2
-- ok
SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(DISTINCT specialty) FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > p.age) = 3
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT COUNT(*) FROM items i WHERE i.visit_id = v.visit_id AND i.quantity > v.score) > 0
-- ok
SELECT specialty, COUNT(*) FROM visits v WHERE (SELECT COALESCE(SUM(i.quantity), 0) FROM items i WHERE i.visit_id = v.visit_id AND i.quantity <> v.score) > 4 GROUP BY specialty
-- ok
SELECT SUM(LEAST((SELECT COUNT(*) FROM specialties s WHERE s.floor < v.score), 3)) FROM visits v
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT MAX(p.price) FROM prices p WHERE p.price < v.score) > 2
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT COUNT(*) FROM prices p WHERE p.price < v.score OR v.score IS NULL) > 2
-- ok
SELECT COUNT(*) FROM visits v JOIN specialties s ON s.name = v.specialty WHERE (SELECT COUNT(*) FROM prices p WHERE p.price < v.score + s.floor) > 2
-- ok
SELECT COUNT(*) FROM patients p JOIN visits v USING (patient_id) WHERE (SELECT COUNT(*) FROM visits w WHERE w.patient_id = p.patient_id AND w.cost > v.cost AND w.cost > p.age) > 1
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT COUNT(*) FROM visits w WHERE w.patient_id = v.patient_id AND w.score IS NOT DISTINCT FROM v.score) > 1
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT COUNT(*) FROM visits w WHERE w.patient_id = v.patient_id AND w.duration < v.duration) = 0
-- ok
SELECT s.name, (SELECT COUNT(*) FROM visits v WHERE v.score > s.floor) FROM specialties s
-- ok
SELECT s.floor, (SELECT COUNT(*) FROM visits v WHERE v.score >= s.floor AND v.specialty = s.name) FROM specialties s
-- ok
SELECT n, (SELECT SUM(cost) FROM visits v WHERE v.score <= m.n) FROM numbers m WHERE n < 4
-- DPSQL-136 at 1:49: one private row could meet 20,000 rows of the other side in this join
SELECT n, (SELECT AVG(age) FROM patients p WHERE p.age < m.n * 20) FROM numbers m WHERE n IN (1, 3, 5)
-- DPSQL-136 at 1:50: one private row could meet 20,000 rows of the other side in this join
SELECT COUNT(*) FROM visits a WHERE cost > (SELECT AVG(cost) FROM visits b WHERE b.visit_id < a.visit_id)
-- DPSQL-114 at 1:82: this joins rows of different people (visits with visits)
SELECT COUNT(*) FROM visits a WHERE cost > (SELECT AVG(cost) FROM visits b WHERE b.score = a.score AND b.cost > a.cost)
-- DPSQL-114 at 1:82: this joins rows of different people (visits with visits)
-- # the first row in an order
SELECT COUNT(*) FROM patients p WHERE (SELECT cost FROM visits v WHERE v.patient_id = p.patient_id ORDER BY visit_id LIMIT 1) > 100
-- ok
SELECT COUNT(*) FROM patients p WHERE (SELECT specialty FROM visits v WHERE v.patient_id = p.patient_id ORDER BY cost DESC, visit_id LIMIT 1) = 'surgery'
-- ok
SELECT COUNT(*) FROM visits v WHERE v.cost > (SELECT w.cost FROM visits w WHERE w.patient_id = v.patient_id AND w.visit_id < v.visit_id ORDER BY w.visit_id DESC LIMIT 1)
-- ok
SELECT COUNT(*) FROM visits v WHERE (SELECT code FROM items i WHERE i.visit_id = v.visit_id ORDER BY quantity DESC, code LIMIT 1) = 'a'
-- ok
SELECT first_seen, COUNT(*) FROM (SELECT patient_id, (SELECT specialty FROM visits v WHERE v.patient_id = p.patient_id ORDER BY visit_id LIMIT 1) AS first_seen FROM patients p) WHERE first_seen IN ('surgery', 'oncology') GROUP BY first_seen
-- ok
SELECT COUNT(*) FROM visits v WHERE score > (SELECT price FROM prices p WHERE p.price < v.score ORDER BY price DESC LIMIT 1)
-- ok
SELECT COUNT(*) FROM patients p WHERE (SELECT score FROM visits v WHERE v.patient_id = p.patient_id ORDER BY score NULLS FIRST, visit_id LIMIT 1) IS NULL
-- ok
SELECT COUNT(*) FROM patients p WHERE (SELECT cost FROM visits v WHERE v.patient_id = p.patient_id ORDER BY 1 LIMIT 1) > 100
-- DPSQL-121 at 1:47: dpsql cannot turn this correlated subquery into a join
SELECT COUNT(*) FROM patients p WHERE (SELECT cost FROM visits v WHERE v.patient_id = p.patient_id LIMIT 1) > 100
-- DPSQL-121 at 1:47: this subquery uses a column of the outer query in a way that dpsql cannot untangle
SELECT s.name, (SELECT cost FROM visits v WHERE v.specialty = s.name ORDER BY visit_id LIMIT 1) FROM specialties s
-- DPSQL-132 at 1:24: FIRST of private rows is not answered
