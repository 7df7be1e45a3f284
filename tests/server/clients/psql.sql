\pset null -
\d
\dt
\dv
\di
\l
\dn
\df
\du
\z
\d visits
\d specialties
\dT
\x
SELECT name, floor FROM specialties ORDER BY name LIMIT 1;
\x
BEGIN;
SELECT 1 AS a;
SELECT nonsense;
SELECT 1 AS a;
ROLLBACK;
SELECT 1 AS a; SELECT 2 AS b;
SHOW TABLES;
SET epsilon = 0.5;
CREATE TABLE mine (a INTEGER, b VARCHAR);
INSERT INTO mine VALUES (1, 'x'), (2, NULL);
SELECT * FROM mine ORDER BY a;
\d mine
SELECT relname, cost FROM pg_class, visits;
SELECT something FROM pg_nothing;
SELECT version(), current_schema(), current_user;
SHOW server_version;
COPY mine TO STDOUT;
