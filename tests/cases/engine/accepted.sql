-- # keys: how many public combinations; or private, none (no GROUP BY), free (nothing private is read)
SELECT COUNT(*) FROM visits
-- keys: none
SELECT kind, COUNT(*) FROM visits GROUP BY kind
-- keys: 3
SELECT age, COUNT(*) FROM visits GROUP BY age
-- keys: 100
SELECT kids, COUNT(*) FROM visits GROUP BY kids
-- keys: 11
SELECT flag, COUNT(*) FROM visits GROUP BY flag
-- keys: 3
SELECT sure, COUNT(*) FROM visits GROUP BY sure
-- keys: 2
SELECT site, COUNT(*) FROM visits GROUP BY site
-- keys: 3
SELECT grade, COUNT(*) FROM visits GROUP BY grade
-- keys: 9
SELECT day, COUNT(*) FROM visits GROUP BY day
-- keys: 31
SELECT d, COUNT(*) FROM visits GROUP BY d
-- keys: 366
SELECT tier, COUNT(*) FROM visits GROUP BY tier
-- keys: 3
SELECT tag, COUNT(*) FROM visits GROUP BY tag
-- keys: private
SELECT ts, COUNT(*) FROM visits GROUP BY ts
-- keys: private
SELECT price, COUNT(*) FROM visits GROUP BY price
-- keys: private
SELECT kind, sure, COUNT(*) FROM visits GROUP BY kind, sure
-- keys: 6
SELECT kind, tag, COUNT(*) FROM visits GROUP BY kind, tag
-- keys: private
SELECT kind, sure, site, COUNT(*) FROM visits GROUP BY ALL
-- keys: 18
SELECT kind, COUNT(*) FROM visits GROUP BY 1
-- keys: 3
SELECT CASE WHEN age < 18 THEN 'minor' ELSE 'adult' END AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 2
SELECT CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' END AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 3
SELECT CASE kind WHEN 'a' THEN 1 ELSE 0 END AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 2
SELECT IF(sure, kind, 'none') AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 4
SELECT FLOOR(age / 10) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 10
SELECT age // 10 AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 10
SELECT FLOOR(kids / 2) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 6
SELECT CEIL(pay / 100) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 12
SELECT ROUND(pay / 100) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 12
SELECT FLOOR(price / 10) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 12
SELECT FLOOR(price) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 102
SELECT CAST(pay / 100 AS INTEGER) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 12
SELECT age % 7 AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 7
SELECT EXTRACT(year FROM d) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 1
SELECT EXTRACT(month FROM d) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 12
SELECT EXTRACT(dow FROM d) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 7
SELECT EXTRACT(hour FROM ts) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 24
SELECT quarter(d) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 4
SELECT monthname(d) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 12
SELECT dayname(d) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 7
SELECT year(d) * 100 + month(d) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 12
SELECT date_trunc('month', d) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 12
SELECT date_trunc('week', d) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 53
SELECT date_trunc('quarter', d) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 4
SELECT date_trunc('hour', ts) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 744
SELECT CAST(ts AS DATE) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 31
SELECT last_day(d) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 12
SELECT d - DATE '2020-01-01' AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 366
SELECT LEFT(kind, 1) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 3
SELECT UPPER(site) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 4
SELECT kind || '-' || site AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 10
SELECT SUBSTRING(site, 1, 1) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 4
SELECT COALESCE(site, 'none') AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 4
SELECT LENGTH(site) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 3
SELECT kind IN ('a', 'b') AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 2
SELECT age BETWEEN 18 AND 65 AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 2
SELECT kids IS NULL AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 2
SELECT kind LIKE 'a%' AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 2
SELECT sure AND age > 3 AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 2
SELECT LEAST(age, 10) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 11
SELECT GREATEST(age, 90) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 10
SELECT ABS(age - 50) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 51
SELECT SIGN(age) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 2
SELECT CAST(kids AS VARCHAR) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 11
SELECT tag, COUNT(*) FROM visits WHERE tag IN ('x', 'y', 'z') GROUP BY tag
-- keys: 3
SELECT tag, COUNT(*) FROM visits WHERE tag = 'x' OR tag = 'y' GROUP BY tag
-- keys: 2
SELECT kind, COUNT(*) FROM visits WHERE kind IN ('a', 'q') GROUP BY kind
-- keys: 1
SELECT age, COUNT(*) FROM visits WHERE age BETWEEN 18 AND 65 GROUP BY age
-- keys: 48
SELECT age, COUNT(*) FROM visits WHERE age > 10 AND age <= 20 GROUP BY age
-- keys: 10
SELECT v, COUNT(*) FROM visits WHERE v BETWEEN 1 AND 5 GROUP BY v
-- keys: 5
SELECT d, COUNT(*) FROM visits WHERE d BETWEEN DATE '2020-01-01' AND DATE '2020-01-10' GROUP BY d
-- keys: 10
SELECT FLOOR(pay) AS k, COUNT(*) FROM visits WHERE pay BETWEEN 0 AND 10 GROUP BY k
-- keys: 11
SELECT flag, COUNT(*) FROM visits WHERE flag GROUP BY flag
-- keys: 1
SELECT site, COUNT(*) FROM visits WHERE site IS NOT NULL GROUP BY site
-- keys: 3
SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind HAVING n > 10 ORDER BY n DESC LIMIT 2
-- keys: 3
SELECT kind, AVG(pay), SUM(price), COUNT(kids) FROM visits GROUP BY kind
-- keys: 3
SELECT SUM(pay * age) FROM visits
-- keys: none
SELECT SUM(LEAST(GREATEST(free_pay, 0), 100)) FROM visits
-- keys: none
SELECT AVG(free_pay) FROM visits WHERE free_pay BETWEEN 0 AND 50
-- keys: none
SELECT SUM(CASE WHEN sure THEN price ELSE 0 END) FROM visits
-- keys: none
SELECT COUNT(DISTINCT u) FROM visits
-- keys: none
SELECT DISTINCT kind FROM visits
-- keys: 3
SELECT kind, COUNT(*) FROM adults GROUP BY kind
-- keys: 3
SELECT s.floor, COUNT(*) FROM visits AS v JOIN sites AS s ON v.site = s.name GROUP BY s.floor
-- keys: 3
SELECT SUM(cost) FROM items
-- keys: none
SELECT v.kind, SUM(i.cost) FROM visits AS v JOIN items AS i ON v.v = i.v GROUP BY v.kind
-- keys: 3
SELECT COUNT(*) FROM visits WHERE site IN (SELECT name FROM sites WHERE floor > 0)
-- keys: none
SELECT AVG(n) FROM (SELECT u, LEAST(COUNT(*), 9) AS n FROM visits GROUP BY u)
-- keys: none
SELECT kind, sure, COUNT(*) FROM visits GROUP BY ROLLUP (kind, sure)
-- keys: none
WITH a AS (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) SELECT kind, n / SUM(n) OVER () FROM a
-- keys: 3
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, mechanism='laplace') COUNT(*) FROM visits
-- keys: none
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=2, max_rows_per_group=1) kind, COUNT(*) FROM visits GROUP BY kind
-- keys: 3
SELECT name, floor FROM sites ORDER BY floor
-- keys: free
SELECT 1 + 1
-- keys: free
SELECT COUNT(*) FROM visits WHERE age > (SELECT MAX(age) FROM visits WHERE u = 3)
-- keys: none
SELECT COUNT(*) FROM visits QUALIFY row_number() OVER () = 1
-- keys: none
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column=U) COUNT(*) FROM visits
-- keys: none
SELECT age, kids, d, COUNT(*) FROM visits GROUP BY age, kids, d
-- keys: 402600
SELECT ROUND(pay, -2) AS k, COUNT(*) FROM visits WHERE pay IS NOT NULL GROUP BY k
-- keys: 11
SELECT ROUND(pay, -2) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 12
SELECT ROUND(age, -1) AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 11
SELECT ROUND(price, -1) AS k, COUNT(*) FROM visits WHERE price >= 0 GROUP BY k
-- keys: 11
SELECT ROUND(code, -3) AS k, COUNT(*) FROM visits WHERE code IS NOT NULL GROUP BY k
-- keys: 1001
SELECT strftime(d, '%Y-%m') AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 12
SELECT strftime(d, '%a %A %b %B %d %j %y %% %p %H:%M:%S') AS k, COUNT(*) FROM visits GROUP BY k
-- keys: 366
SELECT strftime(ts, '%H') AS k, COUNT(*) FROM visits GROUP BY k
-- keys: private
SELECT COUNT(*) FROM visits WHERE date_trunc('century', DATE '2020-01-01' + INTERVAL 9999 YEAR) > d
-- keys: none
SELECT COUNT(*) FROM visits WHERE CASE WHEN age > 3 THEN 2147483647 / 1e-300 / -9 ELSE 1e300 * 1e300 END > 3
-- keys: none
SELECT COUNT(*) FROM visits WHERE round(NULL, -3) > 3
-- keys: none
