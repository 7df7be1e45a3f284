-- # today is a constant of the statement
SELECT COUNT(*) FROM visits WHERE visited_on < current_date
-- ok
SELECT COUNT(*) FROM visits WHERE visited_on < today() - 365
-- ok
SELECT COUNT(*) FROM visits WHERE visited_on > current_date - INTERVAL 1000 YEAR
-- ok
SELECT COUNT(*) FILTER (WHERE visited_on < current_date) FROM visits
-- ok
SELECT specialty, COUNT(*), current_date > DATE '2020-01-01' FROM visits GROUP BY specialty
-- ok
SELECT current_date = today(), COUNT(*) FROM visits
-- ok
SELECT COUNT(*) FROM visits GROUP BY specialty HAVING current_date > '2020-01-01'
-- ok
SELECT specialty, n, current_date - DATE '2020-01-01' > 100 FROM (SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty)
-- ok
-- # now is above the noise
SELECT COUNT(*), now() > '2020-01-01' FROM visits
-- ok
SELECT COUNT(*), current_timestamp > '2020-01-01' FROM visits
-- ok
SELECT COUNT(*), year(get_current_timestamp()) > 2020 FROM visits
-- ok
SELECT COUNT(*), localtimestamp > '2020-01-01' FROM visits
-- ok
SELECT specialty, COUNT(*) FROM visits GROUP BY specialty HAVING COUNT(*) > 0 AND now() > '2020-01-01'
-- ok
SELECT COUNT(*) FROM visits WHERE visited_on < now()
-- DPSQL-107 at 1:48: NOW works on released results, not on rows of people
SELECT COUNT(*) FROM visits WHERE now() > '2020-01-01'
-- DPSQL-107 at 1:35: NOW works on released results, not on rows of people
SELECT SUM(cost) FILTER (WHERE visited_on < current_timestamp) FROM visits
-- DPSQL-107 at 1:32: NOW works on released results, not on rows of people
SELECT now() AS k, COUNT(*) FROM visits GROUP BY k
-- DPSQL-107 at 1:8: NOW works on released results, not on rows of people
SELECT COUNT(*), current_time FROM visits
-- DPSQL-120 at 1:8: dpsql does not answer the current time of day
-- # so is what only scratch knows
SELECT COUNT(*), hash(3) > 0 FROM visits
-- ok
SELECT COUNT(*) FROM visits WHERE hash(specialty) = 3
-- DPSQL-107 at 1:35: HASH works on released results, not on rows of people
SELECT COUNT(DISTINCT hash(specialty)) FROM visits
-- DPSQL-107 at 1:23: HASH works on released results, not on rows of people
SELECT AVG(LEAST(s, 3)) FROM (SELECT patient_id, SUM(hash(specialty)) AS s FROM visits GROUP BY patient_id)
-- DPSQL-107 at 1:54: HASH works on released results, not on rows of people
