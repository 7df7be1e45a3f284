"""pandas' verbs that a private frame does not have, and why. `dpsql help pandas` is made of it, and so are refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Without:
    """names: of frames, columns and groups alike. why: in a reader's words; instead: what to write."""

    names: tuple[str, ...]
    why: str
    instead: str


def _without(names: str, why: str, instead: str) -> Without:
    return Without(tuple(names.split()), why, instead)


WITHOUT: tuple[Without, ...] = (
    _without(
        "head tail sample iloc iat at xs take get item values array to_numpy to_list tolist list to_records items"
        " iterrows itertuples squeeze nlargest nsmallest style info select first last nth get_group asof to_frame",
        "shows rows or single values, which are never shown here",
        'statistics: mean(), groupby("k").size(), value_counts(), hist()',
    ),
    _without(
        "loc",
        "selects rows by their labels, which are never shown here",
        "frame[condition], frame[condition]['x'].mean()",
    ),
    _without(
        "to_clipboard to_csv to_dict to_excel to_feather to_hdf to_html to_iceberg to_json to_latex to_markdown to_orc"
        " to_parquet to_pickle to_sql to_stata to_string to_xarray to_xml",
        "writes private rows",
        'the same of an answer: frame.groupby("k").size().to_parquet("n.parquet")',
    ),
    _without(
        "apply transform combine combine_first eval update insert isetitem pop",
        "runs Python over rows, or changes them",
        'expressions: assign(hours=frame["minutes"] / 60), .map({…}), .where(…), or SQL text',
    ),
    _without(
        "unique drop_duplicates duplicated factorize keys groups indices ngroups",
        "lists the values that are there, and one may be one person's",
        "value_counts(), which withholds rare values; nunique()",
    ),
    _without(
        "idxmax idxmin argmax argmin argsort searchsorted first_valid_index last_valid_index rank is_unique"
        " is_monotonic_increasing is_monotonic_decreasing hasnans empty any all compare equals nbytes memory_usage",
        "says where single rows are, or whether there is one",
        "max(), min(), quantile(); the number of rows that meet a condition: frame[condition].count()",
    ),
    _without(
        "cumsum cumprod cummax cummin cumcount ngroup shift diff pct_change rolling expanding ewm ffill bfill interpolate"
        " sort_values sort_index reindex reindex_like asfreq at_time between_time truncate repeat",
        "needs an order of rows, which private rows do not have",
        'of an answer: frame.resample("ME", on="day").size().df().cumsum(); in SQL windows over one unit\'s rows',
    ),
    _without(
        "index set_index reset_index axes T transpose stack unstack swaplevel droplevel reorder_levels rename_axis"
        " set_axis align level explode melt pivot flags set_flags attrs sparse",
        "needs an index of rows, which are never shown here",
        "pivot_table(), crosstab(), or the methods of answer.df()",
    ),
    _without(
        "skew kurt kurtosis sem prod product autocorr corrwith ohlc dot",
        "is not measured",
        "mean(), var(), std(), quantile(); corr() and cov() of columns",
    ),
    _without(
        "plot boxplot",
        "draws rows",
        'an answer draws itself with its intervals: frame["x"].hist().plot(), frame.groupby("k").mean().plot()',
    ),
    _without(
        "add radd sub subtract rsub mul multiply rmul div divide rdiv truediv rtruediv floordiv rfloordiv mod rmod pow rpow"
        " eq ne lt le gt ge divmod rdivmod",
        "is an operator of columns here",
        "+ - * / // % ** == != < <= > >=",
    ),
    _without(
        "add_prefix add_suffix convert_dtypes infer_objects select_dtypes join case_when tz_convert tz_localize to_period"
        " to_timestamp dtype ndim cat struct from_arrow from_dict from_records",
        "has not been needed yet",
        "assign(), rename(), merge(), astype(); dtypes shows the schema",
    ),
)
WHY: Mapping[str, Without] = {name: each for each in reversed(WITHOUT) for name in each.names}

WITHOUT_DT = (
    "as_unit ceil freq is_leap_year is_month_end is_month_start is_quarter_end is_quarter_start is_year_end is_year_start"
    " isocalendar microsecond nanosecond round time timetz to_period to_pydatetime tz tz_convert tz_localize unit"
)
WITHOUT_STR = (
    "capitalize casefold cat center count decode encode extract extractall findall get_dummies index isalnum isalpha isascii"
    " isdecimal isdigit islower isnumeric isspace istitle isupper join ljust normalize pad partition removeprefix"
    " removesuffix repeat rfind rindex rjust rpartition rsplit slice_replace swapcase title translate wrap zfill"
)
