-- number of public key combinations (or private, none, free) | statement
none | SELECT COUNT(*) FROM visits
3 | SELECT kind, COUNT(*) FROM visits GROUP BY kind
100 | SELECT age, COUNT(*) FROM visits GROUP BY age
11 | SELECT kids, COUNT(*) FROM visits GROUP BY kids
3 | SELECT flag, COUNT(*) FROM visits GROUP BY flag
2 | SELECT sure, COUNT(*) FROM visits GROUP BY sure
3 | SELECT site, COUNT(*) FROM visits GROUP BY site
9 | SELECT grade, COUNT(*) FROM visits GROUP BY grade
31 | SELECT day, COUNT(*) FROM visits GROUP BY day
366 | SELECT d, COUNT(*) FROM visits GROUP BY d
3 | SELECT tier, COUNT(*) FROM visits GROUP BY tier
private | SELECT tag, COUNT(*) FROM visits GROUP BY tag
private | SELECT ts, COUNT(*) FROM visits GROUP BY ts
private | SELECT price, COUNT(*) FROM visits GROUP BY price
6 | SELECT kind, sure, COUNT(*) FROM visits GROUP BY kind, sure
private | SELECT kind, tag, COUNT(*) FROM visits GROUP BY kind, tag
18 | SELECT kind, sure, site, COUNT(*) FROM visits GROUP BY ALL
3 | SELECT kind, COUNT(*) FROM visits GROUP BY 1
2 | SELECT CASE WHEN age < 18 THEN 'minor' ELSE 'adult' END AS k, COUNT(*) FROM visits GROUP BY k
3 | SELECT CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' END AS k, COUNT(*) FROM visits GROUP BY k
2 | SELECT CASE kind WHEN 'a' THEN 1 ELSE 0 END AS k, COUNT(*) FROM visits GROUP BY k
4 | SELECT IF(sure, kind, 'none') AS k, COUNT(*) FROM visits GROUP BY k
10 | SELECT FLOOR(age / 10) AS k, COUNT(*) FROM visits GROUP BY k
10 | SELECT age // 10 AS k, COUNT(*) FROM visits GROUP BY k
6 | SELECT FLOOR(kids / 2) AS k, COUNT(*) FROM visits GROUP BY k
12 | SELECT CEIL(pay / 100) AS k, COUNT(*) FROM visits GROUP BY k
12 | SELECT ROUND(pay / 100) AS k, COUNT(*) FROM visits GROUP BY k
12 | SELECT FLOOR(price / 10) AS k, COUNT(*) FROM visits GROUP BY k
12 | SELECT CAST(pay / 100 AS INTEGER) AS k, COUNT(*) FROM visits GROUP BY k
7 | SELECT age % 7 AS k, COUNT(*) FROM visits GROUP BY k
1 | SELECT EXTRACT(year FROM d) AS k, COUNT(*) FROM visits GROUP BY k
12 | SELECT EXTRACT(month FROM d) AS k, COUNT(*) FROM visits GROUP BY k
7 | SELECT EXTRACT(dow FROM d) AS k, COUNT(*) FROM visits GROUP BY k
24 | SELECT EXTRACT(hour FROM ts) AS k, COUNT(*) FROM visits GROUP BY k
4 | SELECT quarter(d) AS k, COUNT(*) FROM visits GROUP BY k
12 | SELECT monthname(d) AS k, COUNT(*) FROM visits GROUP BY k
7 | SELECT dayname(d) AS k, COUNT(*) FROM visits GROUP BY k
12 | SELECT year(d) * 100 + month(d) AS k, COUNT(*) FROM visits GROUP BY k
12 | SELECT date_trunc('month', d) AS k, COUNT(*) FROM visits GROUP BY k
53 | SELECT date_trunc('week', d) AS k, COUNT(*) FROM visits GROUP BY k
4 | SELECT date_trunc('quarter', d) AS k, COUNT(*) FROM visits GROUP BY k
744 | SELECT date_trunc('hour', ts) AS k, COUNT(*) FROM visits GROUP BY k
31 | SELECT CAST(ts AS DATE) AS k, COUNT(*) FROM visits GROUP BY k
12 | SELECT last_day(d) AS k, COUNT(*) FROM visits GROUP BY k
366 | SELECT d - DATE '2020-01-01' AS k, COUNT(*) FROM visits GROUP BY k
3 | SELECT LEFT(kind, 1) AS k, COUNT(*) FROM visits GROUP BY k
4 | SELECT UPPER(site) AS k, COUNT(*) FROM visits GROUP BY k
10 | SELECT kind || '-' || site AS k, COUNT(*) FROM visits GROUP BY k
4 | SELECT SUBSTRING(site, 1, 1) AS k, COUNT(*) FROM visits GROUP BY k
4 | SELECT COALESCE(site, 'none') AS k, COUNT(*) FROM visits GROUP BY k
3 | SELECT LENGTH(site) AS k, COUNT(*) FROM visits GROUP BY k
2 | SELECT kind IN ('a', 'b') AS k, COUNT(*) FROM visits GROUP BY k
2 | SELECT age BETWEEN 18 AND 65 AS k, COUNT(*) FROM visits GROUP BY k
2 | SELECT kids IS NULL AS k, COUNT(*) FROM visits GROUP BY k
2 | SELECT kind LIKE 'a%' AS k, COUNT(*) FROM visits GROUP BY k
2 | SELECT sure AND age > 3 AS k, COUNT(*) FROM visits GROUP BY k
11 | SELECT LEAST(age, 10) AS k, COUNT(*) FROM visits GROUP BY k
10 | SELECT GREATEST(age, 90) AS k, COUNT(*) FROM visits GROUP BY k
51 | SELECT ABS(age - 50) AS k, COUNT(*) FROM visits GROUP BY k
2 | SELECT SIGN(age) AS k, COUNT(*) FROM visits GROUP BY k
11 | SELECT CAST(kids AS VARCHAR) AS k, COUNT(*) FROM visits GROUP BY k
3 | SELECT tag, COUNT(*) FROM visits WHERE tag IN ('x', 'y', 'z') GROUP BY tag
2 | SELECT tag, COUNT(*) FROM visits WHERE tag = 'x' OR tag = 'y' GROUP BY tag
1 | SELECT kind, COUNT(*) FROM visits WHERE kind IN ('a', 'q') GROUP BY kind
48 | SELECT age, COUNT(*) FROM visits WHERE age BETWEEN 18 AND 65 GROUP BY age
10 | SELECT age, COUNT(*) FROM visits WHERE age > 10 AND age <= 20 GROUP BY age
5 | SELECT v, COUNT(*) FROM visits WHERE v BETWEEN 1 AND 5 GROUP BY v
10 | SELECT d, COUNT(*) FROM visits WHERE d BETWEEN DATE '2020-01-01' AND DATE '2020-01-10' GROUP BY d
11 | SELECT FLOOR(pay) AS k, COUNT(*) FROM visits WHERE pay BETWEEN 0 AND 10 GROUP BY k
1 | SELECT flag, COUNT(*) FROM visits WHERE flag GROUP BY flag
3 | SELECT site, COUNT(*) FROM visits WHERE site IS NOT NULL GROUP BY site
3 | SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind HAVING n > 10 ORDER BY n DESC LIMIT 2
3 | SELECT kind, AVG(pay), SUM(price), COUNT(kids) FROM visits GROUP BY kind
none | SELECT SUM(pay * age) FROM visits
none | SELECT SUM(LEAST(GREATEST(free_pay, 0), 100)) FROM visits
none | SELECT AVG(free_pay) FROM visits WHERE free_pay BETWEEN 0 AND 50
none | SELECT SUM(CASE WHEN sure THEN price ELSE 0 END) FROM visits
none | SELECT COUNT(DISTINCT u) FROM visits
3 | SELECT DISTINCT kind FROM visits
3 | SELECT kind, COUNT(*) FROM adults GROUP BY kind
3 | SELECT s.floor, COUNT(*) FROM visits AS v JOIN sites AS s ON v.site = s.name GROUP BY s.floor
none | SELECT SUM(cost) FROM items
3 | SELECT v.kind, SUM(i.cost) FROM visits AS v JOIN items AS i ON v.v = i.v GROUP BY v.kind
none | SELECT COUNT(*) FROM visits WHERE site IN (SELECT name FROM sites WHERE floor > 0)
none | SELECT AVG(n) FROM (SELECT u, LEAST(COUNT(*), 9) AS n FROM visits GROUP BY u)
none | SELECT kind, sure, COUNT(*) FROM visits GROUP BY ROLLUP (kind, sure)
3 | WITH a AS (SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind) SELECT kind, n / SUM(n) OVER () FROM a
none | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, mechanism='laplace') COUNT(*) FROM visits
3 | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=2, max_rows_per_group=1) kind, COUNT(*) FROM visits GROUP BY kind
free | SELECT name, floor FROM sites ORDER BY floor
free | SELECT 1 + 1
none | SELECT COUNT(*) FROM visits WHERE age > (SELECT MAX(age) FROM visits WHERE u = 3)
none | SELECT COUNT(*) FROM visits QUALIFY row_number() OVER () = 1
none | SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column=U) COUNT(*) FROM visits
402600 | SELECT age, kids, d, COUNT(*) FROM visits GROUP BY age, kids, d
11 | SELECT ROUND(pay, -2) AS k, COUNT(*) FROM visits WHERE pay IS NOT NULL GROUP BY k
12 | SELECT ROUND(pay, -2) AS k, COUNT(*) FROM visits GROUP BY k
11 | SELECT ROUND(age, -1) AS k, COUNT(*) FROM visits GROUP BY k
11 | SELECT ROUND(price, -1) AS k, COUNT(*) FROM visits WHERE price >= 0 GROUP BY k
1001 | SELECT ROUND(code, -3) AS k, COUNT(*) FROM visits WHERE code IS NOT NULL GROUP BY k
12 | SELECT strftime(d, '%Y-%m') AS k, COUNT(*) FROM visits GROUP BY k
366 | SELECT strftime(d, '%a %A %b %B %d %j %y %% %p %H:%M:%S') AS k, COUNT(*) FROM visits GROUP BY k
private | SELECT strftime(ts, '%H') AS k, COUNT(*) FROM visits GROUP BY k
none | SELECT COUNT(*) FROM visits WHERE date_trunc('century', DATE '2020-01-01' + INTERVAL 9999 YEAR) > d
none | SELECT COUNT(*) FROM visits WHERE CASE WHEN age > 3 THEN 2147483647 / 1e-300 / -9 ELSE 1e300 * 1e300 END > 3
none | SELECT COUNT(*) FROM visits WHERE round(NULL, -3) > 3
