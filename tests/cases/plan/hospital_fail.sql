-- # no bounds
SELECT AVG(visit_id) FROM visits
-- DPSQL-103  column "visit_id" has no bounds
--   SELECT AVG(visit_id) FROM visits          (line 1, column 12)
--              ^^^^^^^^
-- A sum or average needs to know how much one row can add.
-- Add `lower:` and `upper:`, or `bounds: auto`, to visits.visit_id in the metadata, or clip it: CASE WHEN visit_id IS NOT NULL THEN LEAST(GREATEST(visit_id, 0), 100) END.

-- # rows of people
SELECT duration FROM visits
-- DPSQL-112  this query returns rows of people, not statistics
--   SELECT duration FROM visits          (line 1, column 8)
--          ^^^^^^^^
-- visits is private: dpsql answers only aggregates over all units.
-- Aggregate it: SELECT COUNT(*) …, AVG(x) … GROUP BY …, and do not group the outermost query by the unit.

-- # the unit as a key
SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id
-- DPSQL-112  this query returns rows of people, not statistics
--   SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id          (line 1, column 8)
--          ^^^^^^^^^^
-- visits is private: dpsql answers only aggregates over all units.
-- Aggregate it: SELECT COUNT(*) …, AVG(x) … GROUP BY …, and do not group the outermost query by the unit.

-- # a real key
SELECT duration, COUNT(*) FROM visits GROUP BY duration
-- DPSQL-117  duration cannot be a group key: it is real
--   SELECT duration, COUNT(*) FROM visits GROUP BY duration          (line 1, column 48)
--                                                  ^^^^^^^^
-- Keys must be exact: one real number or interval may have two spellings, and the result would print one person's.
-- Group by a whole number: FLOOR(x / 10) of a bounded x, CAST(x AS INTEGER), or a CASE.

-- # Gaussian noise out of the sampler's reach
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.0000001, delta=1e-9, mechanism='gaussian') COUNT(*) FROM visits
-- DPSQL-134  ε is too small for count(*)
--   CT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.0000001, delta=1e-9, mechanism='gaussian') COUNT(*) FROM visits          (line 1, column 95)
--                                                                                             ^^^^^^^
-- Its noise would not fit the exact sampler.
-- Ask with an ε of at least 2.9e-06 (or use mechanism='laplace').

-- # a split for other measurements
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(split=[1, 2, 3]) COUNT(*) FROM visits
-- DPSQL-119  split has 3 weights for 1 columns
--   SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(split=[1, 2, 3]) COUNT(*) FROM visits          (line 1, column 59)
--                                                             ^^^^^^^
-- The columns that take a share are, in order: count_star().
-- Name columns of the outermost SELECT: split = (n => 2, total => 1); EXPLAIN shows the shares.

-- # private keys without a delta
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=0) specialty, referrer, COUNT(*) FROM visits GROUP BY specialty, referrer
-- DPSQL-116  the keys of "referrer" are private, and releasing them needs a δ
--   IAL_PRIVACY OPTIONS(epsilon=1, delta=0) specialty, referrer, COUNT(*) FROM visits GROUP BY specialty, referrer          (line 1, column 124)
--                                                                                                         ^^^^^^^^
-- Which values occur reveals something about people. Partition selection withholds rare ones, and this can fail with probability δ.
-- Give a delta (OPTIONS(epsilon=1, delta=1e-9)), declare `keys:` in the metadata, or filter with IN (…).

-- # a Gaussian without a delta
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=0, mechanism='gaussian') AVG(duration) FROM visits
-- DPSQL-116  Gaussian noise needs a δ
--   SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=0, mechanism='gaussian') AVG(duration) FROM visits          (line 1, column 84)
--                                                                                      ^^^^^^^^^^^^
-- It never guarantees ε alone.
-- Give a delta, or use mechanism='laplace'.

-- # no bounds of what is computed
SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)
-- DPSQL-103  column "n" has no bounds
--   SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)          (line 1, column 12)
--              ^
-- A sum or average needs to know how much one row can add.
-- It is computed, so no bounds can be declared for it. Clip it: LEAST(GREATEST(n, 0), 100).
