-- # queries that parse and that allow refuses
SELECT DISTINCT ON (a) a FROM t
-- DPSQL-120 at 1:21: dpsql does not answer DISTINCT ON
SELECT a FROM t LIMIT 10 PERCENT
-- DPSQL-120 at 1:23: dpsql does not answer LIMIT in per cent
SELECT a FROM t LIMIT 10%
-- DPSQL-120 at 1:23: dpsql does not answer LIMIT in per cent
SELECT a FROM t FETCH FIRST ROW WITH TIES
-- DPSQL-120 at 1:8: dpsql does not answer WITH TIES
SELECT a FROM t FETCH FIRST 3 PERCENT ROWS ONLY
-- DPSQL-120 at 1:29: dpsql does not answer LIMIT in per cent
SELECT a FROM t FOR UPDATE
-- DPSQL-120 at 1:8: dpsql does not answer FOR UPDATE
SELECT a FROM t FOR SHARE
-- DPSQL-120 at 1:8: dpsql does not answer FOR UPDATE
SELECT a FROM ONLY t
-- DPSQL-120 at 1:20: dpsql does not answer ONLY
SELECT a INTO u FROM t
-- DPSQL-120 at 1:15: dpsql does not answer SELECT INTO
SELECT * FROM (a JOIN b ON a.x = b.x) c
-- DPSQL-120 at 1:16: dpsql does not answer parentheses around joins with more after them
SELECT * FROM t GROUP BY ALL, x
-- DPSQL-120 at 1:31: dpsql does not answer GROUP BY ALL or DISTINCT with a list
SELECT * FROM t GROUP BY DISTINCT x
-- DPSQL-120 at 1:35: dpsql does not answer GROUP BY ALL or DISTINCT with a list
SELECT * FROM t ORDER BY x COLLATE nocase
-- DPSQL-120 at 1:26: dpsql does not answer COLLATE
SELECT a FROM t TABLESAMPLE 10%
-- DPSQL-120 at 1:29: dpsql does not answer SAMPLE
SELECT a FROM t USING SAMPLE 10%
-- DPSQL-120 at 1:30: dpsql does not answer SAMPLE
SELECT a FROM t POSITIONAL JOIN u
-- DPSQL-120 at 1:33: dpsql does not answer POSITIONAL JOIN
SELECT a FROM t ASOF JOIN u ON a >= b
-- DPSQL-120 at 1:27: dpsql does not answer ASOF JOIN
SELECT a FROM t, LATERAL (SELECT 1)
-- DPSQL-120 at 1:34: dpsql does not answer LATERAL
SELECT a FROM t LEFT JOIN LATERAL (SELECT 1) ON true
-- DPSQL-120 at 1:43: dpsql does not answer LATERAL
WITH RECURSIVE c AS (SELECT 1) SELECT * FROM c
-- DPSQL-120 at 1:16: dpsql does not answer WITH RECURSIVE
SELECT 1 UNION BY NAME SELECT 2
-- DPSQL-120 at 1:8: dpsql does not answer UNION BY NAME
SELECT 1 UNION ALL BY NAME SELECT 2
-- DPSQL-120 at 1:8: dpsql does not answer UNION BY NAME
SELECT x IN u FROM t
-- DPSQL-120 at 1:13: dpsql does not answer IN a bare name
SELECT x IN unnest([1]) FROM t
-- DPSQL-120 at 1:21: dpsql does not answer UNNEST
SELECT x = ANY (1) FROM t
-- DPSQL-100 at 1:17: this is not possible here
SELECT sum(x IGNORE NULLS) FROM t
-- DPSQL-120 at 1:8: dpsql does not answer IGNORE NULLS or RESPECT NULLS of an aggregate
SELECT any_value(x RESPECT NULLS) FROM t
-- DPSQL-120 at 1:18: dpsql does not answer IGNORE NULLS or RESPECT NULLS of an aggregate
SELECT x[1] FROM t
-- DPSQL-120 at 1:9: dpsql does not answer subscripts and lists of types
SELECT {'a': 1}
-- DPSQL-120 at 1:8: dpsql does not know the sign {
SELECT MAP {'a': 1}
-- DPSQL-120 at 1:12: dpsql does not know the sign {
SELECT struct_pack(a := 1)
-- DPSQL-120 at 1:22: dpsql does not know the sign :=
SELECT x::INTEGER[] FROM t
-- DPSQL-120 at 1:18: dpsql does not answer subscripts and lists of types
SELECT x::STRUCT(a INTEGER) FROM t
-- DPSQL-120 at 1:11: dpsql does not answer nested types
SELECT x::TIMESTAMPTZ FROM t
-- DPSQL-120 at 1:11: dpsql has no type TIMESTAMPTZ
SELECT x::mytype FROM t
-- DPSQL-120 at 1:11: dpsql does not answer kind of DATATYPE
SELECT COLUMNS(*) FROM t
-- DPSQL-120 at 1:8: dpsql does not answer COLUMNS(…)
SELECT COLUMNS('a.*') FROM t
-- DPSQL-120 at 1:8: dpsql does not answer COLUMNS(…)
SELECT * EXCLUDE (a) FROM t
-- DPSQL-120 at 1:19: dpsql does not answer * EXCLUDE
SELECT * REPLACE (1 AS b) FROM t
-- DPSQL-120 at 1:19: dpsql does not answer * REPLACE
SELECT * RENAME (a AS b) FROM t
-- DPSQL-120 at 1:18: dpsql does not answer * RENAME
SELECT a FROM 'x.csv'
-- DPSQL-120 at 1:15: dpsql does not answer files by their name
SELECT a FROM read_csv('x.csv')
-- DPSQL-120 at 1:15: dpsql does not answer functions in FROM
SELECT a FROM read_text('x')
-- DPSQL-120 at 1:15: dpsql does not answer functions in FROM
SELECT a FROM read_parquet('x.parquet')
-- DPSQL-120 at 1:15: dpsql does not answer functions in FROM
SELECT a FROM glob('*')
-- DPSQL-120 at 1:15: dpsql does not answer functions in FROM
SELECT a FROM duckdb_tables()
-- DPSQL-120 at 1:15: dpsql does not answer functions in FROM
SELECT a FROM pragma_storage_info('t')
-- DPSQL-120 at 1:15: dpsql does not answer functions in FROM
SELECT a FROM range(3)
-- DPSQL-120 at 1:15: dpsql does not answer functions in FROM
SELECT a FROM unnest([1, 2])
-- DPSQL-120 at 1:23: dpsql does not answer UNNEST
SELECT unnest([1])
-- DPSQL-120 at 1:8: dpsql does not answer UNNEST
SELECT * FROM t PIVOT (sum(x) FOR a IN (1, 2))
-- DPSQL-120 at 1:24: dpsql does not answer PIVOT
SELECT x -> 'a' FROM t
-- DPSQL-120 at 1:10: dpsql does not know the sign ->
SELECT x ->> 'a' FROM t
-- DPSQL-120 at 1:10: dpsql does not know the sign ->>
SELECT list_transform(x, y -> y) FROM t
-- DPSQL-120 at 1:28: dpsql does not know the sign ->
SELECT list_transform(x, lambda y: y) FROM t
-- DPSQL-120 at 1:34: dpsql does not know the sign :
SELECT a: 1
-- DPSQL-120 at 1:9: dpsql does not know the sign :
SELECT x BETWEEN SYMMETRIC 1 AND 2 FROM t
-- DPSQL-120 at 1:8: dpsql does not answer BETWEEN SYMMETRIC
SELECT x AT TIME ZONE 'UTC' FROM t
-- DPSQL-120 at 1:8: dpsql does not answer AT TIME ZONE
SELECT s GLOB 'a' FROM t
-- DPSQL-120 at 1:8: dpsql does not answer GLOB
SELECT s SIMILAR TO 'a' FROM t
-- DPSQL-120 at 1:8: dpsql does not answer SIMILAR TO
SELECT s ~ 'a' FROM t
-- DPSQL-120 at 1:10: dpsql does not know the sign ~
SELECT s !~ 'a' FROM t
-- DPSQL-120 at 1:10: dpsql does not know the sign !
SELECT s ~~ 'a' FROM t
-- DPSQL-120 at 1:10: dpsql does not know the sign ~~
SELECT s ^@ 'a' FROM t
-- DPSQL-120 at 1:10: dpsql does not know the sign ^@
SELECT @x FROM t
-- DPSQL-120 at 1:8: dpsql does not know the sign @
SELECT t@x FROM t
-- DPSQL-120 at 1:9: dpsql does not know the sign @
SELECT #1 FROM t
-- DPSQL-120 at 1:8: dpsql does not know the sign #
SELECT 5!
-- DPSQL-120 at 1:9: dpsql does not know the sign !
SELECT x <=> y FROM t
-- DPSQL-120 at 1:10: dpsql does not know the sign <=>
SELECT x & 1 FROM t
-- DPSQL-120 at 1:10: dpsql does not know the sign &
SELECT x'41'
-- DPSQL-120 at 1:8: dpsql has no binary or prefixed texts
SELECT E'a\n'
-- DPSQL-120 at 1:8: dpsql reads only plain quotes
SELECT N'a'
-- DPSQL-120 at 1:8: dpsql has no binary or prefixed texts
SELECT $$a$$
-- DPSQL-120 at 1:8: dpsql reads only plain quotes
SELECT COUNT(*) FROM ((SELECT 1 AS a) s LIMIT 0)
-- DPSQL-120 at 1:31: dpsql does not answer ORDER BY or LIMIT after a table in parentheses
SELECT COUNT(*) FROM ((SELECT 1 AS a) s ORDER BY a LIMIT 0)
-- DPSQL-120 at 1:31: dpsql does not answer ORDER BY or LIMIT after a table in parentheses
SELECT COUNT(*) FROM ((SELECT 1 AS a) s JOIN (SELECT 2 AS b) z ON a = b LIMIT 1)
-- DPSQL-120 at 1:31: dpsql does not answer ORDER BY or LIMIT after a table in parentheses
SELECT COUNT(*) FROM ((SELECT 1 AS a) s UNION SELECT 2)
-- DPSQL-120 at 1:31: dpsql does not answer UNION of a table
(SELECT 1) s UNION ALL (SELECT 2)
-- DPSQL-120 at 1:9: dpsql does not answer UNION of a table
SELECT $tag$a$tag$
-- DPSQL-120 at 1:8: dpsql reads only plain quotes
SELECT `x` FROM t
-- DPSQL-120 at 1:8: dpsql does not know the sign `
SELECT {{x}}
-- DPSQL-120 at 1:8: dpsql does not know the sign {
SELECT a FROM t AT (VERSION => 1)
-- DPSQL-120 at 1:32: dpsql does not answer AT (VERSION …)
SELECT 1 AS 'q'
-- DPSQL-120 at 1:13: dpsql does not answer a text as a name
SELECT current_time
-- DPSQL-120 at 1:1: dpsql does not answer the current time of day
SELECT INTERVAL '1-2' YEAR TO MONTH
-- DPSQL-120 at 1:17: dpsql does not answer intervals of two parts
SELECT version()
-- DPSQL-107 at 1:8: version is not a function dpsql knows
SELECT 1 'a'
-- DPSQL-100 at 1:10: a is not expected here
SELECT 'a' 'b'
-- DPSQL-100 at 1:8: two texts are side by side
SELECT 0x1F
-- DPSQL-100 at 1:8: this is not a plain number
SELECT 1_000
-- DPSQL-100 at 1:8: this is not a plain number
SELECT 1e
-- DPSQL-100 at 1:8: this is not a plain number
SELECT 1..2
-- DPSQL-100 at 1:8: this is not a plain number
SELECT a.1.b FROM t
-- DPSQL-100 at 1:9: this point may be part of a name or of a number
SELECT x = y = z FROM t
-- DPSQL-100 at 1:8: comparisons cannot be chained
SELECT x < y < z FROM t
-- DPSQL-100 at 1:8: comparisons cannot be chained
SELECT
-- DPSQL-100 at 1:1: SELECT has no columns
SELECT FROM t
-- DPSQL-100 at 1:13: SELECT has no columns
SELECT /* a /* b */ c */ 1
-- DPSQL-100 at 1:8: a comment is inside a comment
SELECT DATE ?
-- DPSQL-100 at 1:13: this cannot be an alias
SELECT a b c FROM t
-- DPSQL-100 at 1:12: c is not expected here
SELECT (1
-- DPSQL-100 at 1:9: a ) is missing near 1
SELECT 1)
-- DPSQL-100 at 1:9: ) is not expected here
SELECT count(* FROM t
-- DPSQL-100 at 1:16: a ) is missing near FROM
FROM
-- DPSQL-100 at 1:4: the statement ends too early, after FROM
WITH c AS SELECT 1
-- DPSQL-100 at 1:11: SELECT is not expected here
hello
-- DPSQL-100 at 1:1: a statement does not start with hello
ſelect 1
-- DPSQL-100 at 1:1: this cannot be read without guessing
SELECT ſum(x) FROM t
-- DPSQL-100 at 1:8: this cannot be read without guessing
