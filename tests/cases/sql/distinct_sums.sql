-- # over all units: a value counts once, whoever has it
SELECT SUM(DISTINCT cost) FROM visits
-- ok
SELECT SUM(DISTINCT quantity) FROM items
-- ok
SELECT AVG(DISTINCT quantity) FROM items
-- ok
SELECT AVG(DISTINCT cost) FROM visits
-- ok
SELECT specialty, SUM(DISTINCT cost) FROM visits GROUP BY specialty
-- ok
SELECT specialty, AVG(DISTINCT LEAST(GREATEST(score, 0), 9)), COUNT(*) FROM visits GROUP BY specialty
-- ok
SELECT SUM(DISTINCT LEAST(GREATEST(score, 0), 9)), COUNT(DISTINCT score) FROM visits
-- ok
SELECT SUM(DISTINCT duration) FROM visits WHERE specialty = 'surgery'
-- ok
SELECT SUM(DISTINCT age), AVG(DISTINCT age), COUNT(DISTINCT age) FROM patients
-- ok
SELECT SUM(DISTINCT age) FILTER (WHERE age > 50), SUM(age) FROM patients
-- ok
SELECT sex, SUM(DISTINCT age), SUM(age) FROM patients GROUP BY sex
-- ok
SELECT code, SUM(DISTINCT quantity) FROM items WHERE code IN ('a', 'b') GROUP BY code
-- ok
SELECT SUM(DISTINCT CASE WHEN cost > 100 THEN quantity END) FROM items JOIN visits USING (visit_id)
-- ok
SELECT SUM(DISTINCT floor) FROM visits JOIN specialties ON name = specialty
-- ok
SELECT SUM(DISTINCT score) FROM visits
-- DPSQL-103 at 1:21: column "score" has no bounds
SELECT VAR_POP(DISTINCT cost) FROM visits
-- DPSQL-132 at 1:8: VAR_POP(DISTINCT …) is not answered
-- # of one unit
SELECT AVG(LEAST(s, 1000)) FROM (SELECT patient_id, SUM(DISTINCT cost) AS s FROM visits GROUP BY patient_id)
-- ok
SELECT AVG(LEAST(s, 100)) FROM (SELECT patient_id, AVG(DISTINCT cost) AS s FROM visits GROUP BY patient_id)
-- ok
SELECT COUNT(*) FROM (SELECT patient_id, SUM(DISTINCT score) AS s, SUM(score) AS t FROM visits GROUP BY patient_id) WHERE s < t
-- ok
SELECT COUNT(*) FROM patients p WHERE (SELECT SUM(DISTINCT v.cost) FROM visits v WHERE v.patient_id = p.patient_id) > 300
-- ok
SELECT COUNT(*) FROM patients p WHERE (SELECT AVG(DISTINCT v.score) FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > p.age) > 3
-- ok
SELECT patient_id, SUM(DISTINCT score) AS s FROM visits GROUP BY patient_id
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
