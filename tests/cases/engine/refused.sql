-- # what is refused, and under `instead` what passes
SELECT * FROM visits
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT age FROM visits
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT u, COUNT(*) FROM visits GROUP BY u
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT pay, COUNT(*) FROM visits GROUP BY pay
-- DPSQL-117 at 1:43: pay cannot be a group key: it is real
-- instead: SELECT FLOOR(pay / 10), COUNT(*) FROM visits GROUP BY FLOOR(pay / 10)
SELECT age / 10, COUNT(*) FROM visits GROUP BY age / 10
-- DPSQL-117 at 1:48: (age / 10) cannot be a group key: it is real
-- instead: SELECT FLOOR(age / 10), COUNT(*) FROM visits GROUP BY FLOOR(age / 10)
SELECT code, COUNT(*) FROM visits GROUP BY code
-- DPSQL-118 at 1:44: these keys have 1,000,001 public combinations, more than 1,000,000
-- instead: SELECT code, COUNT(*) FROM visits WHERE code < 1000 GROUP BY code
SELECT ts - TIMESTAMP '2020-01-01' AS k, COUNT(*) FROM visits GROUP BY k
-- DPSQL-105 at 1:8: the difference of timestamps is an interval
-- instead: SELECT date_diff('day', TIMESTAMP '2020-01-01', ts) AS k, COUNT(*) FROM visits GROUP BY k
SELECT AVG(free_pay) FROM visits
-- DPSQL-103 at 1:12: column "free_pay" has no bounds
-- instead: SELECT AVG(CASE WHEN free_pay IS NOT NULL THEN LEAST(GREATEST(free_pay, 0), 100) END) FROM visits
SELECT AVG(v) FROM visits
-- DPSQL-103 at 1:12: column "v" has no bounds
-- instead: SELECT AVG(CASE WHEN v IS NOT NULL THEN LEAST(GREATEST(v, 0), 100) END) FROM visits
SELECT AVG(pay * free_pay) FROM visits
-- DPSQL-103 at 1:12: (pay * free_pay) has no bounds
-- instead: SELECT AVG(CASE WHEN pay * free_pay IS NOT NULL THEN LEAST(GREATEST(pay * free_pay, 0), 100) END) FROM visits
SELECT AVG(1 / pay) FROM visits
-- DPSQL-103 at 1:12: (1 / pay) has no bounds
-- instead: SELECT AVG(CASE WHEN (1 / pay) IS NOT NULL THEN LEAST(GREATEST((1 / pay), 0), 100) END) FROM visits
SELECT AVG(EXP(pay)) FROM visits
-- DPSQL-103 at 1:12: exp(pay) has no bounds
-- instead: SELECT AVG(CASE WHEN exp(pay) IS NOT NULL THEN LEAST(GREATEST(exp(pay), 0), 100) END) FROM visits
SELECT SUM(kind) FROM visits
-- DPSQL-105 at 1:8: text cannot be summed
SELECT SUM(d) FROM visits
-- DPSQL-105 at 1:8: date cannot be summed
SELECT AVG(tag) FROM visits
-- DPSQL-105 at 1:8: text has no average
SELECT SUM(u) FROM visits
-- DPSQL-115 at 1:12: the privacy unit is in SUM()
-- instead: SELECT COUNT(DISTINCT u) FROM visits
SELECT MAX(u) FROM visits
-- DPSQL-115 at 1:12: the privacy unit is in MAX()
SELECT nothing FROM visits
-- DPSQL-102 at 1:8: there is no column "nothing"
SELECT COUNT(*) FROM nowhere
-- DPSQL-101 at 1:22: there is no table "nowhere"
SELECT kind, COUNT(*) FROM visits
-- DPSQL-113 at 1:8: column "kind" is neither in GROUP BY nor inside an aggregate
-- instead: SELECT kind, COUNT(*) FROM visits GROUP BY kind
SELECT kind, age, COUNT(*) FROM visits GROUP BY kind
-- DPSQL-113 at 1:14: column "age" is neither in GROUP BY nor inside an aggregate
SELECT nofunction(age) FROM visits
-- DPSQL-107 at 1:8: nofunction is not a function dpsql knows
SELECT time_bucket(INTERVAL '7 days', d) AS k, COUNT(*) FROM visits GROUP BY k
-- DPSQL-107 at 1:8: time_bucket is not a function dpsql knows
-- instead: SELECT date_trunc('week', d) AS k, COUNT(*) FROM visits GROUP BY k
SELECT random() < 0.5 AS k, COUNT(*) FROM visits GROUP BY k
-- DPSQL-120 at 1:8: dpsql does not answer random numbers
SELECT COUNT(*) FROM visits WHERE random() < 0.5
-- DPSQL-120 at 1:35: dpsql does not answer random numbers
SELECT COUNT(*) FROM visits WHERE now() > ts
-- DPSQL-107 at 1:35: NOW works on released results, not on rows of people
-- instead: SELECT COUNT(*) FROM visits WHERE DATE '2020-01-31' > ts
SELECT COUNT(*) FROM visits WHERE tag ~ kind
-- DPSQL-120 at 1:39: dpsql does not know the sign ~
-- instead: SELECT COUNT(*) FROM visits WHERE regexp_matches(tag, 'x+')
SELECT COUNT(*) FROM visits WHERE regexp_matches(tag, kind)
-- DPSQL-105 at 1:55: the pattern must be a constant
SELECT COUNT(*) FROM visits WHERE regexp_matches(tag, '(')
-- DPSQL-105 at 1:55: the pattern has an open (
SELECT repeat(tag, 1000) AS k, COUNT(*) FROM visits GROUP BY k
-- DPSQL-107 at 1:8: repeat is not a function dpsql knows
SELECT lpad(tag, 1000, 'x') AS k, COUNT(*) FROM visits GROUP BY k
-- DPSQL-107 at 1:8: lpad is not a function dpsql knows
SELECT error('x') FROM visits
-- DPSQL-107 at 1:8: error is not a function dpsql knows
SELECT COUNT(*) FROM visits WHERE age > 'x'
-- DPSQL-105 at 1:41: 'x' is not an integer
SELECT COUNT(*) FROM visits WHERE kind
-- DPSQL-105 at 1:35: a condition is needed here, not text
SELECT COUNT(*) FROM visits WHERE age + kind > 1
-- DPSQL-105 at 1:41: integer or decimal or real is expected here, this is text
SELECT date_trunc('fortnight', d) AS k, COUNT(*) FROM visits GROUP BY k
-- DPSQL-105 at 1:8: 'fortnight' is not a part of a date
SELECT date_trunc(kind, d) AS k, COUNT(*) FROM visits GROUP BY k
-- DPSQL-105 at 1:8: 'kind' is not a part of a date
SELECT EXTRACT(eon FROM d) AS k, COUNT(*) FROM visits GROUP BY k
-- DPSQL-105 at 1:8: 'eon' is not a part of a date
SELECT CAST(age AS INTERVAL) AS k, COUNT(*) FROM visits GROUP BY k
-- DPSQL-120 at 1:20: dpsql has no type INTERVAL
SELECT CAST(age AS BLOB) AS k, COUNT(*) FROM visits GROUP BY k
-- DPSQL-120 at 1:20: dpsql has no type VARBINARY
SELECT {'a': age} AS k, COUNT(*) FROM visits GROUP BY k
-- DPSQL-120 at 1:8: dpsql does not know the sign {
SELECT COUNT(*) FROM visits LIMIT 1 OFFSET age
-- DPSQL-100 at 1:44: this is not possible here
SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 10)
-- DPSQL-124 at 1:50: LIMIT is not possible over rows of people
-- instead: SELECT COUNT(*) FROM visits LIMIT 10
SELECT COUNT(*) FROM (SELECT * FROM visits ORDER BY age)
-- DPSQL-124 at 1:30: ORDER BY is not possible over rows of people
SELECT COUNT(*) FROM visits USING SAMPLE 10
-- DPSQL-120 at 1:42: dpsql does not answer SAMPLE
SELECT COUNT(*) FROM visits TABLESAMPLE 10 PERCENT
-- DPSQL-120 at 1:41: dpsql does not answer SAMPLE
SELECT DISTINCT ON (kind) kind, COUNT(*) FROM visits GROUP BY kind
-- DPSQL-120 at 1:21: dpsql does not answer DISTINCT ON
SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.age = b.age
-- DPSQL-114 at 1:54: this joins rows of different people (visits with visits)
-- instead: SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.u = b.u
SELECT COUNT(*) FROM visits AS a CROSS JOIN visits AS b
-- DPSQL-114 at 1:45: this joins rows of different people (visits with visits)
SELECT COUNT(*) FROM visits AS v JOIN items AS i ON v.age = i.cost
-- DPSQL-114 at 1:53: this joins rows of different people (visits with items)
-- instead: SELECT COUNT(*) FROM visits AS v JOIN items AS i ON v.v = i.v
SELECT COUNT(*) FROM sites AS s LEFT JOIN visits AS v ON v.site = s.name
-- DPSQL-125 at 1:58: a LEFT JOIN here keeps the rows of the public side
-- instead: SELECT COUNT(*) FROM visits AS v LEFT JOIN sites AS s ON v.site = s.name
SELECT COUNT(*) FROM sites WHERE name IN (SELECT site FROM visits)
-- DPSQL-126 at 1:34: private rows decide which rows of a public table are kept
SELECT COUNT(*) FROM visits WHERE age IN (SELECT age FROM visits WHERE sure)
-- DPSQL-114 at 1:35: this joins rows of different people (visits with visits)
-- instead: SELECT COUNT(*) FROM visits AS a WHERE EXISTS (SELECT 1 FROM visits AS b WHERE b.age = a.age AND b.u = a.u)
SELECT SUM(pay) OVER () FROM visits
-- DPSQL-123 at 1:8: SUM() OVER (…) runs over rows of different people
SELECT RANK() OVER (ORDER BY age) FROM visits
-- DPSQL-123 at 1:8: RANK() OVER (…) runs over rows of different people
-- instead: SELECT kind, RANK() OVER (ORDER BY COUNT(*)) FROM visits GROUP BY kind
SELECT COUNT(*) FROM visits UNION ALL SELECT age FROM visits
-- DPSQL-127 at 1:46: UNION mixes private rows with public ones
SELECT age FROM visits EXCEPT SELECT kids FROM visits
-- DPSQL-127 at 1:38: EXCEPT compares rows of different people
-- instead: SELECT COUNT(*) FROM (SELECT age FROM visits UNION ALL SELECT kids FROM visits)
SELECT COUNT(*) FROM (SELECT age FROM visits INTERSECT SELECT kids FROM visits)
-- DPSQL-127 at 1:63: INTERSECT compares rows of different people
SELECT STRING_AGG(tag, ',') FROM visits
-- DPSQL-132 at 1:8: STRING_AGG of private rows is not answered
-- instead: SELECT tag, COUNT(*) FROM visits GROUP BY tag
SELECT ARRAY_AGG(age) FROM visits
-- DPSQL-132 at 1:8: LIST of private rows is not answered
SELECT ANY_VALUE(tag) FROM visits
-- DPSQL-132 at 1:8: ANY_VALUE of private rows is not answered
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0) COUNT(*) FROM visits
-- DPSQL-119 at 1:50: epsilon takes a number from 1e-9 to 1e6
-- instead: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5) COUNT(*) FROM visits
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=-1) COUNT(*) FROM visits
-- DPSQL-119 at 1:50: epsilon takes a number from 1e-9 to 1e6
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon='x') COUNT(*) FROM visits
-- DPSQL-119 at 1:50: epsilon takes a number from 1e-9 to 1e6
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta=1) COUNT(*) FROM visits
-- DPSQL-119 at 1:48: delta takes a number from 0 to the owner's max_delta, 1e-3
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta=0) tag, COUNT(*) FROM visits GROUP BY tag
-- DPSQL-116 at 1:86: the keys of "tag" are private, and releasing them needs a δ
-- instead: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-9) tag, COUNT(*) FROM visits GROUP BY tag
-- instead: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta=0) tag, COUNT(*) FROM visits WHERE tag IN ('x') GROUP BY tag
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=0) COUNT(*) FROM visits
-- DPSQL-119 at 1:65: max_groups_contributed takes a whole number from 1 to 1e9, 'auto' or 'released'
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_per_group=1.5) COUNT(*) FROM visits
-- DPSQL-119 at 1:61: max_rows_per_group takes a whole number from 1 to 1e9
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='magic') COUNT(*) FROM visits
-- DPSQL-119 at 1:52: mechanism takes 'auto', 'laplace' or 'gaussian'
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(colour=1) COUNT(*) FROM visits
-- DPSQL-119 at 1:42: there is no option colour
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=2e6) COUNT(*) FROM visits
-- DPSQL-119 at 1:50: epsilon takes a number from 1e-9 to 1e6
SELECT COUNT(*) FROM read_csv('x.csv')
-- DPSQL-120 at 1:22: dpsql does not answer functions in FROM
SELECT COUNT(*) FROM 'visits.parquet'
-- DPSQL-120 at 1:22: dpsql does not answer files by their name
SELECT COUNT(*) FROM "visits.csv"
-- DPSQL-101 at 1:22: there is no table "visits.csv"
SELECT COUNT(*) FROM information_schema.tables
-- DPSQL-101 at 1:22: there is no table "information_schema.tables"
SELECT COUNT(*) FROM visits; SELECT 1
-- DPSQL-122 at 1:28: there are several statements
SELECT COUNT(* FROM visits
-- DPSQL-100 at 1:16: a ) is missing near FROM
COPY visits TO 'x.csv'
-- DPSQL-122 at 1:1: dpsql has no COPY
ATTACH 'x.duckdb'
-- DPSQL-122 at 1:1: dpsql has no ATTACH
PRAGMA version
-- DPSQL-122 at 1:1: dpsql has no PRAGMA
UPDATE visits SET age = 1
-- DPSQL-106 at 1:8: "visits" is a table of the metadata and cannot be changed
DELETE FROM visits
-- DPSQL-106 at 1:13: "visits" is a table of the metadata and cannot be changed
SET threads = 1
-- DPSQL-119 at 1:5: there is no setting threads
SELECT MEDIAN(tag) FROM visits
-- DPSQL-105 at 1:8: text has no quantiles: their candidates are numbers or dates
SELECT COUNT(*) FROM visits WHERE age = ?
-- DPSQL-109 at 1:41: parameter 1 has no value
SELECT COLUMNS(*) FROM visits
-- DPSQL-120 at 1:8: dpsql does not answer COLUMNS(…)
SELECT [age] AS k, COUNT(*) FROM visits GROUP BY k
-- DPSQL-107 at 1:9: LIST_VALUE works on released results, not on rows of people
SELECT COUNT(*) FROM visits WHERE list_contains([1, 2], age)
-- DPSQL-107 at 1:35: list_contains is not a function dpsql knows
SELECT age, d, day, COUNT(*) FROM visits GROUP BY age, d, day
-- DPSQL-118 at 1:51: these keys have 1,134,600 public combinations, more than 1,000,000
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column=age) COUNT(*) FROM visits
-- DPSQL-119 at 1:62: age is not the unit of this dataset
