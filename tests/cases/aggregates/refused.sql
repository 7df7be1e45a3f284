-- code, a SELECT list over the private table `t`, and a word of the way out
132 SUM(DISTINCT x) | SUM(x)
132 AVG(DISTINCT x) | AVG(x)
132 VAR_POP(DISTINCT x) | VAR_POP(x)
132 MEDIAN(DISTINCT x) | MEDIAN(x)
132 BOOL_AND(x > 1) | COUNT_IF
132 BOOL_OR(x > 1) | COUNT_IF
132 ANY_VALUE(s) | MODE
132 ARRAY_AGG(x) | HISTOGRAM
132 LIST(x) | HISTOGRAM
132 STRING_AGG(s, ',') | APPROX_TOP_K
132 FIRST(x) | MIN
132 ARG_MAX(s, x) | GROUP BY
132 BIT_OR(i) | COUNT_IF
132 PRODUCT(x) | EXP(SUM(LN(x)))
132 SKEWNESS(x) | VAR_POP
132 APPROX_QUANTILE(x, 0.5) | QUANTILE_CONT
132 APPROX_COUNT_DISTINCT(s) | COUNT(DISTINCT x)
132 AVG(x, contribution_bounds_per_group => (0, 9)) | SUM(x, contribution_bounds_per_group
119 COUNT(x, contribution_bounds_per_group => (1, 9)) | (0, 5)
132 MIN(x, 3) | QUANTILE_CONT
132 MODE(s) | keys
132 MODE(x) | FLOOR
132 MIN(s) | number or a date
132 HISTOGRAM(s) | keys
131 HISTOGRAM(x, 5000) | bins
103 MEDIAN(free) | upper
103 VAR_POP(free) | upper
103 MAX(free) | upper
105 MEDIAN(s) | MEDIAN(x)
105 QUANTILE_CONT(x, []) | [0.25, 0.75]
105 QUANTILE_DISC(x, [NULL]) | 0.95
105 QUANTILE_CONT(x, 1.5) | 0.95
105 QUANTILE_CONT(x, 0.123456) | 0.95
105 QUANTILE_CONT(x, i) | 0.95
105 APPROX_TOP_K(i, 50) | Ask for
105 CORR(x, s) | CORR(y, x)
105 COUNT_IF(x) | COUNT_IF(x > 10)
105 HISTOGRAM(x, [3, 2]) | [10, 20, 50]
119 SUM(x, bounds => (0, 3)) | called bounds
119 QUANTILE_CONT(x, 0.5, contribution_bounds_per_row => (0, 3)) | LEAST(GREATEST(x
