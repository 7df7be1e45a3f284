-- # one count of everybody
SELECT COUNT(*) FROM visits
-- Privacy unit: patient. In every table, all rows of one patient are protected together.
--   Neighbouring data: the data with and without all rows of one patient. The cost limits how well answers tell the two apart.
-- Costs ε = 1, δ = 0, ρ = 0.5
-- From visits. Contribution limit: 9 rows of a patient count (declared for visits); if there are more, each counts less (half, with 18 rows).
--   count(*): one patient changes it by at most 9; laplace noise of scale 9, 95 % confidence interval ±27.
--   Each ± is about the noise alone. Contribution limits and clipping bounds may add a bias.
--   Proved: each row is about one patient and depends on no other patient's rows (visits.patient_id: own column).

-- # declared keys, a shared count
SELECT specialty, COUNT(*), AVG(duration), SUM(duration) FROM visits GROUP BY specialty
-- Privacy unit: patient. In every table, all rows of one patient are protected together.
--   Neighbouring data: the data with and without all rows of one patient. The cost limits how well answers tell the two apart.
-- Costs ε = 1, δ = 0, ρ = 0.25
-- From visits. Contribution limit: 9 rows of a patient count, over all groups together (declared for visits); if there are more, each counts less (half, with 18 rows).
--   specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty). All are released, even without rows; rows with NULL or other values are dropped.
--   mean of duration: measured as the distances of values to both bounds; one patient changes them in all groups together by at most 2160; clipping bounds 0 to 240 (declared for visits.duration); laplace noise of scale 4320, 95 % confidence interval ±8888.53.
--   count(*): one patient changes all groups together by at most 9; laplace noise of scale 18, 95 % confidence interval ±53.9232.
--   Each ± is about the noise alone. Contribution limits and clipping bounds may add a bias.
--   Proved: each row is about one patient and depends on no other patient's rows (visits.patient_id: own column).

-- # private keys are thresholded
SELECT referrer, COUNT(DISTINCT patient_id) FROM visits GROUP BY referrer
-- Privacy unit: patient. In every table, all rows of one patient are protected together.
--   Neighbouring data: the data with and without all rows of one patient. The cost limits how well answers tell the two apart.
-- Costs ε = 1, δ = 1e-09, ρ = 0.129202
-- From visits. Contribution limit: a patient counts as one in 4 groups (declared for visits); in more groups, it counts less in each (half, in 8).
--   referrer: private keys; rare ones are withheld.
--   Partition selection: the threshold is about 78 units that have no other key, or 246 that have ten each. A patient has one vote, split over its keys, and the votes have gaussian noise.
--   A patient with more than 1,024 keys does not vote.
--   A key that only one patient has is released with a probability of at most 5e-10.
--   units: one patient changes all groups together by at most 4; laplace noise of scale 8, 95 % confidence interval ±23.9659.
--   Each ± is about the noise alone. Contribution limits and clipping bounds may add a bias.
--   Proved: each row is about one patient and depends on no other patient's rows (visits.patient_id: own column).

-- # inferred keys, a filter narrows bounds
SELECT date_trunc('month', visited_on) AS month, SUM(duration) FROM visits WHERE duration <= 60 GROUP BY month
-- Privacy unit: patient. In every table, all rows of one patient are protected together.
--   Neighbouring data: the data with and without all rows of one patient. The cost limits how well answers tell the two apart.
-- Costs ε = 1, δ = 0, ρ = 0.5
-- From visits. Contribution limit: 9 rows of a patient count, over all groups together (declared for visits); if there are more, each counts less (half, with 18 rows).
--   month: 12 public keys (declared for visits.visited_on). All are released, even without rows; rows with NULL or other values are dropped.
--   sum(duration): one patient changes all groups together by at most 540; clipping bounds 0 to 60 (declared for visits.duration); laplace noise of scale 540, 95 % confidence interval ±1617.7.
--   Each ± is about the noise alone. Contribution limits and clipping bounds may add a bias.
--   Proved: each row is about one patient and depends on no other patient's rows (visits.patient_id: own column).

-- # mixed keys
SELECT specialty, referrer, COUNT(*) FROM visits GROUP BY ALL
-- Privacy unit: patient. In every table, all rows of one patient are protected together.
--   Neighbouring data: the data with and without all rows of one patient. The cost limits how well answers tell the two apart.
-- Costs ε = 1, δ = 1e-09, ρ = 0.129202
-- From visits. Contribution limit: 9 rows of a patient count, over all groups together (declared for visits); if there are more, each counts less (half, with 18 rows).
--   specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty). All are released, even without rows; rows with NULL or other values are dropped.
--   referrer: private keys; rare ones are withheld.
--   Partition selection: the threshold is about 78 units that have no other key, or 246 that have ten each. A patient has one vote, split over its keys, and the votes have gaussian noise.
--   A patient with more than 1,024 keys does not vote.
--   A key that only one patient has is released with a probability of at most 5e-10.
--   count(*): one patient changes all groups together by at most 9; laplace noise of scale 18, 95 % confidence interval ±53.9232.
--   Each ± is about the noise alone. Contribution limits and clipping bounds may add a bias.
--   Proved: each row is about one patient and depends on no other patient's rows (visits.patient_id: own column).

