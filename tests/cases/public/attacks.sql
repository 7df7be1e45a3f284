-- # Ways out of what is public: each is refused with a code, nothing is charged, and nothing private is said
-- # each line: refused
SELECT * FROM '/etc/passwd'
FROM '/etc/passwd'
FROM "/etc/passwd"
SELECT * FROM 'visits.csv'
SELECT * FROM 'https://example.com/a.parquet'
SELECT * FROM 's3://bucket/a.parquet'
FROM read_csv('/etc/passwd')
FROM read_csv_auto('/etc/passwd')
FROM read_parquet('*.parquet')
FROM parquet_scan('x.parquet')
FROM parquet_metadata('x.parquet')
FROM parquet_schema('x.parquet')
FROM parquet_kv_metadata('x.parquet')
FROM read_json('x.json')
FROM read_json_auto('x.json')
FROM read_ndjson_objects('x.json')
FROM read_text('/etc/passwd')
FROM read_blob('/etc/passwd')
FROM sniff_csv('/etc/passwd')
FROM glob('/*')
FROM read_duckdb('x.duckdb')
FROM read_single_csv_file('/etc/passwd')
SELECT read_text('/etc/passwd')
SELECT content FROM read_text(['/etc/passwd'])
SELECT (SELECT content FROM read_text('/etc/passwd'))
SELECT * FROM towns, LATERAL (FROM read_text('/etc/' || name))
WITH x AS (FROM read_text('/etc/passwd')) FROM x
WITH RECURSIVE x AS (SELECT content FROM read_text('/etc/passwd') UNION ALL SELECT content FROM x WHERE false) FROM x
PIVOT (FROM read_csv('/etc/passwd')) ON column0
PIVOT towns ON (SELECT max(content) FROM read_text('/etc/passwd')) USING sum(people)
SUMMARIZE FROM read_csv('/etc/passwd')
DESCRIBE FROM read_csv('/etc/passwd')
DESCRIBE SELECT * FROM '/etc/passwd'
SUMMARIZE '/etc/passwd'
EXPLAIN FROM read_csv('/etc/passwd')
SELECT list_transform([1], lambda x: (SELECT max(content) FROM read_text('/etc/passwd')))
SELECT 1 FROM towns QUALIFY (SELECT content FROM read_text('/etc/passwd')) IS NULL
SELECT getenv('HOME')
SELECT GETENV('HOME')
SELECT "getenv"('HOME')
SELECT main.getenv('HOME')
SELECT system.main.getenv('HOME')
SELECT 'HOME'.getenv()
SELECT list_transform(['HOME'], lambda x: getenv(x))
SELECT ['HOME'].list_transform(lambda x: getenv(x))
SELECT current_setting('temp_directory')
SELECT CURRENT_SETTING('allowed_directories')
SELECT * FROM duckdb_settings()
FROM duckdb_settings
FROM duckdb_secrets()
FROM duckdb_extensions()
FROM duckdb_databases()
FROM duckdb_databases
FROM duckdb_functions()
FROM duckdb_logs
FROM duckdb_temporary_files()
FROM duckdb_memory()
FROM duckdb_variables()
FROM duckdb_prepared_statements()
FROM pg_settings
FROM pg_catalog.pg_settings
FROM information_schema.tables
FROM sqlite_master
FROM pragma_database_list
FROM pragma_version()
FROM pragma_table_info('visits')
FROM pragma_storage_info('visits')
FROM given.main.towns
FROM made.main.r
FROM memory.main.towns
FROM system.information_schema.tables
WITH x AS (FROM duckdb_settings), duckdb_settings AS (SELECT 1) FROM x
SET memory_limit = '100GB'
SET GLOBAL enable_external_access = true
SET VARIABLE x = 1
RESET memory_limit
PRAGMA threads = 99
PRAGMA database_list
PRAGMA enable_profiling
SELECT getvariable('x')
SELECT write_log('x')
SELECT current_query()
SELECT txid_current()
SELECT nextval('s')
SELECT pg_sleep(100)
SELECT sleep_ms(100000)
SELECT add_parquet_key('a', 'b')
INSTALL httpfs
LOAD httpfs
FORCE INSTALL spatial
UPDATE EXTENSIONS
ATTACH '/tmp/x.duckdb' AS x
ATTACH ':memory:' AS x
DETACH given
USE given
COPY towns TO '/tmp/x.csv'
COPY (SELECT 1) TO '/tmp/x.csv'
COPY towns FROM '/etc/passwd'
EXPORT DATABASE '/tmp/x'
IMPORT DATABASE '/tmp/x'
CHECKPOINT
FORCE CHECKPOINT
VACUUM
CALL pragma_version()
CALL load_aws_credentials()
PREPARE p AS SELECT * FROM visits
EXECUTE p
DEALLOCATE p
FROM query('SELECT * FROM visits')
FROM query('SELECT * FROM towns')
FROM query_table('visits')
FROM query_table('towns')
FROM query_table(['towns', 'visits'])
FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))
SELECT json_serialize_plan('SELECT * FROM visits')
FROM histogram(visits, age)
FROM histogram_values(visits, age)
FROM seq_scan('visits')
FROM arrow_scan(1, 2, 3)
FROM arrow_scan_dumb(1, 2, 3)
FROM pandas_scan(140000000)
FROM python_map_function(1)
FROM test_all_types()
FROM which_secret('x', 'y')
CREATE SECRET s (TYPE s3)
CREATE MACRO m(x) AS x + 1
CREATE FUNCTION f(x) AS x
CREATE TYPE mood AS ENUM ('a')
SELECT 1; SELECT 2
SELECT 1; COPY towns TO '/tmp/x'
WITH x AS (INSERT INTO nested VALUES (1) RETURNING *) FROM x
WITH x AS (DELETE FROM nested RETURNING *) FROM x
WITH x AS (UPDATE nested SET id = 1 RETURNING *) SELECT [1], * FROM x
SELECT * FROM towns AT (VERSION => 1)
FROM visits
SELECT * FROM visits
SELECT * FROM Visits
SELECT * FROM "visits"
SELECT * FROM "VISITS"
SELECT * FROM main.visits
SELECT * FROM memory.main.visits
SELECT /**/ * FROM/**/visits
SELECT * FROM visits -- public
SELECT [age] FROM visits
SELECT {'a': note} FROM visits
SELECT * FROM (FROM visits)
SELECT * FROM (SELECT * FROM visits), range(3)
TABLE visits
SUMMARIZE visits
SUMMARIZE SELECT * FROM visits
DESCRIBE SELECT * FROM (SUMMARIZE visits)
PIVOT visits ON ward USING count(*)
PIVOT visits ON note
UNPIVOT visits ON age INTO NAME n VALUE v
FROM visits SELECT list(note)
SELECT (FROM visits SELECT max(note))
SELECT EXISTS (FROM visits WHERE note = 'secret 1'), [1]
SELECT [1] WHERE 'secret 1' IN (SELECT note FROM visits)
SELECT id, [1] FROM towns WHERE id < ANY (SELECT age FROM visits)
SELECT * FROM towns, LATERAL (SELECT note FROM visits LIMIT 1)
SELECT * FROM towns ASOF JOIN visits ON towns.id = visits.u AND towns.born >= visits.day
SELECT * FROM towns POSITIONAL JOIN visits
SELECT * FROM towns SEMI JOIN visits ON id = u
SELECT 1 AS u UNION ALL BY NAME FROM visits
WITH visits AS (SELECT note FROM visits) SELECT [note] FROM visits
WITH v AS (FROM visits) FROM v
WITH v AS (FROM visits), w AS (FROM v) SELECT [note] FROM w
WITH RECURSIVE v AS (SELECT note FROM visits UNION ALL FROM v WHERE false) FROM v
WITH a AS (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward), v AS (FROM visits) SELECT [n], note FROM a, v
SELECT [n], (SELECT max(note) FROM visits) FROM (SELECT COUNT(*) AS n FROM visits)
SELECT [n] FROM (SELECT COUNT(*) AS n FROM visits), visits
SELECT [n] FROM (SELECT u, COUNT(*) AS n FROM visits GROUP BY u)
SELECT [note] FROM (SELECT note FROM visits GROUP BY note, u)
SELECT t.n, [v.note] FROM (SELECT COUNT(*) AS n FROM visits) t, (FROM visits) v
PIVOT (SELECT u, age FROM visits) ON u USING sum(age)
SELECT list_transform([n], lambda x: (SELECT max(age) FROM visits)) FROM (SELECT COUNT(*) AS n FROM visits)
FROM private_view
SELECT [note] FROM private_view
SELECT * FROM "PRIVATE_VIEW" p, range(2)
CREATE TABLE taken AS FROM visits
CREATE VIEW seen AS FROM visits
CREATE VIEW seen AS FROM private_view
INSERT INTO nested SELECT [u], NULL, NULL, 1 FROM visits
CREATE TABLE taken AS SELECT [note] AS l FROM visits
SELECT * FROM U&"\0076isits"
SELECT * FROM dpsql_part_1
SELECT * FROM p_towns
SELECT * FROM dpsql_results.r1
SELECT * FROM scratch.main.nested, visits
SELECT list(COUNT(*)) FROM visits
SELECT [max(age)], list(age) FROM visits
SELECT [age, COUNT(*)] FROM visits GROUP BY ward
SELECT [note], COUNT(*) FROM visits GROUP BY note, u
SELECT ward, [COUNT(*)] FROM visits GROUP BY u, ward
SELECT [COUNT(*)], (SELECT max(note) FROM visits) FROM visits
SELECT [u, COUNT(*)] FROM visits GROUP BY u
SELECT [COUNT(*)], note FROM visits
SELECT [COUNT(*)] FROM visits, read_text('/etc/passwd')
SELECT [COUNT(*)], getenv('HOME') FROM visits
SELECT [COUNT(*)], current_setting('temp_directory') FROM visits
SELECT [COUNT(*)] FROM visits ORDER BY (SELECT max(content) FROM read_text('/etc/passwd'))
SELECT [COUNT(*)] FROM visits HAVING (SELECT content FROM read_text('/etc/passwd')) IS NULL
SELECT upper(ward) AS ward, [COUNT(*)] FROM visits GROUP BY note ORDER BY ward
SELECT "="({'a': 1}, 'a')
SELECT "<"(1, 'a') FROM towns
SELECT "is Distinct From"([1], 1)
SELECT list_transform([1], lambda x: ">="(x, 'a'))
FROM duckdb_external_file_cache()
FROM duckdb_log_contexts()
FROM duckdb_logs_parsed('QueryLog')
FROM duckdb_approx_database_count()
FROM duckdb_optimizers()
FROM duckdb_types()
FROM duckdb_sequences()
FROM duckdb_constraints()
FROM duckdb_indexes()
FROM duckdb_dependencies()
FROM duckdb_external_resources()
FROM duckdb_table_sample('towns')
FROM pragma_database_size()
FROM pragma_show('towns')
FROM pragma_user_agent()
FROM pragma_platform()
FROM pragma_metadata_info('towns')
FROM pragma_collations()
FROM parquet_full_metadata('*.parquet')
FROM parquet_bloom_probe('x.parquet', 'a', 1)
FROM parquet_file_metadata('x.parquet')
FROM read_single_parquet_file('x.parquet')
FROM read_single_json_file('x.json')
FROM read_json_objects('/etc/passwd')
FROM read_ndjson('/etc/passwd')
FROM python_arrow_scan(1)
FROM test_vector_types(1)
FROM truncate_duckdb_logs()
FROM enable_logging()
FROM copy_database('a', 'b')
FROM create_external_resource('a')
FROM import_database('/tmp')
FROM summary((FROM towns))
FROM show_tables()
FROM icu_calendar_names()
FROM pg_timezone_names()
SELECT * FROM towns t, LATERAL read_csv(t.name)
SELECT * FROM towns, LATERAL query_table(name)
FROM '/proc/self/environ'
FROM read_blob('/proc/self/fd/0')
FROM "data/*.csv"
FROM 'given.duckdb'
FROM conn
FROM __file__
SELECT * FROM self
CALL enable_logging()
CALL pragma_table_info('towns')
SHOW ALL TABLES
SHOW DATABASES
SELECT * FROM (SHOW ALL TABLES)
SELECT * FROM (SHOW towns)
EXPLAIN ANALYZE COPY towns TO '/tmp/x'
SET time_zone = 'x'
SELECT set_config('memory_limit', '9GB', false)
CREATE OR REPLACE TEMP MACRO m() AS TABLE FROM read_text('/etc/passwd')
CREATE VIEW v AS FROM read_text('/etc/passwd')
CREATE TABLE x (a INTEGER DEFAULT (getenv('HOME')::INTEGER))
CREATE TABLE x (a VARCHAR CHECK (a <> (SELECT content FROM read_text('/etc/passwd'))))
CREATE TABLE x AS FROM read_csv('/etc/passwd')
CREATE TABLE x AS SELECT "="({'a': 1}, 'a') AS y
INSERT INTO nested SELECT [size], NULL, NULL, 1 FROM read_blob('/etc/passwd')
UPDATE nested SET id = (SELECT count(*) FROM glob('/*'))
DELETE FROM nested WHERE id IN (SELECT size FROM read_text('/etc/passwd'))
COPY nested TO '/tmp/x.csv'
COPY nested FROM PROGRAM 'id'
ALTER TABLE nested ADD COLUMN z VARCHAR DEFAULT getenv('HOME')
BEGIN; SELECT 1
CREATE SECRET (TYPE s3, KEY_ID 'a', SECRET 'b')
CREATE TABLE y AS FROM pragma_table_info('visits')
MERGE INTO nested USING (FROM read_csv('/etc/passwd')) AS f ON false WHEN NOT MATCHED THEN INSERT VALUES ([1], NULL, NULL, 1)
