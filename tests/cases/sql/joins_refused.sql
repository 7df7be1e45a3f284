-- # rows of different people
SELECT COUNT(*) FROM visits a JOIN visits b ON a.specialty = b.specialty
-- DPSQL-114 at 1:48: this joins rows of different people (visits with visits)
SELECT COUNT(*) FROM visits a, visits b
-- DPSQL-114 at 1:32: this joins rows of different people (visits with visits)
SELECT COUNT(*) FROM visits a CROSS JOIN patients b
-- DPSQL-114 at 1:42: this joins rows of different people (visits with patients)
SELECT COUNT(*) FROM visits a JOIN patients p ON a.patient_id = p.patient_id + 1
-- DPSQL-114 at 1:50: this joins rows of different people (visits with patients)
SELECT COUNT(*) FROM visits a JOIN patients p ON a.patient_id < p.patient_id
-- DPSQL-114 at 1:50: this joins rows of different people (visits with patients)
SELECT COUNT(*) FROM visits a JOIN patients p ON a.patient_id = p.patient_id OR p.age > 3
-- DPSQL-114 at 1:50: this joins rows of different people (visits with patients)
SELECT COUNT(*) FROM visits a JOIN patients p ON a.patient_id IS NOT DISTINCT FROM p.patient_id
-- DPSQL-114 at 1:50: this joins rows of different people (visits with patients)
SELECT COUNT(*) FROM visits a JOIN patients p ON a.visit_id = p.patient_id
-- DPSQL-114 at 1:50: this joins rows of different people (visits with patients)
SELECT COUNT(*) FROM visits a JOIN patients p ON NOT (a.patient_id <> p.patient_id)
-- DPSQL-114 at 1:55: this joins rows of different people (visits with patients)
SELECT COUNT(*) FROM visits a JOIN patients p ON abs(a.patient_id) = abs(p.patient_id)
-- DPSQL-114 at 1:50: this joins rows of different people (visits with patients)
SELECT COUNT(*) FROM visits a JOIN patients p ON CAST(a.patient_id AS VARCHAR) = CAST(p.patient_id AS VARCHAR)
-- DPSQL-114 at 1:50: this joins rows of different people (visits with patients)
SELECT COUNT(*) FROM items a JOIN items b ON a.code = b.code
-- DPSQL-114 at 1:46: this joins rows of different people (items with items)
SELECT COUNT(*) FROM items i JOIN visits v ON i.quantity = v.visit_id
-- DPSQL-114 at 1:47: this joins rows of different people (items with visits)
SELECT COUNT(*) FROM items i JOIN patients p ON i.visit_id = p.patient_id
-- DPSQL-114 at 1:49: this joins rows of different people (items with patients)
SELECT COUNT(*) FROM items i, patients p, visits v WHERE v.visit_id = i.visit_id AND p.age > v.cost
-- DPSQL-114 at 1:86: this joins rows of different people (items and visits with patients)
SELECT COUNT(*) FROM visits a LEFT JOIN visits b ON a.patient_id = b.patient_id LEFT JOIN visits c ON b.patient_id = c.patient_id
-- DPSQL-114 at 1:103: this joins rows of different people (visits with visits)
SELECT COUNT(*) FROM visits a JOIN (SELECT patient_id + 1 AS patient_id FROM visits) b ON a.patient_id = b.patient_id
-- DPSQL-114 at 1:91: this joins rows of different people (visits with visits)
SELECT COUNT(*) FROM visits a JOIN (SELECT MAX(patient_id) OVER (PARTITION BY patient_id) AS p FROM visits) b ON a.patient_id = b.p
-- DPSQL-114 at 1:114: this joins rows of different people (visits with visits)
-- # outer joins that keep the public side
SELECT COUNT(*) FROM specialties s LEFT JOIN visits v ON v.specialty = s.name
-- DPSQL-125 at 1:58: a LEFT JOIN here keeps the rows of the public side
SELECT COUNT(*) FROM visits v RIGHT JOIN specialties s ON v.specialty = s.name
-- DPSQL-125 at 1:59: a RIGHT JOIN here keeps the rows of the public side
SELECT COUNT(*) FROM visits v FULL JOIN specialties s ON v.specialty = s.name
-- DPSQL-125 at 1:58: a FULL JOIN here keeps the rows of the public side
SELECT s.name, COUNT(v.visit_id) FROM specialties s LEFT JOIN visits v ON v.specialty = s.name GROUP BY s.name
-- DPSQL-125 at 1:75: a LEFT JOIN here keeps the rows of the public side
-- # public rows chosen by private ones
SELECT * FROM specialties s WHERE EXISTS (SELECT 1 FROM visits v WHERE v.specialty = s.name)
-- DPSQL-126 at 1:72: private rows decide which rows of a public table are kept
SELECT * FROM specialties WHERE name IN (SELECT specialty FROM visits)
-- DPSQL-126 at 1:33: private rows decide which rows of a public table are kept
SELECT * FROM specialties WHERE name NOT IN (SELECT specialty FROM visits)
-- DPSQL-126 at 1:33: private rows decide which rows of a public table are kept
SELECT * FROM specialties s SEMI JOIN visits v ON v.specialty = s.name
-- DPSQL-126 at 1:51: private rows decide which rows of a public table are kept
SELECT * FROM specialties s ANTI JOIN visits v ON v.specialty = s.name
-- DPSQL-126 at 1:51: private rows decide which rows of a public table are kept
-- # fan-out
SELECT COUNT(*) FROM visits CROSS JOIN numbers
-- DPSQL-136 at 1:40: one private row could meet 20,000 rows of the other side in this join
SELECT COUNT(*) FROM visits JOIN numbers ON n > score
-- DPSQL-136 at 1:45: one private row could meet 20,000 rows of the other side in this join
SELECT COUNT(*) FROM visits v JOIN (SELECT n % 1 AS k FROM numbers) t ON v.score = t.k
-- DPSQL-136 at 1:74: one private row could meet 20,000 rows of the other side in this join
-- # names and forms
SELECT COUNT(*) FROM visits JOIN invoices ON TRUE
-- DPSQL-101 at 1:34: there is no table "invoices"
SELECT COUNT(*) FROM visits v JOIN specialties s ON v.specialty = s.nam
-- DPSQL-102 at 1:67: there is no column "nam"
SELECT COUNT(*) FROM visits JOIN visits ON visits.patient_id = visits.patient_id
-- DPSQL-104 at 1:34: "visits" names two tables in this FROM
SELECT patient_id, COUNT(*) FROM patients p JOIN visits v ON p.patient_id = v.patient_id GROUP BY 1
-- DPSQL-104 at 1:8: column "patient_id" could be p.patient_id or v.patient_id
SELECT COUNT(*) FROM visits JOIN patients USING (city)
-- DPSQL-102 at 1:34: there is no column "city"
SELECT COUNT(*) FROM specialties NATURAL JOIN numbers
-- DPSQL-102 at 1:47: NATURAL JOIN finds no column of the same name on both sides
SELECT COUNT(*) FROM visits v LEFT JOIN specialties s
-- DPSQL-100 at 1:36: a JOIN has no ON or USING
SELECT COUNT(*) FROM visits v JOIN specialties s ON v.specialty
-- DPSQL-105 at 1:53: a condition is needed here, not text
SELECT COUNT(*) FROM visits v ASOF JOIN patients p ON v.patient_id = p.patient_id AND v.score >= p.age
-- DPSQL-120 at 1:41: dpsql does not answer ASOF JOIN
SELECT COUNT(*) FROM visits v POSITIONAL JOIN patients p
-- DPSQL-120 at 1:47: dpsql does not answer POSITIONAL JOIN
SELECT COUNT(*) FROM visits v, LATERAL (SELECT * FROM patients p WHERE p.patient_id = v.patient_id) x
-- DPSQL-120 at 1:48: dpsql does not answer LATERAL
SELECT COUNT(*) FROM visits TABLESAMPLE 10%
-- DPSQL-120 at 1:41: dpsql does not answer SAMPLE
SELECT COUNT(*) FROM visits USING SAMPLE 5
-- DPSQL-120 at 1:42: dpsql does not answer SAMPLE
SELECT COUNT(*) FROM range(10)
-- DPSQL-120 at 1:22: dpsql does not answer functions in FROM
SELECT COUNT(*) FROM 'visits.parquet'
-- DPSQL-120 at 1:22: dpsql does not answer files by their name
SELECT COUNT(*) FROM read_csv('x.csv')
-- DPSQL-120 at 1:22: dpsql does not answer functions in FROM
SELECT COUNT(*) FROM visits AT (VERSION => 1)
-- DPSQL-120 at 1:44: dpsql does not answer AT (VERSION …)
