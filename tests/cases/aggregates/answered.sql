-- # every aggregate, as SELECT lists over the private table t(u, k, s, x, i, d, p)
-- # exact mode answers what DuckDB does, within: 0 (identical), a number, or cell (one candidate step); test_exact.py has the rest
COUNT(*), COUNT(x), COUNT(i), COUNT(DISTINCT u)
-- within 0
COUNT(*) FILTER (WHERE i > 3), COUNT(x) FILTER (WHERE i > 3), COUNT(DISTINCT u) FILTER (WHERE x > 2)
-- within 0
COUNT(DISTINCT s), COUNT(DISTINCT i), COUNT(DISTINCT d), COUNT(DISTINCT p), COUNT(DISTINCT x)
-- within 0
SUM(DISTINCT i), AVG(DISTINCT i), SUM(DISTINCT p), SUM(DISTINCT x)
-- within 1e-6
SUM(DISTINCT i) FILTER (WHERE x > 2), AVG(DISTINCT p) FILTER (WHERE i > 3)
-- within 1e-6
COUNT(DISTINCT s) FILTER (WHERE i > 3)
-- within 0
COUNT(DISTINCT (s, i))
-- within 0
COUNT_IF(x > 2), COUNT_IF(i > 3) FILTER (WHERE x > 2)
-- within count
SUM(i), SUM(p)
-- within 0
SUM(x > 2), SUM(i > 3) FILTER (WHERE x > 2)
-- within 0
SUM(x), AVG(x), AVG(i), SUM(x + i)
-- within 1e-9
VAR_POP(x), VAR_SAMP(x), STDDEV_POP(x), STDDEV_SAMP(x), STDDEV(x), VARIANCE(x)
-- within 1e-6
VAR_POP(i), VAR_SAMP(p), STDDEV(i) FILTER (WHERE x > 2)
-- within 1e-6
AVG(x), SUM(x), VAR_POP(x), COUNT(x)
-- within 1e-6
COVAR_POP(x, i), COVAR_SAMP(x, i), CORR(x, i), CORR(i, x)
-- within 1e-6
REGR_SLOPE(x, i), REGR_INTERCEPT(x, i), REGR_R2(x, i), REGR_COUNT(x, i)
-- within 1e-6
REGR_AVGX(x, i), REGR_AVGY(x, i), REGR_SXX(x, i), REGR_SYY(x, i), REGR_SXY(x, i)
-- within 1e-6
MEDIAN(x), QUANTILE_CONT(x, 0.9), QUANTILE_DISC(x, 0.25)
-- within cell
MEDIAN(i), QUANTILE_CONT(i, 0.9), QUANTILE_DISC(i, 0.25), QUANTILE(i, 0.5)
-- within cell
PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY i), PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY i)
-- within cell
PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY x DESC)
-- within cell
MEDIAN(p), QUANTILE_DISC(p, 0.75)
-- within cell
MIN(x), MAX(x), MIN(i), MAX(i), MIN(p), MAX(p)
-- within cell
MEDIAN(x) FILTER (WHERE i > 3), MIN(i) FILTER (WHERE x > 2)
-- within cell
MIN(d), MAX(d), QUANTILE_DISC(d, 0.5), MEDIAN(d)
-- within days
QUANTILE_CONT(x, [0.1, 0.5, 0.9])
-- within list
QUANTILE_DISC(i, [0, 0.25, 0.5, 0.75, 1])
-- within list
HISTOGRAM(i)
-- within map
HISTOGRAM(x, [1, 2.5, 4])
-- within bins
