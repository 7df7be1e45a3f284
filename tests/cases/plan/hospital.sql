-- title: one count of everybody
SELECT COUNT(*) FROM visits
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 1, δ = 0, ρ = 0.5
From visits: 3 rows of a patient count, over all groups together (4 groups x 3 rows); of more, each counts less (declared for visits).
  count(*): one patient changes it by at most 3; laplace noise of scale 3, 95 % within ±8.9872.
  Intervals are about the noise; what limits and clamped values leave out comes on top.
  Each row is about one patient and depends on that patient's rows alone: visits.patient_id: own column.

-- title: declared keys, a shared count
SELECT specialty, COUNT(*), AVG(duration), SUM(duration) FROM visits GROUP BY specialty
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 1, δ = 0, ρ = 0.25
From visits: 12 rows of a patient count, over all groups together (4 groups x 3 rows); of more, each counts less (declared for visits).
  specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty), empty ones are released too; NULL and other values are dropped.
  mean of duration: measured by 2 ends, which one patient moves together by at most 2880; values are held within 0 to 240 (declared for visits.duration); laplace noise of scale 5760, 95 % within ±11851.4.
  count(*): one patient changes it by at most 12 over all groups together; laplace noise of scale 24, 95 % within ±71.8976.
  Intervals are about the noise; what limits and clamped values leave out comes on top.
  Each row is about one patient and depends on that patient's rows alone: visits.patient_id: own column.

-- title: private keys are thresholded
SELECT referrer, COUNT(DISTINCT patient_id) FROM visits GROUP BY referrer
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 1, δ = 1e-09, ρ = 0.129202
From visits: 12 rows of a patient count, over all groups together (4 groups x 3 rows), and as one in 4 groups; of more, each counts less (declared for visits).
  referrer: private keys, rare ones are withheld.
  Keys are released from about 78 units on that see nothing else, 246 that see ten (a patient's vote is split over its keys); gaussian noise on the votes.
  That one unit's own keys show has a probability of at most 5e-10.
  units: one patient changes it by at most 4 over all groups together; laplace noise of scale 8, 95 % within ±23.9659.
  Intervals are about the noise; what limits and clamped values leave out comes on top.
  Each row is about one patient and depends on that patient's rows alone: visits.patient_id: own column.

-- title: inferred keys, a filter narrows bounds
SELECT date_trunc('month', visited_on) AS month, SUM(duration) FROM visits WHERE duration <= 60 GROUP BY month
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 1, δ = 0, ρ = 0.5
From visits: 12 rows of a patient count, over all groups together (4 groups x 3 rows); of more, each counts less (declared for visits).
  month: 12 public keys (declared for visits.visited_on), empty ones are released too; NULL and other values are dropped.
  sum(duration): one patient changes it by at most 720 over all groups together; values are held within 0 to 60 (declared for visits.duration); laplace noise of scale 720, 95 % within ±2156.93.
  Intervals are about the noise; what limits and clamped values leave out comes on top.
  Each row is about one patient and depends on that patient's rows alone: visits.patient_id: own column.

-- title: mixed keys
SELECT specialty, referrer, COUNT(*) FROM visits GROUP BY ALL
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 1, δ = 1e-09, ρ = 0.129202
From visits: 12 rows of a patient count, over all groups together (4 groups x 3 rows); of more, each counts less (declared for visits).
  specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty), empty ones are released too; NULL and other values are dropped.
  referrer: private keys, rare ones are withheld.
  Keys are released from about 78 units on that see nothing else, 246 that see ten (a patient's vote is split over its keys); gaussian noise on the votes.
  That one unit's own keys show has a probability of at most 5e-10.
  count(*): one patient changes it by at most 12 over all groups together; laplace noise of scale 24, 95 % within ±71.8976.
  Intervals are about the noise; what limits and clamped values leave out comes on top.
  Each row is about one patient and depends on that patient's rows alone: visits.patient_id: own column.

-- title: caps and mechanism of the query
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=1, max_rows_per_group=1, delta=1e-6, mechanism='gaussian') specialty, SUM(duration) FROM visits GROUP BY specialty
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 1, δ = 1e-06, ρ = 0.0280145
From visits: 1 row of a patient counts, over all groups together (1 groups x 1 rows); of more, each counts less (asked for in the query).
  specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty), empty ones are released too; NULL and other values are dropped.
  sum(duration): one patient changes it by at most 240.001 over all groups together (the root of the squares); values are held within 0 to 240 (declared for visits.duration); gaussian noise of scale 1013.93, 95 % within ±1987.27.
  Intervals are about the noise; what limits and clamped values leave out comes on top.
  Each row is about one patient and depends on that patient's rows alone: visits.patient_id: own column.

-- title: keys alone cost nothing
SELECT DISTINCT specialty FROM visits
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 0, δ = 0
From visits: 12 rows of a patient count, over all groups together (4 groups x 3 rows); of more, each counts less (declared for visits).
  specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty), empty ones are released too; NULL and other values are dropped.
  Each row is about one patient and depends on that patient's rows alone: visits.patient_id: own column.
