"""Errors in a frame's words. A question is SQL that the user did not write: neither its text nor SQL's advice is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from dpsql.errors import Error

_CALL = re.compile(r" in [A-Z_]+\(\)")
_COLUMN = re.compile(r'column "([^"]+)"')
_DECLARED = re.compile(r"^(?:(?P<name>.+) cannot be a group key|the values of (?P<key>.+) are not public)")
_GIVE = {
    True: "when you make the frame",
    False: "in the metadata",
}
# by code: what to write instead of what SQL would write
_FIXES: Mapping[int, str] = {
    112: "Ask for statistics of all units: count(), mean(), groupby(…).size(); do not group by the unit.",
    115: "Count people with units(), rows with count(), or group by something else.",
    116: "Give delta= when you make the frame or with frame.options(delta=1e-9), or declare the keys.",
    117: 'Group by whole numbers: frame["x"] // 10, or .astype(int), or .round().astype(int).',
    118: "Group by fewer columns, or by coarser values: .dt.month, // 10, or a resample() of longer periods.",
    123: "dpsql never shows rows: order and rank the released rows instead.",
    124: "dpsql never shows rows: order and cut the released rows instead, with sort_values() and head().",
    131: "Give narrower bounds, or clip it: .clip(low, high).",
    133: "Give epsilon= when you make the frame, or ask with frame.options(epsilon=1).",
    134: "Raise ε: frame.options(epsilon=1).",
}
_WHYS: Mapping[int, str] = {
    112: "The rows are private: a question is answered only about all units together.",
    115: "The unit identifies people, so a group or a statistic of identifiers is about single people.",
}
# what is said in SQL's words in the middle of an advice, and what says the same of a frame
_PHRASES: tuple[tuple[str, str], ...] = (
    ("Use CAST or TRY_CAST to make it a number.", "Convert it: .astype(float)."),
    ("Convert both to one type with CAST or TRY_CAST.", "Convert one of them: .astype(float), .astype(str)."),
    ("Write a comparison, such as x > 0.", 'Write a comparison, such as frame["x"] > 0.'),
    ("Write for example QUANTILE_CONT(x, 0.95).", "Write for example quantile(0.95)."),
    (
        "If the metadata has a `version:`, queries that were answered before are free.",
        "The same question of the same frame is free.",
    ),
    (
        "for text COUNT(*) … GROUP BY it, or MODE over declared keys",
        "for text value_counts(), or mode() with declared keys",
    ),
    ("this query returns rows of people", "this question is about rows of people"),
    ("no epsilon is given for this query", "no ε is given for this question"),
)
_SQL = re.compile(
    r"\b(?:SELECT|GROUP BY|ORDER BY|WHERE|HAVING|FROM|CAST|TRY_CAST|CASE|COUNT|AVG|SUM|MODE|QUANTILE_CONT)\b"
)


@contextmanager
def in_frame_words(made: str, *, keywords: bool, given: Sequence[str] = ()) -> Iterator[None]:
    """made: SQL that the user did not write. given: what of it the user wrote: an error that points there stays as it is.
    keywords: the frame was described by keywords, and not by a metadata file."""
    try:
        yield
    except Error as error:
        if error.text is not None and error.text in given and error.text != made:
            _say_where(error, keywords)
            raise
        if error.text is not None and error.at is not None:
            error.text = error.at = None
        _say(error, keywords)
        raise


def _say(error: Error, keywords: bool) -> None:
    _say_where(error, keywords)
    for sql, frame in _PHRASES:
        error.what, error.why, error.fix = (part.replace(sql, frame) for part in (error.what, error.why, error.fix))
    error.what = _CALL.sub(" in this statistic", error.what)
    error.fix = _FIXES.get(error.number, error.fix)
    error.why = _WHYS.get(error.number, error.why)
    if _SQL.search(error.fix):  # an advice of SQL's that nobody has put into a frame's words
        error.fix = f"`dpsql help {error.code}` says more."
    if _SQL.search(error.why):
        error.why = ""


def _say_where(error: Error, keywords: bool) -> None:
    """What is declared is declared where the frame is made, or in its metadata."""
    column = _COLUMN.search(error.what)
    declared = _DECLARED.search(error.what)
    if error.number == 103 and column is not None:
        name = column[1]
        bounds = f"bounds={{{name!r}: (low, high)}}" if keywords else "`lower:` and `upper:`"
        error.fix = f'Give {bounds} {_GIVE[keywords]}, or clip it: frame["{name}"].clip(low, high).'
    elif error.number == 132 and declared is not None and declared["key"]:
        name = declared["key"]
        keys = f"keys={{{name!r}: […]}}" if keywords else "`keys:`"
        error.fix = f"Give {keys} {_GIVE[keywords]}, keep some with isin([…]), or count them: value_counts()."
    elif error.number == 118 and keywords:
        error.fix = _FIXES[118]