-- # caps and mechanism of the query
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=1, max_rows_per_group=1, delta=1e-6, mechanism='gaussian') specialty, SUM(duration) FROM visits GROUP BY specialty
-- Privacy unit: patient. In every table, all rows of one patient are protected together.
--   Neighbouring data: the data with and without all rows of one patient. The cost limits how well answers tell the two apart.
-- Costs ε = 1, δ = 1e-06, ρ = 0.0280145
-- From visits. Contribution limit: 1 row of a patient counts, over all groups together (asked for in the query); if there are more, each counts less.
--   specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty). All are released, even without rows; rows with NULL or other values are dropped.
--   sum(duration): one patient changes all groups together by at most 240.001 (Euclidean norm); clipping bounds 0 to 240 (declared for visits.duration); gaussian noise of scale 1013.93, 95 % confidence interval ±1987.27.
--   Each ± is about the noise alone. Contribution limits and clipping bounds may add a bias.
--   Proved: each row is about one patient and depends on no other patient's rows (visits.patient_id: own column).

-- # keys alone cost nothing
SELECT DISTINCT specialty FROM visits
-- Privacy unit: patient. In every table, all rows of one patient are protected together.
--   Neighbouring data: the data with and without all rows of one patient. The cost limits how well answers tell the two apart.
-- Costs ε = 0, δ = 0
-- From visits. Group keys alone.
--   specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty). All are released, even without rows; rows with NULL or other values are dropped.
--   Proved: each row is about one patient and depends on no other patient's rows (visits.patient_id: own column).

-- # cumulative sums along days
SELECT visited_on, SUM(COUNT(*)) OVER (ORDER BY visited_on) AS so_far FROM visits GROUP BY visited_on
-- Privacy unit: patient. In every table, all rows of one patient are protected together.
--   Neighbouring data: the data with and without all rows of one patient. The cost limits how well answers tell the two apart.
-- Costs ε = 1, δ = 0, ρ = 0.5
-- From visits. Contribution limit: 9 rows of a patient count, over all groups together (declared for visits); if there are more, each counts less (half, with 18 rows).
--   visited_on: 366 public keys (declared for visits.visited_on). All are released, even without rows; rows with NULL or other values are dropped.
--   count(*): one patient changes all groups together by at most 27; laplace noise of scale 27, 95 % confidence interval ±76.9544.
--   Measured for its cumulative sums along visited_on, by sums of runs of 10 on 3 levels: 95 % confidence interval of each ±196.576, RMSE 79.9441 (sums of plain groups: 172.415).
--   Each ± is about the noise alone. Contribution limits and clipping bounds may add a bias.
--   Proved: each row is about one patient and depends on no other patient's rows (visits.patient_id: own column).

-- # cumulative sums along months, divided, with Gaussian noise
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='gaussian', delta=1e-6) month, specialty, SUM(n) OVER (PARTITION BY specialty ORDER BY month) AS so_far FROM (SELECT date_trunc('month', visited_on) AS month, specialty, SUM(duration) AS n FROM visits GROUP BY ALL)
-- Privacy unit: patient. In every table, all rows of one patient are protected together.
--   Neighbouring data: the data with and without all rows of one patient. The cost limits how well answers tell the two apart.
-- Costs ε = 1, δ = 1e-06, ρ = 0.0280145
-- From visits. Contribution limit: 9 rows of a patient count, over all groups together (declared for visits); if there are more, each counts less (half, with 18 rows).
--   month: 12 public keys (declared for visits.visited_on). All are released, even without rows; rows with NULL or other values are dropped.
--   specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty). All are released, even without rows; rows with NULL or other values are dropped.
--   72 combinations of keys are released.
--   sum(duration): one patient changes all groups together by at most 2938.53 (Euclidean norm); clipping bounds 0 to 240 (declared for visits.duration); gaussian noise of scale 12414.4, 95 % confidence interval ±27452.
--   Measured for its cumulative sums along month, by the square root of the matrix of all sums: 95 % confidence interval of each ±33100.7, RMSE 15591.8 (sums of plain groups: 23265.1).
--   Each ± is about the noise alone. Contribution limits and clipping bounds may add a bias.
--   Proved: each row is about one patient and depends on no other patient's rows (visits.patient_id: own column).

-- # counts from 0 on
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(nonnegative=true) specialty, COUNT(*) AS n, AVG(duration) FROM visits GROUP BY specialty
-- Privacy unit: patient. In every table, all rows of one patient are protected together.
--   Neighbouring data: the data with and without all rows of one patient. The cost limits how well answers tell the two apart.
-- Costs ε = 1, δ = 0, ρ = 0.25
--   Note: count(*) is shown as the nearest non-negative whole numbers with the same total: on average, small counts are too large and large ones too small; the intervals are those of the noisy counts, cut off at 0.
-- From visits. Contribution limit: 9 rows of a patient count, over all groups together (declared for visits); if there are more, each counts less (half, with 18 rows).
--   specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty). All are released, even without rows; rows with NULL or other values are dropped.
--   mean of duration: measured as the distances of values to both bounds; one patient changes them in all groups together by at most 2160; clipping bounds 0 to 240 (declared for visits.duration); laplace noise of scale 4320, 95 % confidence interval ±8888.53.
--   count(*): one patient changes all groups together by at most 9; laplace noise of scale 18, 95 % confidence interval ±53.9232.
--   Each ± is about the noise alone. Contribution limits and clipping bounds may add a bias.
--   Proved: each row is about one patient and depends on no other patient's rows (visits.patient_id: own column).
