-- # SELECT lists over the private table t, and a word of the way out
VAR_POP(DISTINCT x)
-- DPSQL-132 at 1:8: VAR_POP(DISTINCT …) is not answered
-- instead: VAR_POP(x)
MEDIAN(DISTINCT x)
-- DPSQL-132 at 1:8: MEDIAN(DISTINCT …) is not answered
-- instead: MEDIAN(x)
BOOL_AND(x > 1)
-- DPSQL-132 at 1:8: BOOL_AND of private rows is not answered
-- instead: COUNT_IF
BOOL_OR(x > 1)
-- DPSQL-132 at 1:8: BOOL_OR of private rows is not answered
-- instead: COUNT_IF
ANY_VALUE(s)
-- DPSQL-132 at 1:8: ANY_VALUE of private rows is not answered
-- instead: MODE
ARRAY_AGG(x)
-- DPSQL-132 at 1:8: LIST of private rows is not answered
-- instead: HISTOGRAM
LIST(x)
-- DPSQL-132 at 1:8: LIST of private rows is not answered
-- instead: HISTOGRAM
STRING_AGG(s, ',')
-- DPSQL-132 at 1:8: STRING_AGG of private rows is not answered
-- instead: APPROX_TOP_K
FIRST(x)
-- DPSQL-132 at 1:8: FIRST of private rows is not answered
-- instead: MIN
ARG_MAX(s, x)
-- DPSQL-132 at 1:8: ARG_MAX of private rows is not answered
-- instead: GROUP BY
BIT_OR(i)
-- DPSQL-132 at 1:8: BIT_OR of private rows is not answered
-- instead: COUNT_IF
PRODUCT(x)
-- DPSQL-132 at 1:8: PRODUCT of private rows is not answered
-- instead: EXP(SUM(LN(x)))
SKEWNESS(x)
-- DPSQL-132 at 1:8: SKEWNESS of private rows is not answered
-- instead: VAR_POP
APPROX_QUANTILE(x, 0.5)
-- DPSQL-132 at 1:8: APPROX_QUANTILE of private rows is not answered
-- instead: QUANTILE_CONT
APPROX_COUNT_DISTINCT(s)
-- DPSQL-132 at 1:8: APPROX_COUNT_DISTINCT of private rows is not answered
-- instead: COUNT(DISTINCT x)
AVG(x, contribution_bounds_per_group => (0, 9))
-- DPSQL-132 at 1:8: AVG has no bounds per unit
-- instead: SUM(x, contribution_bounds_per_group
COUNT(x, contribution_bounds_per_group => (1, 9))
-- DPSQL-119 at 1:8: COUNT needs bounds from 0 to at least 1
-- instead: (0, 5)
MIN(x, 3)
-- DPSQL-132 at 1:8: MIN and MAX of several values are not answered
-- instead: QUANTILE_CONT
MODE(s)
-- DPSQL-132 at 1:13: the values of s are not public
-- instead: keys
MODE(x)
-- DPSQL-132 at 1:13: the values of x are not public
-- instead: FLOOR
MIN(s)
-- DPSQL-132 at 1:12: text has no order statistics
-- instead: number or a date
HISTOGRAM(s)
-- DPSQL-132 at 1:18: the values of s are not public
-- instead: keys
HISTOGRAM(x, 5000)
-- DPSQL-131 at 1:18: x has more public values than a histogram has bins
-- instead: bins
MEDIAN(free)
-- DPSQL-103 at 1:15: column "free" has no bounds
-- instead: upper
VAR_POP(free)
-- DPSQL-103 at 1:16: column "free" has no bounds
-- instead: upper
MAX(free)
-- DPSQL-103 at 1:12: column "free" has no bounds
-- instead: upper
MEDIAN(s)
-- DPSQL-105 at 1:8: text has no quantiles: their candidates are numbers or dates
-- instead: MEDIAN(x)
QUANTILE_CONT(x, [])
-- DPSQL-105 at 1:8: the list of fractions is empty
-- instead: [0.25, 0.75]
QUANTILE_DISC(x, [NULL])
-- DPSQL-105 at 1:8: a quantile's fraction must be a constant
-- instead: 0.95
QUANTILE_CONT(x, 1.5)
-- DPSQL-105 at 1:22: a quantile's fraction must be a number from 0 to 1 with at most four decimals
-- instead: 0.95
QUANTILE_CONT(x, 0.123456)
-- DPSQL-105 at 1:22: a quantile's fraction must be a number from 0 to 1 with at most four decimals
-- instead: 0.95
QUANTILE_CONT(x, i)
-- DPSQL-105 at 1:25: a quantile's fraction must be a constant
-- instead: 0.95
APPROX_TOP_K(i, 50)
-- DPSQL-105 at 1:21: 50 of 8 public values cannot be chosen
-- instead: Ask for
CORR(x, s)
-- DPSQL-105 at 1:8: CORR needs numbers, not text
-- instead: CORR(y, x)
COUNT_IF(x)
-- DPSQL-105 at 1:8: COUNT_IF takes one condition
-- instead: COUNT_IF(x > 10)
HISTOGRAM(x, [3, 2])
-- DPSQL-105 at 1:18: bins must be 1 to 999 numbers in ascending order
-- instead: [10, 20, 50]
SUM(x, bounds => (0, 3))
-- DPSQL-119 at 1:15: no function has an argument called bounds
-- instead: called bounds
QUANTILE_CONT(x, 0.5, contribution_bounds_per_row => (0, 3))
-- DPSQL-119 at 1:30: no function has an argument called contribution_bounds_per_row
-- instead: LEAST(GREATEST(x
