-- code line:column (or - where the whole statement is meant) | statement | what passes instead
112 1:8 | SELECT * FROM visits
112 1:8 | SELECT age FROM visits
112 1:8 | SELECT u, COUNT(*) FROM visits GROUP BY u
117 1:43 | SELECT pay, COUNT(*) FROM visits GROUP BY pay | SELECT FLOOR(pay / 10), COUNT(*) FROM visits GROUP BY FLOOR(pay / 10)
117 1:48 | SELECT age / 10, COUNT(*) FROM visits GROUP BY age / 10 | SELECT FLOOR(age / 10), COUNT(*) FROM visits GROUP BY FLOOR(age / 10)
118 1:44 | SELECT code, COUNT(*) FROM visits GROUP BY code | SELECT code, COUNT(*) FROM visits WHERE code < 1000 GROUP BY code
105 1:8 | SELECT ts - TIMESTAMP '2020-01-01' AS k, COUNT(*) FROM visits GROUP BY k | SELECT date_diff('day', TIMESTAMP '2020-01-01', ts) AS k, COUNT(*) FROM visits GROUP BY k
103 1:12 | SELECT AVG(free_pay) FROM visits | SELECT AVG(CASE WHEN free_pay IS NOT NULL THEN LEAST(GREATEST(free_pay, 0), 100) END) FROM visits
103 1:12 | SELECT AVG(free_pay) FROM visits | SELECT AVG(CASE WHEN free_pay IS NOT NULL THEN LEAST(GREATEST(free_pay, 0), 100) END) FROM visits
103 1:12 | SELECT AVG(v) FROM visits | SELECT AVG(CASE WHEN v IS NOT NULL THEN LEAST(GREATEST(v, 0), 100) END) FROM visits
103 1:12 | SELECT AVG(pay * free_pay) FROM visits | SELECT AVG(CASE WHEN pay * free_pay IS NOT NULL THEN LEAST(GREATEST(pay * free_pay, 0), 100) END) FROM visits
103 1:12 | SELECT AVG(1 / pay) FROM visits | SELECT AVG(CASE WHEN (1 / pay) IS NOT NULL THEN LEAST(GREATEST((1 / pay), 0), 100) END) FROM visits
103 1:12 | SELECT AVG(EXP(pay)) FROM visits | SELECT AVG(CASE WHEN exp(pay) IS NOT NULL THEN LEAST(GREATEST(exp(pay), 0), 100) END) FROM visits
105 1:8 | SELECT SUM(kind) FROM visits
105 1:8 | SELECT SUM(d) FROM visits
105 1:8 | SELECT AVG(tag) FROM visits
115 1:12 | SELECT SUM(u) FROM visits | SELECT COUNT(DISTINCT u) FROM visits
115 1:12 | SELECT MAX(u) FROM visits
102 1:8 | SELECT nothing FROM visits
101 1:22 | SELECT COUNT(*) FROM nowhere
113 1:8 | SELECT kind, COUNT(*) FROM visits | SELECT kind, COUNT(*) FROM visits GROUP BY kind
113 1:14 | SELECT kind, age, COUNT(*) FROM visits GROUP BY kind
107 1:8 | SELECT nofunction(age) FROM visits
107 1:8 | SELECT time_bucket(INTERVAL '7 days', d) AS k, COUNT(*) FROM visits GROUP BY k | SELECT date_trunc('week', d) AS k, COUNT(*) FROM visits GROUP BY k
120 1:8 | SELECT random() < 0.5 AS k, COUNT(*) FROM visits GROUP BY k
120 1:35 | SELECT COUNT(*) FROM visits WHERE random() < 0.5
107 1:35 | SELECT COUNT(*) FROM visits WHERE now() > ts | SELECT COUNT(*) FROM visits WHERE DATE '2020-01-31' > ts
120 1:39 | SELECT COUNT(*) FROM visits WHERE tag ~ kind | SELECT COUNT(*) FROM visits WHERE regexp_matches(tag, 'x+')
105 1:55 | SELECT COUNT(*) FROM visits WHERE regexp_matches(tag, kind)
105 1:55 | SELECT COUNT(*) FROM visits WHERE regexp_matches(tag, '(')
107 1:8 | SELECT repeat(tag, 1000) AS k, COUNT(*) FROM visits GROUP BY k
107 1:8 | SELECT lpad(tag, 1000, 'x') AS k, COUNT(*) FROM visits GROUP BY k
107 1:8 | SELECT error('x') FROM visits
105 1:41 | SELECT COUNT(*) FROM visits WHERE age > 'x'
105 1:35 | SELECT COUNT(*) FROM visits WHERE kind
105 1:41 | SELECT COUNT(*) FROM visits WHERE age + kind > 1
105 1:8 | SELECT date_trunc('fortnight', d) AS k, COUNT(*) FROM visits GROUP BY k
105 1:8 | SELECT date_trunc(kind, d) AS k, COUNT(*) FROM visits GROUP BY k
105 1:8 | SELECT EXTRACT(eon FROM d) AS k, COUNT(*) FROM visits GROUP BY k
120 1:20 | SELECT CAST(age AS INTERVAL) AS k, COUNT(*) FROM visits GROUP BY k
120 1:20 | SELECT CAST(age AS BLOB) AS k, COUNT(*) FROM visits GROUP BY k
120 1:8 | SELECT {'a': age} AS k, COUNT(*) FROM visits GROUP BY k
100 1:44 | SELECT COUNT(*) FROM visits LIMIT 1 OFFSET age
124 1:50 | SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 10) | SELECT COUNT(*) FROM visits LIMIT 10
124 1:30 | SELECT COUNT(*) FROM (SELECT * FROM visits ORDER BY age)
120 1:42 | SELECT COUNT(*) FROM visits USING SAMPLE 10
120 1:41 | SELECT COUNT(*) FROM visits TABLESAMPLE 10 PERCENT
120 1:21 | SELECT DISTINCT ON (kind) kind, COUNT(*) FROM visits GROUP BY kind
114 1:54 | SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.age = b.age | SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.u = b.u
114 1:45 | SELECT COUNT(*) FROM visits AS a CROSS JOIN visits AS b
114 1:53 | SELECT COUNT(*) FROM visits AS v JOIN items AS i ON v.age = i.cost | SELECT COUNT(*) FROM visits AS v JOIN items AS i ON v.v = i.v
125 1:58 | SELECT COUNT(*) FROM sites AS s LEFT JOIN visits AS v ON v.site = s.name | SELECT COUNT(*) FROM visits AS v LEFT JOIN sites AS s ON v.site = s.name
126 1:34 | SELECT COUNT(*) FROM sites WHERE name IN (SELECT site FROM visits)
114 1:35 | SELECT COUNT(*) FROM visits WHERE age IN (SELECT age FROM visits WHERE sure) | SELECT COUNT(*) FROM visits AS a WHERE EXISTS (SELECT 1 FROM visits AS b WHERE b.age = a.age AND b.u = a.u)
123 1:8 | SELECT SUM(pay) OVER () FROM visits
123 1:8 | SELECT RANK() OVER (ORDER BY age) FROM visits | SELECT kind, RANK() OVER (ORDER BY COUNT(*)) FROM visits GROUP BY kind
127 1:46 | SELECT COUNT(*) FROM visits UNION ALL SELECT age FROM visits
127 1:38 | SELECT age FROM visits EXCEPT SELECT kids FROM visits | SELECT COUNT(*) FROM (SELECT age FROM visits UNION ALL SELECT kids FROM visits)
127 1:63 | SELECT COUNT(*) FROM (SELECT age FROM visits INTERSECT SELECT kids FROM visits)
132 1:8 | SELECT STRING_AGG(tag, ',') FROM visits | SELECT tag, COUNT(*) FROM visits GROUP BY tag
132 1:8 | SELECT ARRAY_AGG(age) FROM visits
132 1:8 | SELECT ANY_VALUE(tag) FROM visits
119 1:50 | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0) COUNT(*) FROM visits | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5) COUNT(*) FROM visits
119 1:50 | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=-1) COUNT(*) FROM visits
119 1:50 | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon='x') COUNT(*) FROM visits
119 1:48 | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta=1) COUNT(*) FROM visits
116 1:86 | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta=0) tag, COUNT(*) FROM visits GROUP BY tag | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-9) tag, COUNT(*) FROM visits GROUP BY tag | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta=0) tag, COUNT(*) FROM visits WHERE tag IN ('x') GROUP BY tag
119 1:65 | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=0) COUNT(*) FROM visits
119 1:61 | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_per_group=1.5) COUNT(*) FROM visits
119 1:52 | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='magic') COUNT(*) FROM visits
119 1:42 | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(colour=1) COUNT(*) FROM visits
119 1:50 | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=2e6) COUNT(*) FROM visits
120 1:22 | SELECT COUNT(*) FROM read_csv('x.csv')
120 1:22 | SELECT COUNT(*) FROM 'visits.parquet'
101 1:22 | SELECT COUNT(*) FROM "visits.csv"
101 1:22 | SELECT COUNT(*) FROM information_schema.tables
122 1:28 | SELECT COUNT(*) FROM visits; SELECT 1
100 1:16 | SELECT COUNT(* FROM visits
122 1:1 | COPY visits TO 'x.csv'
122 1:1 | ATTACH 'x.duckdb'
122 1:1 | PRAGMA version
122 1:1 | UPDATE visits SET age = 1
122 1:1 | DELETE FROM visits
119 1:5 | SET threads = 1
105 1:8 | SELECT MEDIAN(tag) FROM visits
109 1:41 | SELECT COUNT(*) FROM visits WHERE age = ?
120 1:8 | SELECT COLUMNS(*) FROM visits
107 1:9 | SELECT [age] AS k, COUNT(*) FROM visits GROUP BY k
107 1:35 | SELECT COUNT(*) FROM visits WHERE list_contains([1, 2], age)
118 1:51 | SELECT age, d, day, COUNT(*) FROM visits GROUP BY age, d, day
119 1:62 | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column=age) COUNT(*) FROM visits
