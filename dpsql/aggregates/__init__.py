"""The aggregates over private rows: one file each, and this explicit tuple.

To add one: a file with an `Aggregate` (its result type and how it is made of measurements), a line here, a case file.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.aggregates.aggregate import Aggregate
from dpsql.aggregates.avg import AVG
from dpsql.aggregates.count import COUNT, COUNT_IF
from dpsql.aggregates.covariance import COVARIANCES
from dpsql.aggregates.extremes import EXTREMES
from dpsql.aggregates.histogram import HISTOGRAM
from dpsql.aggregates.mode import APPROX_TOP_K, MODE
from dpsql.aggregates.quantiles import QUANTILES
from dpsql.aggregates.regression import REGRESSIONS
from dpsql.aggregates.sum import SUM
from dpsql.aggregates.variance import VARIANCES

AGGREGATES: tuple[Aggregate, ...] = (
    COUNT,
    COUNT_IF,
    SUM,
    AVG,
    *VARIANCES,
    *COVARIANCES,
    *REGRESSIONS,
    *QUANTILES,
    *EXTREMES,
    MODE,
    APPROX_TOP_K,
    HISTOGRAM,
)

BY_NAME: Mapping[str, Aggregate] = {aggregate.name: aggregate for aggregate in AGGREGATES}

__all__ = ["AGGREGATES", "BY_NAME", "Aggregate"]
