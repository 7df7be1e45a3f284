-- # private with public
SELECT specialty, COUNT(*) FROM visits GROUP BY specialty
-- ok
SELECT s.floor, COUNT(*) FROM visits v JOIN specialties s ON v.specialty = s.name GROUP BY s.floor
-- ok
SELECT s.head, COUNT(*), SUM(v.cost) FROM visits v, specialties s WHERE v.specialty = s.name GROUP BY s.head
-- ok
SELECT COUNT(*) FROM visits v LEFT JOIN specialties s ON v.specialty = s.name AND s.floor = 2 WHERE s.name IS NULL
-- ok
SELECT COUNT(*) FROM specialties s RIGHT JOIN visits v ON v.specialty = s.name
-- ok
SELECT COUNT(*) FROM visits CROSS JOIN specialties
-- ok
SELECT SUM(p.price * i.quantity) FROM items i JOIN prices p ON i.code = p.code
-- ok
SELECT SUM(p.price * i.quantity) FROM items i JOIN prices p USING (code)
-- ok
SELECT SUM(price * quantity) FROM items NATURAL JOIN prices
-- ok
SELECT COUNT(*) FROM visits v JOIN specialties s ON v.specialty = s.name AND v.duration > s.floor * 60
-- ok
SELECT COUNT(*) FROM visits v SEMI JOIN specialties s ON v.specialty = s.name AND s.floor = 1
-- ok
SELECT COUNT(*) FROM visits v ANTI JOIN specialties s ON v.specialty = s.name AND s.floor = 1
-- ok
SELECT head, COUNT(*) FROM visits JOIN (SELECT name, head FROM specialties WHERE floor > 1) s ON specialty = s.name GROUP BY head
-- ok
SELECT COUNT(*) FROM visits v JOIN (VALUES ('cardiology', 1), ('surgery', 2)) AS w(s, k) ON v.specialty = w.s
-- ok
-- # private with private, on the unit
SELECT sex, COUNT(*) FROM patients p JOIN visits v ON p.patient_id = v.patient_id GROUP BY sex
-- ok
SELECT sex, AVG(duration) FROM patients JOIN visits USING (patient_id) GROUP BY sex
-- ok
SELECT sex, COUNT(*) FROM patients NATURAL JOIN visits GROUP BY sex
-- ok
SELECT sex, COUNT(v.visit_id) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id GROUP BY sex
-- ok
SELECT COUNT(*), COUNT(v.visit_id), COUNT(p.age) FROM patients p FULL JOIN visits v ON p.patient_id = v.patient_id
-- ok
SELECT COUNT(*), SUM(age) FROM patients p RIGHT JOIN visits v ON p.patient_id = v.patient_id
-- ok
SELECT sex, COUNT(*) FROM patients p, visits v WHERE p.patient_id = v.patient_id AND duration > 30 GROUP BY sex
-- ok
SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND a.visit_id < b.visit_id
-- ok
SELECT COUNT(*) FROM visits a, visits b WHERE a.patient_id = b.patient_id AND a.visited_on < b.visited_on
-- ok
SELECT COUNT(*) FROM visits a JOIN visits b USING (patient_id) JOIN patients p USING (patient_id)
-- ok
SELECT COUNT(*) FROM patients p JOIN visits v ON v.patient_id = p.patient_id JOIN specialties s ON s.name = v.specialty WHERE s.floor = 2 AND p.age > 20
-- ok
SELECT sex, floor, COUNT(*) FROM specialties, patients p, visits v WHERE name = specialty AND p.patient_id = v.patient_id GROUP BY sex, floor
-- ok
SELECT COUNT(*) FROM visits v, items i, patients p WHERE v.visit_id = i.visit_id AND p.patient_id = v.patient_id
-- ok
SELECT COUNT(*) FROM items i, patients p, visits v WHERE v.visit_id = i.visit_id AND p.patient_id = v.patient_id
-- ok
SELECT COUNT(DISTINCT p.patient_id) FROM patients p JOIN visits v ON p.patient_id = v.patient_id
-- ok
SELECT COUNT(*) FROM visits a FULL JOIN visits b ON a.patient_id = b.patient_id AND a.visit_id + 1 = b.visit_id
-- ok
SELECT COUNT(*) FROM (patients p JOIN visits v ON p.patient_id = v.patient_id) LEFT JOIN visits w ON w.patient_id = p.patient_id AND w.cost > v.cost
-- ok
-- # along the path
SELECT COUNT(*), SUM(quantity) FROM items
-- ok
SELECT code, COUNT(*) FROM items GROUP BY code
-- ok
SELECT specialty, SUM(quantity) FROM items i JOIN visits v ON i.visit_id = v.visit_id GROUP BY specialty
-- ok
SELECT specialty, SUM(quantity) FROM visits v JOIN items i ON i.visit_id = v.visit_id WHERE duration > 20 GROUP BY specialty
-- ok
SELECT specialty, SUM(quantity) FROM visits JOIN items USING (visit_id) GROUP BY specialty
-- ok
SELECT COUNT(*), COUNT(i.quantity) FROM visits v LEFT JOIN items i ON i.visit_id = v.visit_id
-- ok
SELECT COUNT(*), COUNT(v.duration) FROM visits v RIGHT JOIN items i ON i.visit_id = v.visit_id AND v.duration > 100
-- ok
SELECT COUNT(*) FROM items a JOIN items b ON a.visit_id = b.visit_id AND a.code < b.code
-- ok
SELECT sex, SUM(quantity) FROM items i JOIN visits v ON v.visit_id = i.visit_id JOIN patients p ON p.patient_id = v.patient_id GROUP BY sex
-- ok
SELECT SUM(quantity * price) FROM items i, visits v, prices p WHERE v.visit_id = i.visit_id AND p.code = i.code AND v.specialty = 'surgery'
-- ok
SELECT COUNT(*) FROM items WHERE (code = 'a' AND quantity > 3) OR (code = 'b' AND quantity < 7)
-- ok
SELECT SUM(price) FROM items, prices WHERE (items.code = prices.code AND quantity > 3) OR (items.code = prices.code AND price > 2)
-- ok
-- # a public table's column under an outer join of private rows: NULL is one more key
SELECT w.head, COUNT(*) FROM patients p LEFT JOIN (SELECT patient_id, head FROM visits JOIN specialties ON specialty = name WHERE floor = 2) w ON p.patient_id = w.patient_id GROUP BY w.head
-- ok
SELECT w.head, COUNT(*) FROM patients p FULL JOIN (SELECT patient_id, head FROM visits JOIN specialties ON specialty = name WHERE floor = 2) w ON p.patient_id = w.patient_id GROUP BY w.head
-- ok
SELECT w.head, COUNT(*) FROM (SELECT patient_id, head FROM visits JOIN specialties ON specialty = name WHERE floor = 2) w RIGHT JOIN patients p ON p.patient_id = w.patient_id GROUP BY w.head
-- ok
