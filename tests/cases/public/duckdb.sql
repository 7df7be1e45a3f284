-- # Statements that name nothing private: DuckDB's own answers. `equal`: values, names and types; `columns`: names and types
-- # each line: equal
SELECT 1
SELECT 1 AS a, 'x' AS b, NULL AS c
VALUES (1, 'a'), (2, 'b')
FROM towns ORDER BY id
TABLE towns
SELECT * FROM towns ORDER BY id
SELECT id, name FROM towns WHERE people > 100 ORDER BY id DESC
SELECT sum(people), avg(people), min(born), max(name), count(*), count(DISTINCT kind) FROM towns
SELECT kind, sum(people) AS n FROM towns GROUP BY kind ORDER BY ALL
SELECT kind, sum(people) AS n FROM towns GROUP BY ALL ORDER BY n
SELECT kind, count(*) FROM towns GROUP BY ROLLUP (kind) ORDER BY 1 NULLS LAST
SELECT kind, born, count(*) FROM towns GROUP BY CUBE (kind, born) ORDER BY ALL
SELECT kind, GROUPING(kind), count(*) FROM towns GROUP BY GROUPING SETS ((kind), ()) ORDER BY ALL
WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 10) SELECT sum(n) FROM t
WITH RECURSIVE f(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM f WHERE b < 100) SELECT a FROM f ORDER BY a
WITH RECURSIVE walk(id, path) AS (SELECT id, [id] FROM towns WHERE id = 1 UNION ALL SELECT r.dest, list_append(path, r.dest) FROM walk w JOIN roads r ON r.src = w.id WHERE NOT list_contains(path, r.dest)) SELECT path FROM walk ORDER BY len(path), path
WITH RECURSIVE t AS (SELECT 1 AS x UNION SELECT (x * 3) % 7 FROM t) SELECT * FROM t ORDER BY x
WITH a AS MATERIALIZED (SELECT 1 AS x), b AS NOT MATERIALIZED (SELECT x + 1 AS y FROM a) SELECT * FROM a, b
FROM range(5)
FROM range(1, 10, 3) AS r(i) SELECT i * i
SELECT * FROM generate_series(1, 3)
SELECT * FROM generate_series(DATE '2020-01-01', DATE '2020-01-05', INTERVAL 1 DAY)
SELECT unnest([1, 2, 3]) AS x
SELECT * FROM unnest(['a', 'b']) AS t(x)
SELECT unnest({'a': 1, 'b': 'x'})
SELECT unnest([{'a': 1, 'b': [2, 3]}], recursive := true)
SELECT * FROM repeat('x', 3)
SELECT * FROM repeat_row(1, 'a', num_rows = 2)
SELECT t.name, w.x FROM towns t, LATERAL (SELECT t.people * 2 AS x) w ORDER BY t.id
SELECT t.name, w.x FROM towns t LEFT JOIN LATERAL (SELECT max(amount) AS x FROM sales s WHERE s.town = t.id) w ON true ORDER BY t.id
SELECT name, (SELECT max(amount) FROM sales WHERE town = towns.id) AS most FROM towns ORDER BY id
SELECT name FROM towns WHERE people > ALL (SELECT n FROM sales) ORDER BY name
SELECT name FROM towns WHERE id = ANY (SELECT town FROM sales) ORDER BY name
SELECT name FROM towns t WHERE EXISTS (FROM sales WHERE town = t.id AND amount > 20) OR id = 4 ORDER BY name
SELECT DISTINCT ON (kind) kind, name FROM towns ORDER BY kind, people DESC
SELECT kind, name, row_number() OVER (PARTITION BY kind ORDER BY people) AS r FROM towns QUALIFY r = 1 ORDER BY kind
SELECT name FROM towns QUALIFY rank() OVER (ORDER BY people DESC) <= 2 ORDER BY name
SELECT id, sum(people) OVER w, avg(people) OVER w FROM towns WINDOW w AS (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) ORDER BY id
SELECT id, lag(people, 1, 0) OVER (ORDER BY id), lead(name) OVER (ORDER BY id), ntile(2) OVER (ORDER BY id) FROM towns ORDER BY id
SELECT id, first_value(name IGNORE NULLS) OVER (ORDER BY id DESC) FROM towns ORDER BY id
SELECT id, count(*) FILTER (WHERE people > 100) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM towns ORDER BY id
SELECT day, sum(amount) OVER (ORDER BY day RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) FROM sales ORDER BY ALL
PIVOT sales ON kind USING sum(amount) GROUP BY town ORDER BY town
PIVOT sales ON kind IN ('a', 'b') USING sum(amount) AS s, count(*) AS c GROUP BY town ORDER BY town
SELECT * FROM (PIVOT sales ON kind USING sum(n) GROUP BY town) ORDER BY town
WITH p AS (PIVOT sales ON kind USING max(amount) GROUP BY day) FROM p ORDER BY day
SELECT * FROM sales PIVOT (sum(amount) FOR kind IN ('a', 'b') GROUP BY town) ORDER BY town
PIVOT (SELECT town, kind, n FROM sales) ON town || '_' || kind USING sum(n)
PIVOT sales ON town, kind USING sum(n) GROUP BY day ORDER BY day
UNPIVOT (SELECT id, people AS p, id * 2 AS q FROM towns WHERE people IS NOT NULL) ON p, q INTO NAME what VALUE v ORDER BY ALL
SELECT * FROM (SELECT 1 AS a, 2 AS b) UNPIVOT (v FOR k IN (a, b)) ORDER BY k
FROM wide UNPIVOT INCLUDE NULLS (v FOR k IN (jan, feb)) ORDER BY ALL
UNPIVOT wide ON COLUMNS(* EXCLUDE id) INTO NAME month VALUE v ORDER BY ALL
SUMMARIZE towns
SUMMARIZE SELECT people FROM towns WHERE id > 1
DESCRIBE SELECT id, name FROM towns
SELECT column_name FROM (DESCRIBE sales) ORDER BY 1
SELECT column_name, min, max, count FROM (SUMMARIZE sales) ORDER BY 1
SELECT [1, 2, 3] AS l, {'a': 1, 'b': 'x'} AS s, MAP {'k': 1} AS m
SELECT [1, 2, 3][2], [1, 2, 3][2:], 'hello'[1:3], [1, 2, 3][-1]
SELECT s.a, s['b'], s.c.d FROM (SELECT {'a': 1, 'b': 2, 'c': {'d': 3}} AS s)
SELECT list_transform([1, 2, 3], lambda x: x * 2)
SELECT list_transform([1, 2, 3], lambda x, i: x * i), list_filter([1, 2, 3], lambda x: x > 1), list_reduce([1, 2, 3], lambda a, b: a + b)
SELECT [x * 2 FOR x IN [1, 2, 3] IF x > 1]
SELECT list_sort([3, 1, 2]), list_reverse_sort([3, 1, 2]), list_distinct([1, 1, 2]).list_sort(), list_sum([1, 2]), list_avg([1, 2])
SELECT list_zip([1, 2], ['a', 'b']), flatten([[1], [2, 3]]), list_slice([1, 2, 3], 1, 2), array_to_string(['a', 'b'], '-')
SELECT list(name ORDER BY id), string_agg(name, ',' ORDER BY id DESC), array_agg(DISTINCT kind ORDER BY kind) FROM towns
SELECT kind, list(name ORDER BY id)[1] AS first FROM towns GROUP BY kind ORDER BY kind
SELECT map_keys(m), map_values(m), m['a'], cardinality(m), element_at(m, 'b') FROM (SELECT MAP {'a': 1, 'b': 2} AS m)
SELECT map_from_entries([('a', 1), ('b', 2)]), map(['x'], [1])
SELECT histogram(people) FROM towns
SELECT struct_pack(a := 1, b := 2), struct_extract({'x': 1}, 'x'), struct_insert({'a': 1}, b := 2)
SELECT row(1, 'x')
SELECT {'a': [{'b': 2}]}.a[1].b
SELECT union_value(num := 2) AS u
SELECT [1, 2, 3]::INTEGER[3], array_value(1.0, 2.0)
SELECT array_distance([1, 2]::FLOAT[2], [3, 4]::FLOAT[2]), list_cosine_similarity([1.0, 2.0], [2.0, 4.0])
SELECT * EXCLUDE (born) FROM towns ORDER BY id
SELECT * REPLACE (upper(name) AS name) FROM towns ORDER BY id
SELECT * RENAME (name AS town) FROM towns ORDER BY id
SELECT COLUMNS('^(id|name)$') FROM towns ORDER BY id
SELECT min(COLUMNS(* EXCLUDE kind)), max(COLUMNS(lambda c: c LIKE 'p%')) FROM towns
SELECT COLUMNS(lambda c: c LIKE '%i%') FROM towns ORDER BY ALL
SELECT * LIKE 'n%' FROM towns ORDER BY 1
SELECT towns.* EXCLUDE (id, people) FROM towns ORDER BY ALL
SELECT 1 AS a, 2 AS b UNION ALL BY NAME SELECT 3 AS b, 4 AS c
SELECT id FROM towns UNION BY NAME SELECT town AS id, kind FROM sales ORDER BY ALL
(SELECT 1) UNION (SELECT 2) ORDER BY 1
SELECT id FROM towns INTERSECT SELECT town FROM sales ORDER BY 1
SELECT id FROM towns EXCEPT ALL SELECT town FROM sales ORDER BY 1
SELECT t.seen, t.sym, p.price FROM trades t ASOF JOIN prices p ON t.sym = p.sym AND t.seen >= p.seen ORDER BY t.seen, t.sym
SELECT t.seen, p.price FROM trades t ASOF LEFT JOIN prices p USING (sym, seen) ORDER BY ALL
SELECT a.id, b.id FROM towns a POSITIONAL JOIN towns b ORDER BY ALL
SELECT name FROM towns SEMI JOIN sales ON towns.id = sales.town ORDER BY name
SELECT name FROM towns ANTI JOIN sales ON towns.id = sales.town ORDER BY name
SELECT * FROM towns NATURAL JOIN (SELECT 1 AS id, 'z' AS zone)
SELECT t.id, s.amount FROM towns t FULL JOIN sales s ON t.id = s.town AND s.n > 3 ORDER BY ALL
SELECT count(*) FROM towns a, towns b, towns c
SELECT CASE kind WHEN 'a' THEN 1 ELSE 0 END, coalesce(name, '?'), nullif(id, 1), ifnull(name, 'x') FROM towns ORDER BY id
SELECT if(people > 100, 'big', 'small') FROM towns ORDER BY id
SELECT date_trunc('month', born), year(born), dayname(born), strftime(born, '%d.%m.%Y'), born + INTERVAL 1 MONTH FROM towns ORDER BY id
SELECT date_diff('day', DATE '2020-01-01', DATE '2020-03-01'), age(DATE '2020-03-01', DATE '2020-01-15'), make_date(2020, 2, 29)
SELECT time_bucket(INTERVAL 2 DAY, day), count(*) FROM sales GROUP BY 1 ORDER BY 1
SELECT epoch(TIMESTAMP '2020-01-01 00:00:01'), to_timestamp(1)::TIMESTAMP, (TIMESTAMP '2020-01-01 12:00:00' AT TIME ZONE 'UTC')::VARCHAR
SELECT INTERVAL 1 YEAR + INTERVAL 2 MONTH, TIME '12:30:00', extract(dow FROM DATE '2020-01-01')
SELECT lpad('7', 3, '0'), rpad('a', 3, '-'), repeat('ab', 2), format('{} is {}', 'a', 1), printf('%05d', 42), bar(3, 0, 10, 10)
SELECT regexp_replace('hello', 'l+', 'L'), regexp_extract('a12b', '(\d+)', 1), regexp_extract_all('a1b22', '\d+'), regexp_split_to_array('a,b', ',')
SELECT string_split('a b c', ' '), split_part('a-b', '-', 2), reverse('abc'), translate('abc', 'a', 'x'), chr(65), ascii('A')
SELECT 'x' SIMILAR TO 'x|y', 'abc' GLOB 'a*', 'Abc' ILIKE 'a%', 'a' IN ('a', 'b'), 'straße' COLLATE NOCASE = 'STRASSE'
SELECT md5('a'), sha256('a'), hash('a') = hash('a'), levenshtein('kitten', 'sitting'), jaccard('abc', 'abd')
SELECT to_json({'a': 1}), '{"a": [1, 2]}'::JSON -> 'a' -> 0, json_extract_string('{"a": "x"}', '$.a'), json_array_length('[1, 2]')
SELECT key, value FROM json_each('{"a": 1, "b": 2}') ORDER BY key
SELECT 7 // 2, 7 % 3, 2 ** 10, 2 ^ 3, 5 & 3, 5 | 3, 1 << 4, ~1, xor(5, 3), @(-3)
SELECT 1 / 0, 0e0 / 0, 10 / 4, round(2.567, 2), trunc(2.7), sign(-3), gcd(12, 18), factorial(5)
SELECT 170141183460469231731687303715884105727 AS h, 0.1 + 0.2, 1e3, 123456789.123456789::DECIMAL(18, 9)
SELECT 255::UTINYINT, 65535::USMALLINT, 4294967295::UINTEGER, 18446744073709551615::UBIGINT, 1.5::FLOAT
SELECT 'abc'::BLOB, '101'::BIT, bit_count(7), '\xAA'::BLOB
SELECT TRY_CAST('x' AS INTEGER), CAST('12' AS BIGINT), '1.5'::DECIMAL(5, 2), TRUE::INTEGER
SELECT 'a' || NULL, concat('a', NULL, 'b'), concat_ws('-', 'a', 'b'), length('ä'), strlen('ä'), upper('ß')
SELECT median(people), quantile_cont(people, 0.25), quantile_disc(people, [0.1, 0.9]), mode(kind), mad(people) FROM towns
SELECT var_samp(people), stddev(people), skewness(people), kurtosis(people), entropy(kind) FROM towns
SELECT arg_max(name, people), arg_min(name, people), max(name, 2), min_by(name, people), first(name ORDER BY id), last(name ORDER BY id) FROM towns
SELECT bool_and(people > 10), bool_or(people > 200), bit_and(id), bit_or(id), product(id), count_if(id > 2) FROM towns
SELECT corr(id, people), covar_samp(id, people), regr_slope(people, id), regr_r2(people, id) FROM towns
SELECT approx_count_distinct(kind) FROM towns
SELECT sum(amount) FILTER (WHERE kind = 'a') AS a, sum(amount) FILTER (WHERE kind = 'b') AS b FROM sales
SELECT any_value(kind) AS k FROM towns WHERE kind = 'b'
SELECT kind, count(*) FROM towns GROUP BY kind HAVING count(*) > 1 ORDER BY 1
SELECT 1 FROM towns HAVING 1 < 2
SELECT id AS x, x + 1 AS y FROM towns WHERE x > 1 ORDER BY y
SELECT name FROM towns ORDER BY people DESC NULLS FIRST LIMIT 2 OFFSET 1
SELECT id FROM towns ORDER BY id LIMIT 50%
SELECT id FROM towns ORDER BY id LIMIT (SELECT 2)
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(x, y) ORDER BY x
SELECT x FROM (SELECT 1 AS x) AS t WHERE t.x BETWEEN 0 AND 2
SELECT #1 FROM towns ORDER BY 1
SELECT alias(id), typeof(id), typeof([1]), pg_typeof(1) FROM towns LIMIT 1
SELECT 'a' AS "Name with space", 1 AS "1", 2 AS "select"
SELECT $$it's$$, E'tab\there', 'a''b', "name" FROM towns WHERE id = 1
SELECT /* a comment */ 1 -- and another
SELECT 'visits' AS visits, 1 AS "from visits"
SELECT day FROM sales WHERE day < '2024-01-02 12:00:00' ORDER BY 1
SELECT sum(i) FROM range(100000) t(i)
SELECT count(*) FROM range(1000) a, range(1000) b
SELECT max(i) FROM (SELECT unnest(range(1000)) AS i)
SELECT (SELECT count(*) FROM towns), (SELECT list(id ORDER BY id) FROM towns)
SELECT equi_width_bins(0, 10, 2, true)
SELECT row_number() OVER () AS n, x FROM (VALUES ('a'), ('b')) t(x)
SELECT bin(5), hex(255), to_base(10, 2), unhex('41'), to_base64('a'::BLOB), from_base64('YQ==')
SELECT greatest(1, 2), least(3, 4), greatest(NULL, 1), 1 IS DISTINCT FROM NULL, NULL IS NOT DISTINCT FROM NULL
SELECT sqrt(2), cbrt(27), ln(1), log(100), exp(0), pi(), radians(180), sin(0), atan2(1, 1), even(3)
SELECT big.name FROM big_towns AS big ORDER BY 1
SELECT b.name, t.kind FROM big_towns b JOIN towns t USING (id) ORDER BY ALL
SELECT "NAME" FROM "Towns" WHERE ID = 2
SELECT l[1], s.a, m['k'] FROM nested ORDER BY ALL
SELECT unnest(l) AS x FROM nested ORDER BY x
SELECT * FROM nested ORDER BY s.a
SELECT id, list_sum(l) + s.a AS n FROM nested ORDER BY n
SELECT list_filter(l, lambda x: x > 1) FROM nested ORDER BY 1
FROM nested SELECT l.list_transform(lambda x: x + s.a) ORDER BY 1
SELECT m FROM nested WHERE map_contains(m, 'k') ORDER BY s.a
SELECT dense_rank() OVER (ORDER BY kind), percent_rank() OVER (ORDER BY id), cume_dist() OVER (ORDER BY id) FROM towns ORDER BY id
SELECT nth_value(name, 2) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM towns
SELECT 'a' < 'B', 'é' > 'z', 'a' = 'a '
SELECT strptime('01.02.2020', '%d.%m.%Y'), try_strptime('x', '%Y'), '2020-02-30'::VARCHAR
SELECT uuid() IS NOT NULL, typeof(uuid()), random() BETWEEN 0 AND 1, current_date > DATE '2020-01-01', now() > TIMESTAMPTZ '2020-01-01'
SELECT setseed(0.5) IS NULL, typeof(now()), typeof(current_timestamp), typeof(today())
SELECT list_aggregate([1, 2, 3], 'sum'), [1, 2] || [3], list_has_any([1], [1, 2]), list_position([5, 6], 6), len([1, 2])
SELECT apply([1, 2], lambda x: x + 1), list_grade_up([3, 1]), list_concat([1], [2]), list_resize([1], 3, 0), list_unique([1, 1])
SELECT version() IS NOT NULL, current_schema(), current_user IS NOT NULL
SELECT variant_typeof(1::VARIANT), CAST([1, 2] AS JSON)
SELECT t FROM towns t ORDER BY t.id
SELECT towns FROM towns ORDER BY id LIMIT 1
SELECT struct.a FROM (SELECT {'a': 1} AS struct)
SELECT * FROM (FROM towns) ORDER BY id LIMIT 1
SELECT [main.towns.id] AS l FROM main.towns ORDER BY ALL
SELECT len(name) AS n FROM MAIN.Towns WHERE id IN (SELECT id FROM towns) ORDER BY ALL
SELECT first(x) FROM (SELECT 'a' AS x)
-- # each line: columns
SELECT random(), uuid(), now()::TIMESTAMP, current_date
SELECT * FROM towns TABLESAMPLE 50%
SELECT * FROM towns USING SAMPLE 2
SELECT * FROM range(100) TABLESAMPLE reservoir(10 ROWS)
SELECT name FROM towns ORDER BY random()
SELECT localtimestamp, localtime, today()
