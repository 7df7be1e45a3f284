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
WITH RECURSIVE path(src, dest, hops) AS (SELECT src, dest, 1 FROM roads UNION SELECT p.src, r.dest, hops + 1 FROM path p JOIN roads r ON p.dest = r.src WHERE hops < 3) SELECT src, dest, min(hops) FROM path GROUP BY ALL ORDER BY ALL
WITH RECURSIVE s(n, k) USING KEY (k) AS (SELECT 1, 'a' UNION SELECT n + 1, k FROM s WHERE n < 5) SELECT * FROM s
WITH RECURSIVE d(day) AS (SELECT DATE '2024-01-30' UNION ALL SELECT day + 1 FROM d WHERE day < DATE '2024-02-02') SELECT day, typeof(day) FROM d ORDER BY 1
WITH RECURSIVE a(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM a WHERE n < 3), b(m) AS (SELECT n * 10 FROM a) SELECT * FROM a, b ORDER BY ALL
WITH RECURSIVE h(n, s) AS (SELECT 3, ''::VARCHAR UNION ALL SELECT n - 1, s || n FROM h WHERE n > 0) SELECT s FROM h ORDER BY n LIMIT 1
SELECT t.id, l.* FROM towns t, LATERAL (SELECT dest, dest * t.id AS w FROM roads WHERE src = t.id) AS l ORDER BY ALL
SELECT t.id, u.x FROM towns t CROSS JOIN LATERAL unnest([t.id, t.id * 2]) AS u(x) ORDER BY ALL
SELECT t.id, r.i FROM towns t, LATERAL range(t.id) AS r(i) ORDER BY ALL
SELECT t.name, m.amount, m.n FROM towns t LEFT JOIN LATERAL (FROM sales s WHERE s.town = t.id ORDER BY amount DESC LIMIT 1) m ON true ORDER BY t.id
SELECT a.id, b.c FROM towns a JOIN LATERAL (SELECT count(*) AS c FROM towns b WHERE b.id <= a.id) b ON b.c > 1 ORDER BY ALL
SELECT town, day, amount FROM sales QUALIFY row_number() OVER (PARTITION BY town ORDER BY amount DESC, day) <= 2 ORDER BY ALL
SELECT town, sum(n) AS s FROM sales GROUP BY town HAVING s > 5 QUALIFY rank() OVER (ORDER BY s DESC) = 1
SELECT kind, sum(amount) AS s, sum(s) OVER (ORDER BY kind) FROM sales GROUP BY kind ORDER BY kind
SELECT *, lag(n) OVER w AS before, n - before AS step FROM sales WINDOW w AS (PARTITION BY kind ORDER BY n) ORDER BY kind, n
SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM towns ORDER BY id
SELECT n, sum(n) OVER (ORDER BY kind ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP) FROM sales ORDER BY n
SELECT n, sum(n) OVER (ORDER BY kind RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM sales ORDER BY n
SELECT n, count(*) OVER (ORDER BY n GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM sales ORDER BY n
SELECT n, first_value(n) OVER (ORDER BY n DESC ROWS 2 PRECEDING), last_value(n) OVER (ORDER BY n rows between current row and unbounded following) FROM sales ORDER BY n
SELECT n, list(n) OVER (PARTITION BY kind ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS l FROM sales ORDER BY n
SELECT n, count(DISTINCT town) OVER (PARTITION BY kind) AS c FROM sales ORDER BY n
SELECT n, sum(amount) FILTER (WHERE town = 2) OVER (ORDER BY n) FROM sales ORDER BY n
SELECT n, lag(n IGNORE NULLS) OVER (ORDER BY n), lead(n, 2, -1) OVER (ORDER BY n), nth_value(n, 3) OVER (ORDER BY n) FROM sales ORDER BY n
SELECT n, ntile(3) OVER (ORDER BY n), cume_dist() OVER (ORDER BY kind), percent_rank() OVER (ORDER BY town) FROM sales ORDER BY n
SELECT n, quantile_cont(n, 0.5) OVER (ORDER BY n ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS q FROM sales ORDER BY n
SELECT n, string_agg(kind, '') OVER (ORDER BY n) AS s, mode(kind) OVER (ORDER BY n) AS m FROM sales ORDER BY n
SELECT n, rank(ORDER BY amount) OVER (ORDER BY n) FROM sales ORDER BY n
SELECT DISTINCT ON (town) town, amount FROM sales ORDER BY town, amount DESC
SELECT DISTINCT ON (town % 2, kind) town % 2 AS odd, kind, n FROM sales ORDER BY odd, kind, n
PIVOT sales ON kind USING sum(n) AS total, max(amount) AS most GROUP BY town ORDER BY town
PIVOT sales ON year(day), kind USING count(*) ORDER BY ALL
PIVOT sales ON kind USING first(amount ORDER BY n) GROUP BY day ORDER BY day
FROM sales PIVOT (sum(n) AS s, count(*) AS c FOR kind IN ('a', 'b') GROUP BY town) ORDER BY town
PIVOT (FROM sales WHERE n > 2) ON month(day) USING sum(n) GROUP BY kind ORDER BY kind
PIVOT_WIDER sales ON kind USING sum(n) GROUP BY town ORDER BY town
PIVOT_LONGER wide ON jan, feb INTO NAME m VALUE v ORDER BY ALL
UNPIVOT wide ON (jan, feb) AS both INTO NAME m VALUE a, b ORDER BY ALL
UNPIVOT wide ON jan AS january, feb AS february ORDER BY ALL
SELECT m, sum(v) AS s FROM (UNPIVOT wide ON COLUMNS('^[jf]') INTO NAME m VALUE v) GROUP BY m ORDER BY m
SELECT list_transform(range(5), lambda x, i: x * i) AS l, list_reduce([1, 2, 3], lambda a, b: a * b, 10) AS r
SELECT [x + y FOR x, y IN [1, 2, 3]] AS l, ['a' || x FOR x IN ['b', 'c'] IF x <> 'b'] AS m
SELECT list_apply(['a', 'b'], lambda x: upper(x)), array_filter([1, NULL, 3], lambda x: x IS NOT NULL)
SELECT list_sort([3, 1, NULL, 2], 'DESC', 'NULLS FIRST'), list_reverse([1, 2]), list_select([10, 20, 30], [3, 1]), list_where([1, 2, 3], [true, false, true])
SELECT [1, 2, 3, 4, 5][2:4], [1, 2, 3, 4, 5][-2:], [1, 2, 3, 4, 5][1:5:2], [1, 2][5], 'hello'[2], 'hello'[-3:], 'hello'[:2]
SELECT [[1, 2], [3]][1][2], {'a': {'b': [1, 2]}}.a.b[2], ([{'x': 5}])[1].x, MAP {'k': [7]}['k'][1]
SELECT list_intersect([1, 2, 3], [2, 3]).list_sort() AS i, list_has_all([1, 2], [1]), [1, 2] && [2, 5], [1, 2] @> [1], [1] <@ [1, 2]
SELECT array_agg(n ORDER BY n DESC)[1:3] AS top, max(n, 2), min(n, 2), arg_max(kind, n, 2), max_by(kind, n) FROM sales
SELECT unnest([1, 2]) AS a, unnest(['x', 'y', 'z']) AS b
SELECT unnest({'a': 1, 'b': {'c': 2}}, recursive := true)
SELECT unnest([[1, 2], [3]], max_depth := 2) AS x
SELECT kind, unnest(list(n ORDER BY n)) AS n FROM sales GROUP BY kind ORDER BY ALL
SELECT generate_subscripts([7, 8, 9], 1) AS i
SELECT i, x FROM unnest([10, 20]) WITH ORDINALITY AS t(x, i) ORDER BY i
SELECT {'a': 1, 'b': 'x'} AS s, struct_pack(x := 1, y := 2) AS p, row(1, 2) AS r, ROW(id, name) FROM towns ORDER BY id LIMIT 1
SELECT s.* FROM (SELECT {'a': 1, 'b': 2} AS s)
SELECT struct_keys({'a': 1, 'b': 2}), struct_values({'a': 1, 'b': 2}), struct_concat({'a': 1}, {'b': 2}), struct_update({'a': 1}, a := 5)
SELECT {'a': 1} = {'a': 1}, {'a': 1} < {'a': 2}, [1, 2] < [1, 3], (1, 'a') = (1, 'a'), (1, 2) < (1, 3)
SELECT MAP {'a': 1, 'b': 2} AS m, map_entries(MAP {1: 'x'}), map_concat(MAP {'a': 1}, MAP {'a': 2, 'c': 3}), map_extract(MAP {'a': 1}, 'z')
SELECT union_value(num := 1) AS u, union_tag(union_value(str := 'a')), union_extract(union_value(k := 5), 'k'), typeof(union_value(a := 1))
SELECT u::UNION(num INTEGER, str VARCHAR) AS u FROM (VALUES (1), (2)) t(u) ORDER BY 1
SELECT * EXCLUDE (name, kind) REPLACE (people * 2 AS people) FROM towns ORDER BY id
SELECT * RENAME (id AS number, name AS title) FROM towns ORDER BY number
SELECT t.* EXCLUDE (id), s.* EXCLUDE (town, day) FROM towns t JOIN sales s ON s.town = t.id ORDER BY ALL
SELECT COLUMNS(['id', 'people']) + 1 FROM towns ORDER BY ALL
SELECT COLUMNS('(.*)o(.*)') AS '\1_\2' FROM towns ORDER BY ALL
SELECT coalesce(*COLUMNS(['jan', 'feb'])) AS c FROM wide ORDER BY c
SELECT id FROM wide WHERE COLUMNS(['jan', 'feb']) > 5 ORDER BY id
SELECT * SIMILAR TO '.*n' FROM wide ORDER BY ALL
FROM (FROM sales SELECT kind, sum(n) AS s GROUP BY kind) SELECT max(s)
SELECT 1 AS a UNION ALL SELECT 'x' UNION ALL SELECT NULL ORDER BY a
SELECT 1 AS a UNION BY NAME SELECT 2 AS b ORDER BY ALL
(SELECT id FROM towns LIMIT 1) UNION ALL (SELECT src FROM roads ORDER BY src LIMIT 1) ORDER BY 1
SELECT src FROM roads UNION SELECT dest FROM roads EXCEPT SELECT 4 INTERSECT SELECT 4 ORDER BY 1
SELECT dest FROM roads INTERSECT ALL SELECT src FROM roads ORDER BY 1
SELECT t.seen, price FROM trades t ASOF JOIN prices p ON t.sym = p.sym AND t.seen > p.seen ORDER BY ALL
FROM trades ASOF LEFT JOIN prices ON trades.seen < prices.seen SELECT trades.seen AS a, prices.seen AS b ORDER BY ALL
SELECT a.*, b.* FROM wide a POSITIONAL JOIN roads b ORDER BY ALL
SELECT * FROM roads r JOIN towns t ON r.src = t.id JOIN towns u ON r.dest = u.id ORDER BY src, dest
SELECT * FROM towns JOIN sales USING (kind) ORDER BY ALL LIMIT 3
SELECT count(*) FROM towns t FULL OUTER JOIN roads r ON t.id = r.dest AND r.src > 1
SELECT t.id FROM towns t WHERE NOT EXISTS (SELECT 1 FROM roads WHERE src = t.id) ORDER BY id
SELECT id, id IN (SELECT src FROM roads) AS starts, id NOT IN (SELECT dest FROM roads) AS never FROM towns ORDER BY id
SELECT name FROM towns WHERE (id, kind) IN (SELECT town, kind FROM sales) ORDER BY name
SELECT n FROM sales WHERE amount > ALL (SELECT avg(amount) FROM sales GROUP BY kind) ORDER BY n
SELECT id, (SELECT sum(n) FROM sales WHERE town = id AND kind = towns.kind) AS s FROM towns ORDER BY id
SUMMARIZE sales
DESCRIBE SELECT *, 1.5 AS d, [id] AS l FROM towns
SELECT * FROM (SUMMARIZE wide) ORDER BY column_name
SELECT count(*) FROM range(1000) USING SAMPLE 100% (bernoulli)
SELECT count(*) FROM (FROM range(1000) USING SAMPLE 10 ROWS)
SELECT count(*) <= 1000 FROM range(1000) TABLESAMPLE bernoulli(30 PERCENT) REPEATABLE (7)
SELECT kind, town, sum(n) FROM sales GROUP BY GROUPING SETS ((kind, town), (kind), ()) ORDER BY ALL
SELECT kind, town, sum(n), grouping(kind, town), grouping_id(kind) FROM sales GROUP BY ROLLUP (kind, town) ORDER BY ALL
SELECT kind, town, count(*) FROM sales GROUP BY CUBE (kind), ROLLUP (town) ORDER BY ALL
SELECT town > 1 AS big, kind, count(*) FROM sales GROUP BY ALL ORDER BY ALL
SELECT kind AS k, n % 2 AS odd, sum(amount) FROM sales GROUP BY k, odd HAVING odd = 1 ORDER BY k
SELECT sum(n) FILTER (kind = 'a') AS a, count(*) FILTER (WHERE n > 3), list(n) FILTER (WHERE n < 3) FROM sales
SELECT sum(DISTINCT town), avg(DISTINCT town), count(DISTINCT (town, kind)), string_agg(DISTINCT kind, '+' ORDER BY kind) FROM sales
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n), percentile_disc(0.25) WITHIN GROUP (ORDER BY amount DESC), mode() WITHIN GROUP (ORDER BY kind) FROM sales
SELECT a: 1, b: a + 1, "c d": 'x'
SELECT $tag$it's $1 "x"$tag$ AS t, $$a$$ || $$b$$ AS u
SELECT E'a\tb\u00e9\x41' AS e, 'it''s' AS q, "a""b" FROM (SELECT 1 AS "a""b")
SELECT 'small'::ENUM('small', 'large') AS e, enum_range(NULL::ENUM('a', 'b')), enum_first(NULL::ENUM('a', 'b'))
SELECT CASE WHEN 'b'::ENUM('b', 'a') < 'a'::ENUM('b', 'a') THEN 1 ELSE 2 END AS c
SELECT INTERVAL '1 month 2 days' + INTERVAL 3 HOUR AS i, INTERVAL (2 + 1) DAY AS d, DATE '2024-01-31' + INTERVAL 1 MONTH AS m, to_days(3), to_months(2)
SELECT TIMESTAMP '2024-03-10 12:00:00' - TIMESTAMP '2024-03-09 11:30:00' AS d, DATE '2024-03-01' - DATE '2024-02-01' AS n, age(TIMESTAMP '2024-03-01', TIMESTAMP '2023-01-15')
SELECT date_trunc('week', DATE '2024-05-15'), date_part('isoyear', DATE '2024-12-30'), extract('epoch' FROM INTERVAL 1 HOUR), last_day(DATE '2024-02-03'), datepart(['year', 'month'], DATE '2024-05-01')
SELECT strftime(TIMESTAMP '2024-05-01 13:04:05', '%A %-d %B %Y %I:%M %p'), strptime('5/1/2024', '%m/%d/%Y')::DATE, make_timestamp(2024, 5, 1, 2, 3, 4.5), epoch_ms(1700000000000)
SELECT time_bucket(INTERVAL '2 weeks', day) AS w, count(*) FROM sales GROUP BY w ORDER BY w
SELECT TIME '12:30:00' + INTERVAL 90 MINUTE AS t, '12:00:00+02'::TIMETZ AS z, '24:00:00'::TIME AS e
SELECT '10101'::BIT AS b, '101'::BIT & '110'::BIT AS a, bit_length('abc'), set_bit('000'::BIT, 1, 1), bitstring('1', 5)
SELECT '\xDE\xAD'::BLOB AS b, encode('é') AS e, octet_length('\xAA\xBB'::BLOB), md5('x'::BLOB), 'a'::BLOB || 'b'::BLOB
SELECT '550e8400-e29b-41d4-a716-446655440000'::UUID AS u, typeof(gen_random_uuid())
SELECT 12345678901234567890123456789012345678::DECIMAL(38, 0) AS d, 1.10::DECIMAL(4, 2) * 3, 10::DECIMAL(5, 2) / 3, 5.5::DECIMAL(3, 1) % 2
SELECT 1::TINYINT + 1::SMALLINT AS a, 1::UTINYINT + 1 AS b, 200::UTINYINT AS c, 3::FLOAT / 2 AS d, 7::BIGINT // 2 AS e, -7 % 3 AS f, -7 // 2 AS g
SELECT 'NaN'::DOUBLE AS n, 'inf'::DOUBLE AS i, '-Infinity'::FLOAT AS f, 'NaN'::DOUBLE = 'NaN'::DOUBLE AS e, 1e308 * 10 AS o
SELECT '2024-01-01'::DATE < '2024-01-02', DATE '2024-01-01' = TIMESTAMP '2024-01-01 00:00:00', '5' > 4, '1' = 1, true = 1, NULL = NULL
SELECT n FROM sales WHERE day = '2024-01-03' ORDER BY n
SELECT n FROM sales WHERE day > TIMESTAMP '2024-01-03 12:00:00' ORDER BY n
SELECT name FROM towns WHERE name LIKE '_a' OR name ILIKE 'B%' OR name ~ 'C+' ORDER BY name
SELECT 'a_b' LIKE 'a\_b' ESCAPE '\', 'abc' NOT LIKE 'a%', 'abc' ~~ 'a%', 'x' !~~ 'y', 'ABC' ~~* 'abc', 'a.b' SIMILAR TO 'a\.b'
SELECT position('b' IN 'abc'), substring('hello' FROM 2 FOR 3), overlay('hello' PLACING 'XX' FROM 2 FOR 2), trim(BOTH 'x' FROM 'xax'), extract(year FROM DATE '2024-01-01')
SELECT 'abc'.upper().reverse() AS c, [3, 1].list_sort()[1] AS m, ('a' || 'b').length() AS l
SELECT '{"a": {"b": [1, 2, 3]}}'::JSON ->> '$.a.b[1]' AS x, json_extract('{"a": 1}', ['a', 'b']), json_type('[1]'), json_keys('{"x": 1}'), json_array(1, 'a'), json_merge_patch('{"a": 1}', '{"b": 2}')
SELECT json_group_array(n), json_group_object(kind, town) FROM sales WHERE n < 3
SELECT to_json(t) FROM towns t ORDER BY id
SELECT from_json('{"a": 1, "b": ["x"]}', '{"a": "INTEGER", "b": ["VARCHAR"]}') AS j, json_transform('{"a": 1}', '{"a": "DOUBLE"}') AS k
SELECT regexp_extract('2024-05', '(\d+)-(\d+)', ['y', 'm']) AS s, regexp_matches('abc', 'B', 'i'), regexp_replace('aaa', 'a', 'b', 'g'), regexp_split_to_table('a b', ' ') AS t
SELECT printf('%s %d %.2f', 'a', 3, 1.5), format('{:>5} {:05.1f} {:,}', 'x', 2.5, 1234567), bar(5, 0, 10, 5), format_bytes(16000), lpad('x', 3, 'ab')
SELECT greatest(1, NULL, 3), least('b', 'a'), coalesce(NULL, NULL, 2), nullif(1, 1), ifnull(NULL, 1), if(true, 1, 2), CASE 3 WHEN 1 THEN 'a' END
SELECT x, CASE WHEN x THEN 1 ELSE 0 END FROM (VALUES (true), (false), (NULL)) t(x) ORDER BY x NULLS FIRST
SELECT * FROM (VALUES (1, [1, 2]), (2, NULL)) t(a, l), unnest(t.l) AS u(x) ORDER BY ALL
SELECT name FROM towns ORDER BY 1 COLLATE NOCASE DESC LIMIT 3 OFFSET 1
SELECT id FROM towns ORDER BY id LIMIT 2 + 1 OFFSET 1
SELECT typeof(NULL), typeof([]), typeof(MAP {}), typeof({'a': NULL}), typeof(1.0), typeof(1e0), typeof(INTERVAL 1 DAY), typeof('x'::ENUM('x'))
SELECT list(DISTINCT kind ORDER BY kind DESC) AS l, list_distinct(list(town)).list_sort() AS d, histogram(kind) AS h, approx_quantile(n, 0.5) IS NOT NULL AS q FROM sales
SELECT bit_xor(n), kurtosis_pop(n), sem(n), stddev_pop(n), var_pop(amount), regr_intercept(n, town), regr_count(n, town), covar_pop(n, town), fsum(amount), favg(n), geomean(n) FROM sales
SELECT arbitrary(kind) IS NOT NULL, any_value(kind ORDER BY n), first(kind ORDER BY n DESC), last(town ORDER BY n), bool_or(n > 7), quantile_disc(n, [0.25, 0.75]), approx_top_k(kind, 1) FROM sales
SELECT histogram(n, [2, 4, 8]), histogram_exact(kind, ['a']), equi_width_bins(0, 10, 5, false), is_histogram_other_bin(5) FROM sales
SELECT current_date = today(), current_date - INTERVAL 30 DAY < current_date, age(current_date) >= INTERVAL 0 DAY, now() - INTERVAL 1 HOUR < now()
SELECT random() < 1, uuid() <> uuid(), typeof(random()), length(uuid()::VARCHAR), typeof(current_time), typeof(localtimestamp)
SELECT "select", "from" FROM (SELECT 1 AS "select", 2 AS "from")
SELECT towns.id AS "ID", Towns.NAME FROM Towns ORDER BY iD
SELECT epsilon, force, alter_, "group" FROM (SELECT 1 AS epsilon, 2 AS force, 3 AS alter_, 4 AS "group")
SELECT 1 AS alter, 2 AS budget, 3 AS options, 4 AS release
SELECT 1 FROM towns WHERE false
SELECT count(*), sum(id), max(name), list(id) FROM towns WHERE false
SELECT rowid FROM range(3) t(rowid) ORDER BY 1
SELECT alias(n), n AS "α β", n AS "with ""quotes""" FROM sales WHERE n = 1
SELECT (SELECT 1), EXISTS (SELECT 1), 1 = ANY ([1, 2]), (SELECT [1, 2])[1], ARRAY(SELECT id FROM towns ORDER BY id), ARRAY[1, 2]
SELECT array_cross_product([1, 2, 3]::DOUBLE[3], [3, 2, 1]::DOUBLE[3]), [1.5, 2.5]::FLOAT[2] AS f, [[1, 2], [3, 4]]::INTEGER[2][2] AS g, list_inner_product([1.0, 2.0], [3.0, 4.0])
SELECT jaro_winkler_similarity('abc', 'abd'), hamming('abc', 'abd'), damerau_levenshtein('ab', 'ba'), soundex FROM (SELECT 1 AS soundex)
SELECT strip_accents('é'), nfc_normalize('é'), unicode('é'), chr(233), ord('a'), url_encode('a b'), url_decode('a%20b'), to_base(255, 16), from_hex('41'), to_binary(5)
SELECT st.a + st.b AS c FROM (SELECT unnest([{'a': 1, 'b': 2}, {'a': 3, 'b': 4}]) AS st) ORDER BY c
WITH t AS (SELECT kind, list({'n': n, 'd': day} ORDER BY n) AS items FROM sales GROUP BY kind) SELECT kind, i.n, i.d FROM (SELECT kind, unnest(items) AS i FROM t) ORDER BY ALL
WITH towns AS (SELECT 5 AS id) SELECT id FROM towns
WITH t(a, b) AS (VALUES (1, 2), (3, 4)) SELECT a FROM t WHERE b > (SELECT avg(b) FROM t)
SELECT * FROM (SELECT id FROM towns) AS t(x) WHERE x > 2 ORDER BY x
SELECT id, id AS x FROM towns GROUP BY ALL HAVING x > 1 ORDER BY x
SELECT sales.kind, towns.kind FROM sales, towns WHERE town = id ORDER BY ALL
SELECT * FROM json_each('[1, {"a": 2}]') ORDER BY key
SELECT fullkey, type FROM json_tree('{"a": [1, {"b": null}]}') ORDER BY id
SELECT unnest(generate_series(TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-01 02:00:00', INTERVAL 1 HOUR)) AS t
SELECT range(3), generate_series(1, 3), range(DATE '2024-01-01', DATE '2024-01-03', INTERVAL 1 DAY)
SELECT * FROM generate_series(5, 1, -2) g(i) ORDER BY i
SELECT date_add(DATE '2024-01-31', INTERVAL 1 MONTH), date_sub('month', DATE '2024-01-31', DATE '2024-03-01'), datediff('week', DATE '2024-01-01', DATE '2024-02-01'), dayofweek(DATE '2024-01-07'), isodow(DATE '2024-01-07'), yearweek(DATE '2024-01-01'), century(DATE '2024-01-01'), julian(DATE '2024-01-01')
SELECT list_transform(list(n ORDER BY n), lambda x: x / sum(n)) FROM sales
SELECT n, lead(n) OVER (ORDER BY n) - n AS gap, ntile(n) OVER (ORDER BY n) FROM sales ORDER BY n
SELECT a.n FROM sales a WHERE a.amount = (SELECT max(amount) FROM sales b WHERE b.kind = a.kind) ORDER BY a.n
SELECT is_a, count(*) AS n FROM (SELECT kind = 'a' AS is_a FROM sales) GROUP BY is_a ORDER BY is_a
SELECT t.kind, avg(s.amount) AS a, count(s.n) FILTER (s.n > 2) AS c FROM towns t LEFT JOIN sales s ON t.id = s.town GROUP BY t.kind HAVING a IS NOT NULL ORDER BY a
SELECT x FROM range(3) AS t(x) WINDOW w AS (ORDER BY x) QUALIFY sum(x) OVER w > 0 ORDER BY x
SELECT n FROM sales WHERE n NOT BETWEEN 2 AND 7 AND kind IS DISTINCT FROM 'b' ORDER BY n
SELECT sum(amount)::DECIMAL(10, 1) AS s, round(avg(amount), 2) AS a, avg(amount)::VARCHAR, sum(n) / count(*) AS q, sum(n) // 3 FROM sales
SELECT kind || '-' || town AS k, max(day) FROM sales GROUP BY k ORDER BY k
SELECT struct_extract(t, 'name') FROM towns t ORDER BY t.id
SELECT t.id FROM towns t SEMI JOIN sales s ON t.id = s.town AND s.n > 5 ORDER BY ALL
SELECT id FROM towns ANTI JOIN roads ON id = src ORDER BY ALL
SELECT l, s, m FROM nested ORDER BY s.a
SELECT id, l[1] + s.a AS x, m['k'] FROM nested WHERE len(l) = 2 ORDER BY ALL
SELECT unnest(s) FROM nested ORDER BY ALL
SELECT id, list_transform(l, lambda x: x + id) FROM nested ORDER BY id
SELECT DATE '2024-07-01' + TIME '12:00:00' AS t, (TIMESTAMP '2024-07-01 12:00:00' AT TIME ZONE 'Europe/Berlin')::VARCHAR AS b, timezone('America/New_York', TIMESTAMPTZ '2024-07-01 12:00:00+00') AS n
SELECT 1_000_000 AS m, 1_0.5 AS t, 1e-3 AS e, .5 AS p, 5. AS q
SELECT [1, 2] || [3], array_slice('hello', 2, 3), 'a' || 1, list_zip([1], ['x'], [true]), flatten([[1], NULL, [2]]), list_value(1, NULL), array_value(1, 2)[2]
SELECT 170141183460469231731687303715884105727::HUGEINT AS h, 340282366920938463463374607431768211455::UHUGEINT AS u, ['101'::BIT, '1'::BIT] AS b, MAP {1::HUGEINT: '12:00:00+02'::TIMETZ} AS m
SELECT {'bits': '10101'::BIT, 'at': '12:30:00-05'::TIMETZ} AS s, [1::UHUGEINT] AS l, union_value(b := '1'::BIT) AS u, row(1, '1'::BIT) AS r
-- # each line: columns
SELECT random(), uuid(), now()::TIMESTAMP, current_date
SELECT * FROM towns TABLESAMPLE 50%
SELECT * FROM towns USING SAMPLE 2
SELECT * FROM range(100) TABLESAMPLE reservoir(10 ROWS)
SELECT name FROM towns ORDER BY random()
SELECT localtimestamp, localtime, today()
