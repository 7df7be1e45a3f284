-- # rows of people, or the unit, on top
SELECT * FROM visits
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT patient_id FROM visits
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT duration FROM visits WHERE visit_id = 100
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id ORDER BY n DESC LIMIT 1
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT * FROM per_patient
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT * FROM long_visits ORDER BY duration
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT DISTINCT patient_id FROM visits
-- DPSQL-112 at 1:17: this query returns rows of people, not statistics
SELECT DISTINCT patient_id, specialty FROM visits
-- DPSQL-112 at 1:17: this query returns rows of people, not statistics
SELECT v.* FROM visits v JOIN specialties s ON s.name = v.specialty
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT duration, ROW_NUMBER() OVER (PARTITION BY patient_id) FROM visits
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT patient_id + 1, COUNT(*) FROM visits GROUP BY patient_id + 1
-- DPSQL-115 at 1:54: the privacy unit is in a group key
SELECT patient_id % 2, COUNT(*) FROM visits GROUP BY 1
-- DPSQL-115 at 1:8: the privacy unit is in a group key
SELECT specialty, patient_id, COUNT(*) FROM visits GROUP BY CUBE (specialty, patient_id)
-- DPSQL-128 at 1:78: some of the grouping sets have the unit among their keys, and others do not
SELECT patient_id, COUNT(*) FROM visits GROUP BY ROLLUP (patient_id)
-- DPSQL-128 at 1:58: some of the grouping sets have the unit among their keys, and others do not
SELECT SUM(patient_id) FROM visits
-- DPSQL-115 at 1:12: the privacy unit is in SUM()
SELECT MAX(patient_id) FROM visits
-- DPSQL-115 at 1:12: the privacy unit is in MAX()
SELECT COUNT(patient_id + 1) FROM visits
-- DPSQL-115 at 1:14: the privacy unit is in COUNT()
SELECT COUNT(DISTINCT patient_id + 0) FROM visits
-- DPSQL-115 at 1:23: the privacy unit is in COUNT()
SELECT AVG(CASE WHEN patient_id = 7 THEN 1 ELSE 0 END) FROM visits
-- DPSQL-115 at 1:22: the privacy unit is in AVG()
SELECT LIST(duration) FROM visits
-- DPSQL-132 at 1:8: LIST of private rows is not answered
SELECT STRING_AGG(referrer, ',') FROM visits
-- DPSQL-132 at 1:8: STRING_AGG of private rows is not answered
SELECT FIRST(duration) FROM visits
-- DPSQL-132 at 1:8: FIRST of private rows is not answered
SELECT ANY_VALUE(duration) FROM visits
-- DPSQL-132 at 1:8: ANY_VALUE of private rows is not answered
SELECT ARG_MAX(specialty, duration) FROM visits
-- DPSQL-132 at 1:8: ARG_MAX of private rows is not answered
SELECT BOOL_OR(duration > 200) FROM visits
-- DPSQL-132 at 1:8: BOOL_OR of private rows is not answered
SELECT BIT_XOR(visit_id) FROM visits
-- DPSQL-132 at 1:8: BIT_XOR of private rows is not answered
-- # order and limits inside
SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 10)
-- DPSQL-124 at 1:50: LIMIT is not possible over rows of people
SELECT COUNT(*) FROM (SELECT * FROM visits ORDER BY duration)
-- DPSQL-124 at 1:30: ORDER BY is not possible over rows of people
SELECT AVG(duration) FROM (SELECT * FROM visits ORDER BY visit_id LIMIT 3)
-- DPSQL-124 at 1:35: ORDER BY is not possible over rows of people
SELECT COUNT(*) FROM (SELECT * FROM visits OFFSET 5)
-- DPSQL-124 at 1:51: LIMIT is not possible over rows of people
SELECT COUNT(*) FROM visits WHERE duration > (SELECT duration FROM visits LIMIT 1)
-- DPSQL-124 at 1:81: LIMIT is not possible over rows of people
SELECT COUNT(*) FROM (SELECT DISTINCT ON (specialty) * FROM visits)
-- DPSQL-120 at 1:43: dpsql does not answer DISTINCT ON
WITH t AS (SELECT * FROM visits FETCH FIRST 3 ROWS ONLY) SELECT COUNT(*) FROM t
-- DPSQL-124 at 1:45: LIMIT is not possible over rows of people
-- # windows over everybody
SELECT SUM(duration) OVER () FROM visits
-- DPSQL-123 at 1:8: SUM() OVER (…) runs over rows of different people
SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (ORDER BY duration) AS r FROM visits) WHERE r = 1
-- DPSQL-123 at 1:30: ROW_NUMBER() OVER (…) runs over rows of different people
SELECT COUNT(*) FROM (SELECT RANK() OVER (PARTITION BY specialty ORDER BY duration) AS r FROM visits) WHERE r = 1
-- DPSQL-123 at 1:30: RANK() OVER (…) runs over rows of different people
SELECT COUNT(*) FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY specialty ORDER BY duration) = 1
-- DPSQL-113 at 1:69: column "specialty" is neither in GROUP BY nor inside an aggregate
SELECT COUNT(*) FROM (SELECT LAG(duration) OVER (PARTITION BY patient_id + 0 ORDER BY visit_id) AS l FROM visits) WHERE l > 5
-- DPSQL-123 at 1:30: LAG() OVER (…) runs over rows of different people
SELECT COUNT(*) FROM (SELECT AVG(duration) OVER (PARTITION BY referrer) AS a FROM visits) WHERE a > 50
-- DPSQL-123 at 1:30: AVG() OVER (…) runs over rows of different people
SELECT COUNT(*) FROM (SELECT MODE(specialty) OVER (PARTITION BY patient_id) AS m FROM visits) WHERE m = 'surgery'
-- DPSQL-129 at 1:30: MODE() OVER (…) is not answered over rows of people
SELECT COUNT(*) FROM (SELECT NTILE(0) OVER (PARTITION BY patient_id ORDER BY cost) AS t FROM visits) WHERE t = 1
-- DPSQL-105 at 1:36: NTILE needs a whole number here, written out
SELECT COUNT(*) FROM (SELECT NTILE(score) OVER (PARTITION BY patient_id ORDER BY cost) AS t FROM visits) WHERE t = 1
-- DPSQL-105 at 1:36: NTILE needs a whole number here, written out
SELECT COUNT(*) FROM (SELECT LAG(cost, score) OVER (PARTITION BY patient_id ORDER BY cost) AS t FROM visits) WHERE t > 1
-- DPSQL-105 at 1:40: LAG needs a whole number here, written out
SELECT COUNT(*) FROM (SELECT SUM(cost) OVER (PARTITION BY patient_id ORDER BY cost ROWS score PRECEDING) AS t FROM visits) WHERE t > 1
-- DPSQL-129 at 1:30: this frame of SUM() OVER (…) is not answered over rows of people
SELECT COUNT(*) FROM (SELECT SUM(cost) OVER (PARTITION BY patient_id ORDER BY score RANGE 3 PRECEDING) AS t FROM visits) WHERE t > 1
-- DPSQL-129 at 1:30: this frame of SUM() OVER (…) is not answered over rows of people
SELECT COUNT(*) FROM (SELECT FIRST_VALUE(cost) OVER (PARTITION BY patient_id ORDER BY visited_on RANGE INTERVAL 3 DAYS PRECEDING) AS t FROM visits) WHERE t > 1
-- DPSQL-129 at 1:30: this frame of FIRST_VALUE() OVER (…) is not answered over rows of people
SELECT COUNT(*) FROM (SELECT SUM(score * 1.5e0) OVER (PARTITION BY patient_id) AS t FROM visits) WHERE t > 1
-- DPSQL-103 at 1:34: SUM of one person's rows needs bounds here
-- # set operations that compare people
SELECT COUNT(*) FROM (SELECT patient_id FROM visits UNION SELECT patient_id FROM patients)
-- DPSQL-127 at 1:66: UNION compares rows of different people
SELECT COUNT(*) FROM (SELECT patient_id FROM visits EXCEPT SELECT patient_id FROM patients)
-- DPSQL-127 at 1:67: EXCEPT compares rows of different people
SELECT COUNT(*) FROM (SELECT patient_id FROM visits INTERSECT SELECT patient_id FROM patients)
-- DPSQL-127 at 1:70: INTERSECT compares rows of different people
SELECT COUNT(*) FROM (SELECT specialty FROM visits UNION ALL SELECT name FROM specialties)
-- DPSQL-127 at 1:69: UNION mixes private rows with public ones
SELECT COUNT(*) FROM (SELECT specialty FROM visits EXCEPT ALL SELECT name FROM specialties)
-- DPSQL-127 at 1:70: EXCEPT mixes private rows with public ones
SELECT specialty FROM visits UNION SELECT name FROM specialties
-- DPSQL-127 at 1:43: UNION mixes private rows with public ones
SELECT specialty, duration FROM visits UNION ALL SELECT sex FROM patients
-- DPSQL-105 at 1:57: the two sides have 2 and 1 columns
SELECT specialty FROM visits UNION ALL SELECT age FROM patients
-- DPSQL-105 at 1:47: column "specialty" is text on one side and integer on the other
-- # bounds and types
SELECT VAR_POP(score) FROM visits
-- DPSQL-103 at 1:16: column "score" has no bounds
SELECT AVG(score) FROM visits
-- DPSQL-103 at 1:12: column "score" has no bounds
SELECT AVG(n) FROM per_patient
-- DPSQL-103 at 1:12: column "n" has no bounds
SELECT AVG(duration / cost) FROM visits
-- DPSQL-103 at 1:12: (duration / cost) has no bounds
SELECT SUM(v.score * p.age) FROM visits v JOIN patients p ON v.patient_id = p.patient_id
-- DPSQL-131 at 1:12: the bounds of (score * age) are too wide to sum exactly
SELECT AVG(s) FROM (SELECT patient_id, SUM(duration) AS s FROM visits GROUP BY patient_id)
-- DPSQL-103 at 1:12: column "s" has no bounds
SELECT AVG(s) FROM (SELECT patient_id, SUM(score * 0.5e0) AS s FROM visits GROUP BY patient_id)
-- DPSQL-103 at 1:44: SUM of one person's rows needs bounds here
SELECT AVG(m) FROM (SELECT patient_id, STDDEV(score) AS m FROM visits GROUP BY patient_id)
-- DPSQL-103 at 1:47: STDDEV_SAMP of one person's rows needs bounds here
SELECT SUM(specialty) FROM visits
-- DPSQL-105 at 1:8: text cannot be summed
SELECT AVG(visited_on) FROM visits
-- DPSQL-105 at 1:8: date has no average
SELECT duration, COUNT(*) FROM visits GROUP BY duration
-- DPSQL-117 at 1:48: duration cannot be a group key: it is real
SELECT CAST(score AS DOUBLE), COUNT(*) FROM visits GROUP BY 1
-- DPSQL-117 at 1:8: CAST(score AS DOUBLE) cannot be a group key: its values may be beyond 64 bits
SELECT COUNT(*) FROM visits WHERE specialty > 3
-- DPSQL-105 at 1:47: integer and text cannot be combined
SELECT COUNT(*) FROM visits WHERE specialty
-- DPSQL-105 at 1:35: a condition is needed here, not text
SELECT COUNT(*) FROM visits WHERE duration LIKE 'a'
-- DPSQL-105 at 1:35: text is expected here, this is real
SELECT COUNT(*) FILTER (WHERE specialty) FROM visits
-- DPSQL-105 at 1:8: FILTER (WHERE …) needs a condition
SELECT COUNT(*) FILTER (WHERE [1, 2]) FROM visits
-- DPSQL-105 at 1:32: FILTER (WHERE …) needs a condition
SELECT ABS(specialty), COUNT(*) FROM visits GROUP BY 1
-- DPSQL-105 at 1:12: integer or decimal or real is expected here, this is text
SELECT COUNT(*) FROM visits HAVING SUM(cost) > 'x'
-- DPSQL-105 at 1:48: 'x' is not a decimal(38, 2)
-- # aggregates inside that depend on more than the rows
SELECT COUNT(*) FROM (SELECT patient_id, LIST(specialty) AS m FROM visits GROUP BY patient_id) WHERE m IS NULL
-- DPSQL-129 at 1:42: LIST of one person's rows is not answered
SELECT COUNT(*) FROM (SELECT patient_id, STRING_AGG(specialty, ',') AS m FROM visits GROUP BY patient_id) WHERE m = 'x'
-- DPSQL-129 at 1:42: STRING_AGG of one person's rows is not answered
SELECT COUNT(*) FROM (SELECT patient_id, APPROX_QUANTILE(duration, 0.5) AS m FROM visits GROUP BY patient_id) WHERE m > 5
-- DPSQL-129 at 1:42: APPROX_QUANTILE of one person's rows is not answered
SELECT COUNT(*) FROM (SELECT patient_id, CORR(duration, cost) AS m FROM visits GROUP BY patient_id) WHERE m > 0
-- DPSQL-129 at 1:42: CORR of one person's rows is not answered
SELECT COUNT(*) FROM (SELECT patient_id, QUANTILE_CONT(duration, score) AS m FROM visits GROUP BY patient_id) WHERE m > 0
-- DPSQL-129 at 1:42: QUANTILE_CONT of one person's rows is not answered
SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((patient_id), ()))
-- DPSQL-128 at 1:93: some of the grouping sets have the unit among their keys, and others do not
SELECT COUNT(*) FROM (SELECT patient_id, SUM(COUNT(*)) AS n FROM visits GROUP BY patient_id)
-- DPSQL-105 at 1:42: an aggregate is inside an aggregate
-- # subqueries
SELECT COUNT(*) FROM visits a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.specialty = a.specialty)
-- DPSQL-114 at 1:74: this joins rows of different people (visits with visits)
SELECT COUNT(*) FROM visits a WHERE NOT EXISTS (SELECT 1 FROM visits b WHERE b.duration > a.duration)
-- DPSQL-114 at 1:78: this joins rows of different people (visits with visits)
SELECT COUNT(*) FROM visits WHERE visit_id IN (SELECT visit_id FROM visits WHERE cost > 3)
-- DPSQL-114 at 1:35: this joins rows of different people (visits with visits)
SELECT COUNT(*) FROM patients WHERE age IN (SELECT score FROM visits)
-- DPSQL-114 at 1:37: this joins rows of different people (patients with visits)
SELECT COUNT(*) FROM visits WHERE (SELECT duration FROM visits) > 3
-- DPSQL-121 at 1:43: this subquery may have several rows
SELECT COUNT(*) FROM visits a WHERE cost > (SELECT SUM(cost) FROM visits b WHERE b.patient_id = a.patient_id GROUP BY b.specialty)
-- DPSQL-121 at 1:52: this subquery uses a column of the outer query in a way that dpsql cannot untangle
SELECT COUNT(*) FROM visits a WHERE cost > (SELECT cost FROM visits b WHERE b.patient_id = a.patient_id)
-- DPSQL-121 at 1:52: this subquery may have several rows
SELECT COUNT(*) FROM visits a WHERE cost > ALL (SELECT cost FROM visits b)
-- DPSQL-114 at 1:37: this joins rows of different people (visits with visits)
SELECT (SELECT name, floor FROM specialties LIMIT 1)
-- DPSQL-105 at 1:16: this subquery has 2 columns, one is needed
WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT * FROM t
-- DPSQL-120 at 1:16: dpsql does not answer WITH RECURSIVE
WITH t AS (SELECT 1), t AS (SELECT 2) SELECT * FROM t
-- DPSQL-106 at 1:23: WITH defines "t" twice
-- # names
SELECT COUNT(*) FROM visit
-- DPSQL-101 at 1:22: there is no table "visit"
SELECT COUNT(*) FROM visits WHERE durration > 3
-- DPSQL-102 at 1:35: there is no column "durration"
SELECT x.duration, COUNT(*) FROM visits v GROUP BY 1
-- DPSQL-101 at 1:8: there is no table "x" in this FROM
SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id WHERE patient_id = 3
-- DPSQL-104 at 1:84: column "patient_id" could be v.patient_id or p.patient_id
SELECT specialty, cost, COUNT(*) FROM visits GROUP BY specialty
-- DPSQL-113 at 1:19: column "cost" is neither in GROUP BY nor inside an aggregate
SELECT COUNT(*) FROM visits GROUP BY 3
-- DPSQL-102 at 1:38: GROUP BY 3 names no column
SELECT COUNT(*) FROM visits ORDER BY 2
-- DPSQL-102 at 1:38: ORDER BY 2 names no column
SELECT specialty FROM visits GROUP BY specialty HAVING duration > 3
-- DPSQL-113 at 1:56: column "duration" is neither in GROUP BY nor inside an aggregate
SELECT COUNT(*) FROM visits WHERE COUNT(*) > 3
-- DPSQL-105 at 1:35: WHERE cannot contain an aggregate or a window function
SELECT COUNT(*) FROM visits GROUP BY COUNT(*)
-- DPSQL-105 at 1:38: GROUP BY cannot contain an aggregate or a window function
SELECT GROUPING(cost), COUNT(*) FROM visits GROUP BY ROLLUP (specialty)
-- DPSQL-105 at 1:8: GROUPING() takes keys of GROUP BY
SELECT NOSUCH(duration) FROM visits
-- DPSQL-107 at 1:8: NOSUCH is not a function dpsql knows
SELECT COUNT(*) FROM visits WHERE RANDOM() < 0.5
-- DPSQL-120 at 1:35: dpsql does not answer random numbers
SELECT COUNT(*) FROM visits WHERE visits IS NOT NULL
-- DPSQL-120 at 1:35: "visits" is a table, not a column
SELECT COUNT(*) FROM per_patient(3)
-- DPSQL-120 at 1:22: dpsql does not answer functions in FROM
-- # found by mutation
SELECT COUNT(*) FROM (SELECT SUM(cost) OVER (PARTITION BY patient_id ORDER BY visit_id ROWS UNBOUNDED) AS s FROM visits) WHERE s > 0
-- DPSQL-105 at 1:30: this is not a valid frame: UNBOUNDED to CURRENT ROW
SELECT COUNT(*) FROM (SELECT SUM(cost) OVER (PARTITION BY patient_id ORDER BY visit_id ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) AS s FROM visits) WHERE s > 0
-- DPSQL-105 at 1:117: this is not a valid frame: CURRENT ROW to PRECEDING
SELECT COUNT(*) FROM (SELECT COUNT(*) OVER (PARTITION BY patient_id GROUPS 1 PRECEDING) AS s FROM visits) WHERE s > 0
-- DPSQL-129 at 1:30: this frame of COUNT() OVER (…) is not answered over rows of people
SELECT f, COUNT(*) FROM (SELECT patient_id, LAST(specialty ORDER BY COUNT(*)) AS f FROM visits GROUP BY patient_id) GROUP BY f
-- DPSQL-105 at 1:45: an aggregate is inside an aggregate
SELECT COUNT(DISTINCT) FROM visits
-- DPSQL-105 at 1:8: DISTINCT without an argument
SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE COUNT(*) > 100)
-- DPSQL-105 at 1:88: WHERE cannot contain an aggregate or a window function
SELECT COUNT(*) FROM patients p WHERE age > (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id AND SUM(cost) > 3)
-- DPSQL-105 at 1:114: WHERE cannot contain an aggregate or a window function
SELECT COUNT(*) FROM visits v JOIN specialties s ON v.specialty = s.name AND COUNT(*) > 3
-- DPSQL-105 at 1:78: ON cannot contain an aggregate or a window function
SELECT COUNT(*) FROM visits v LEFT JOIN visits w ON v.patient_id = w.patient_id AND w.cost > (SELECT AVG(cost) FROM visits x WHERE x.patient_id = w.patient_id)
-- DPSQL-121 at 1:8: a subquery uses a column of the outer query in a way that dpsql cannot untangle
-- # correlated subqueries whose groups would not be public
SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM visits v WHERE v.specialty = p.city) > 2
-- DPSQL-121 at 1:90: this subquery is connected to "city", which has no public set of values
SELECT COUNT(*) FROM visits v WHERE v.cost > (SELECT AVG(cost) FROM visits w WHERE w.referrer = v.referrer)
-- DPSQL-121 at 1:97: this subquery is connected to "referrer", which has no public set of values
SELECT COUNT(*) FROM items i WHERE quantity > (SELECT AVG(j.quantity) FROM items j WHERE j.code = i.code)
-- DPSQL-121 at 1:99: this subquery is connected to "code", which has no public set of values
SELECT t.referrer, (SELECT AVG(cost) FROM visits v WHERE v.referrer = t.referrer) FROM (SELECT referrer, COUNT(*) AS n FROM visits GROUP BY referrer) t
-- DPSQL-121 at 1:71: this subquery is connected to "referrer", which has no public set of values
SELECT COUNT(*) FROM visits v LEFT JOIN specialties s ON v.specialty = s.name WHERE v.cost > (SELECT AVG(cost) FROM visits w WHERE w.referrer = s.head)
-- DPSQL-121 at 1:145: this subquery is connected to "head", which has no public set of values
-- # windows inside windows
SELECT a, COUNT(*) FROM (SELECT LAG(specialty) OVER (PARTITION BY patient_id ORDER BY LAG(specialty) OVER (PARTITION BY patient_id ORDER BY visit_id)) AS a FROM visits) GROUP BY a
-- DPSQL-105 at 1:33: a window function is inside a window function
SELECT specialty, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY RANK() OVER (ORDER BY specialty)) FROM visits GROUP BY specialty
-- DPSQL-105 at 1:34: a window function is inside a window function
SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty HAVING RANK() OVER (ORDER BY specialty) > 1
-- DPSQL-105 at 1:71: HAVING cannot contain a window function
-- # nothing but the subquery says where
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT * FROM visits WHERE duration > 10)
-- DPSQL-114 at 1:54: this joins rows of different people (patients with visits)
SELECT ROW_NUMBER() OVER (PARTITION BY patient_id) FROM visits
-- DPSQL-112 at 1:8: this query returns rows of people, not statistics
SELECT COUNT(*) FROM (SELECT SUM(city) OVER (PARTITION BY patient_id) AS t FROM patients) WHERE t > 1
-- DPSQL-105 at 1:30: text cannot be summed
SELECT DISTINCT (SELECT COUNT(*) / 4 FROM visits) FROM visits
-- DPSQL-117 at 1:25: (SELECT (count_star() / 4) FROM visits) cannot be a group key: it is real
-- # what one person's rows are not asked
SELECT COUNT(f) FROM (SELECT patient_id, LIST(specialty) AS f FROM visits GROUP BY patient_id)
-- DPSQL-129 at 1:42: LIST of one person's rows is not answered
SELECT COUNT(f) FROM (SELECT patient_id, ARRAY_AGG(specialty ORDER BY visit_id) AS f FROM visits GROUP BY patient_id)
-- DPSQL-129 at 1:42: LIST of one person's rows is not answered
SELECT COUNT(f) FROM (SELECT patient_id, STRING_AGG(specialty, ',' ORDER BY visit_id) AS f FROM visits GROUP BY patient_id)
-- DPSQL-129 at 1:42: STRING_AGG of one person's rows is not answered
SELECT COUNT(f) FROM (SELECT patient_id, HISTOGRAM(specialty) AS f FROM visits GROUP BY patient_id)
-- DPSQL-129 at 1:42: HISTOGRAM of one person's rows is not answered
SELECT COUNT(f) FROM (SELECT patient_id, PRODUCT(score) AS f FROM visits GROUP BY patient_id)
-- DPSQL-129 at 1:42: PRODUCT of one person's rows is not answered
SELECT COUNT(f) FROM (SELECT patient_id, CORR(duration, cost) AS f FROM visits GROUP BY patient_id)
-- DPSQL-129 at 1:42: CORR of one person's rows is not answered
SELECT COUNT(f) FROM (SELECT patient_id, REGR_SLOPE(duration, cost) AS f FROM visits GROUP BY patient_id)
-- DPSQL-129 at 1:42: REGR_SLOPE of one person's rows is not answered
SELECT COUNT(f) FROM (SELECT patient_id, BIT_AND(score) AS f FROM visits GROUP BY patient_id)
-- DPSQL-129 at 1:42: BIT_AND of one person's rows is not answered
SELECT COUNT(f) FROM (SELECT patient_id, KURTOSIS(duration) AS f FROM visits GROUP BY patient_id)
-- DPSQL-129 at 1:42: KURTOSIS of one person's rows is not answered
SELECT COUNT(f) FROM (SELECT patient_id, APPROX_COUNT_DISTINCT(specialty) AS f FROM visits GROUP BY patient_id)
-- DPSQL-129 at 1:42: APPROX_COUNT_DISTINCT of one person's rows is not answered
SELECT COUNT(f) FROM (SELECT patient_id, MODE(DISTINCT specialty) AS f FROM visits GROUP BY patient_id)
-- DPSQL-129 at 1:42: MODE of one person's rows is not answered
SELECT COUNT(f) FROM (SELECT patient_id, ARG_MAX(specialty, cost, 2) AS f FROM visits GROUP BY patient_id)
-- DPSQL-129 at 1:42: ARG_MAX of one person's rows is not answered
SELECT COUNT(f) FROM (SELECT patient_id, COUNT(DISTINCT specialty, referrer) AS f FROM visits GROUP BY patient_id)
-- DPSQL-129 at 1:42: COUNT of one person's rows is not answered
SELECT COUNT(f) FROM (SELECT MODE(specialty) OVER (PARTITION BY patient_id ORDER BY visit_id) AS f FROM visits)
-- DPSQL-129 at 1:30: MODE() OVER (…) is not answered over rows of people
SELECT COUNT(f) FROM (SELECT LIST(specialty) OVER (PARTITION BY patient_id ORDER BY visit_id) AS f FROM visits)
-- DPSQL-129 at 1:30: LIST() OVER (…) is not answered over rows of people
SELECT COUNT(f) FROM (SELECT FIRST(specialty) OVER (PARTITION BY patient_id ORDER BY visit_id) AS f FROM visits)
-- DPSQL-129 at 1:30: FIRST() OVER (…) is not answered over rows of people
SELECT COUNT(f) FROM (SELECT SUM(score IGNORE NULLS) OVER (PARTITION BY patient_id) AS f FROM visits)
-- DPSQL-105 at 1:30: IGNORE NULLS has no meaning for SUM
SELECT COUNT(f) FROM (SELECT NTH_VALUE(score, 2) OVER (PARTITION BY patient_id ORDER BY visited_on RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS f FROM visits)
-- DPSQL-129 at 1:30: this frame of NTH_VALUE() OVER (…) is not answered over rows of people
SELECT COUNT(f) FROM (SELECT LAST_VALUE(score) OVER (PARTITION BY patient_id ORDER BY visited_on ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP) AS f FROM visits)
-- DPSQL-129 at 1:30: this frame of LAST_VALUE() OVER (…) is not answered over rows of people
SELECT COUNT(f) FROM (SELECT SUM(score) OVER (PARTITION BY patient_id ORDER BY visited_on ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES) AS f FROM visits)
-- DPSQL-129 at 1:30: this frame of SUM() OVER (…) is not answered over rows of people
SELECT COUNT(f) FROM (SELECT FIRST_VALUE(score) OVER (PARTITION BY patient_id ORDER BY visited_on RANGE UNBOUNDED PRECEDING EXCLUDE TIES) AS f FROM visits)
-- DPSQL-129 at 1:30: this frame of FIRST_VALUE() OVER (…) is not answered over rows of people
SELECT COUNT(f) FROM (SELECT LAG(visited_on, 1, 0) OVER (PARTITION BY patient_id ORDER BY visit_id) AS f FROM visits)
-- DPSQL-105 at 1:49: the default of LAG is INTEGER, its value DATE
SELECT COUNT(f) FROM (SELECT patient_id, STRING_AGG(DISTINCT, ',' ORDER BY visit_id) AS f FROM visits GROUP BY patient_id)
-- DPSQL-105 at 1:42: DISTINCT without an argument
SELECT name, (SELECT GROUPING(specialty) * 1.0 / COUNT(*) FROM visits AS v WHERE v.specialty = s.name) FROM specialties AS s
-- DPSQL-121 at 1:22: dpsql cannot turn this correlated subquery into a join
SELECT (SELECT GROUPING(specialty) FROM visits) FROM specialties AS s
-- DPSQL-105 at 1:16: GROUPING() takes keys of GROUP BY
SELECT patient_id, GROUPING(specialty) FROM visits GROUP BY patient_id
-- DPSQL-105 at 1:20: GROUPING() takes keys of GROUP BY
SELECT COUNT(*) FROM visits GROUP BY
-- DPSQL-100 at 1:8: GROUP BY names no key
SELECT COUNT(*) FROM visits GROUP BY ORDER BY 1
-- DPSQL-100 at 1:8: GROUP BY names no key
SELECT CUONT(*) FROM visits
-- DPSQL-107 at 1:8: CUONT is not a function dpsql knows
SELECT SUM(*) FROM visits
-- DPSQL-100 at 1:8: SUM takes a column, not *
SELECT COUNT(*) FORM visits
-- DPSQL-100 at 1:17: FORM is not expected here
SELECT COUNT(*) FROM visits GROUP BY kind ORDR BY 1
-- DPSQL-100 at 1:43: ORDR is not expected here
SELECT COUNT(*) FROM visits WHERE REGEXP_MATCHES('a', 'b', 'i')
-- DPSQL-120 at 1:60: dpsql does not answer flags of patterns
SELECT COUNT(*) FROM visits WHERE 5 << 2 > 3
-- DPSQL-120 at 1:35: dpsql does not answer bit operations
SELECT COUNT(*) FROM visits WHERE STRPTIME('2020', '') IS NULL
-- DPSQL-105 at 1:35: the format has no part
SELECT COUNT(*) FROM (SELECT BOOL_AND(cost > 50) OVER (PARTITION BY patient_id) AS m FROM visits) WHERE m = 'surgery'
-- DPSQL-105 at 1:109: 'surgery' is not a boolean
SELECT COUNT(*) FROM visits WHERE referrer < 5
-- DPSQL-105 at 1:46: integer and text cannot be combined
SELECT COUNT(*) FROM visits WHERE referrer BETWEEN 1 AND 5
-- DPSQL-105 at 1:52: integer and text cannot be combined
SELECT COUNT(*) FROM visits WHERE score > referrer
-- DPSQL-105 at 1:43: text and integer cannot be combined
