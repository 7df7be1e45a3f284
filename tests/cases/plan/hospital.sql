-- title: one count of everybody
SELECT COUNT(*) FROM visits
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 1, δ = 0, ρ = 0.5
From visits: a unit counts at most 3 rows in a group and reaches at most 1 group (caps declared for visits).
  count(*): one unit changes a group by at most 3; laplace noise of scale 3, 95 % within ±8.9872.
  Intervals are about the noise; what caps and clamped values leave out comes on top.

-- title: declared keys, a shared count
SELECT specialty, COUNT(*), AVG(duration), SUM(duration) FROM visits GROUP BY specialty
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 1, δ = 0, ρ = 0.0416667
From visits: a unit counts at most 3 rows in a group and reaches at most 4 groups (caps declared for visits).
  specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty), empty ones are released too; NULL and other values are dropped.
  centred sum(duration): one unit changes a group by at most 360; values are held within 0 to 240 (declared for visits.duration); laplace noise of scale 4320, 95 % within ±12941.6.
  count(duration): one unit changes a group by at most 3; laplace noise of scale 36, 95 % within ±107.846.
  count(*): one unit changes a group by at most 3; laplace noise of scale 36, 95 % within ±107.846.
  Intervals are about the noise; what caps and clamped values leave out comes on top.

-- title: private keys are thresholded
SELECT referrer, COUNT(DISTINCT patient_id) FROM visits GROUP BY referrer
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 1, δ = 1e-09, ρ = 0.125
From visits: a unit counts at most 3 rows in a group and reaches at most 4 groups (caps declared for visits).
  referrer: private keys, rare ones are withheld.
  units: one unit changes a group by at most 1; laplace noise of scale 4, 95 % within ±11.9829.
  Intervals are about the noise; what caps and clamped values leave out comes on top.
  Keys are released from a noisy count of 86.7 units on: keys of fewer than about 87 units will usually be missing. That one unit's own key shows has a probability of at most 1e-09.

-- title: inferred keys, a filter narrows bounds
SELECT date_trunc('month', visited_on) AS month, SUM(duration) FROM visits WHERE duration <= 60 GROUP BY month
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 1, δ = 0, ρ = 0.125
From visits: a unit counts at most 3 rows in a group and reaches at most 4 groups (caps declared for visits).
  month: 12 public keys (declared for visits.visited_on), empty ones are released too; NULL and other values are dropped.
  sum(duration): one unit changes a group by at most 180; values are held within 0 to 60 (declared for visits.duration); laplace noise of scale 720, 95 % within ±2156.93.
  Intervals are about the noise; what caps and clamped values leave out comes on top.

-- title: mixed keys
SELECT specialty, referrer, COUNT(*) FROM visits GROUP BY ALL
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 1, δ = 1e-09, ρ = 0.0625
From visits: a unit counts at most 3 rows in a group and reaches at most 4 groups (caps declared for visits).
  specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty), empty ones are released too; NULL and other values are dropped.
  referrer: private keys, rare ones are withheld.
  units: one unit changes a group by at most 1; laplace noise of scale 8, 95 % within ±23.9659.
  count(*): one unit changes a group by at most 3; laplace noise of scale 24, 95 % within ±71.8976.
  Intervals are about the noise; what caps and clamped values leave out comes on top.
  Keys are released from a noisy count of 172.3 units on: keys of fewer than about 172 units will usually be missing. That one unit's own key shows has a probability of at most 1e-09.

-- title: caps and mechanism of the query
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=1, max_rows_per_group=1, delta=1e-6, mechanism='gaussian') specialty, SUM(duration) FROM visits GROUP BY specialty
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 1, δ = 1e-06, ρ = 0.0280145
From visits: a unit counts at most 1 rows in a group and reaches at most 1 group (caps asked for in the query).
  specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty), empty ones are released too; NULL and other values are dropped.
  sum(duration): one unit changes a group by at most 240; values are held within 0 to 240 (declared for visits.duration); gaussian noise of scale 1013.92, 95 % within ±1987.25.
  Intervals are about the noise; what caps and clamped values leave out comes on top.

-- title: keys alone cost nothing
SELECT DISTINCT specialty FROM visits
----
Protects each patient: what one patient adds, in every table, is hidden.
  Compared are the data with and without all rows of one patient: no answer tells them apart beyond the cost.
Costs ε = 0, δ = 0
From visits: a unit counts at most 3 rows in a group and reaches at most 4 groups (caps declared for visits).
  specialty: 6 public keys: cardiology, neurology, oncology, orthopedics, pediatrics, surgery (declared for visits.specialty), empty ones are released too; NULL and other values are dropped.
