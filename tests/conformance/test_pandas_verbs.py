"""The table of `dpsql help pandas` has every verb of pandas, and is true."""

from __future__ import annotations

import pandas as pd
import pytest

from dpsql.frames import PrivateFrame
from dpsql.frames.accessors import Moments, Texts
from dpsql.frames.column import PrivateColumn
from dpsql.frames.groups import PrivateGroups
from dpsql.frames.pandas_names import WHY, WITHOUT_DT, WITHOUT_STR

# Older ones have verbs that are gone, and miss others.
of_its_pandas = pytest.mark.skipif(int(pd.__version__.split(".")[0]) < 3, reason="the table is of pandas 3")


def verbs(of: object) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_")}


ASKED = {
    "frame": (verbs(pd.DataFrame), PrivateFrame),
    "column": (verbs(pd.Series), PrivateColumn),
    "groups": (
        verbs(pd.core.groupby.DataFrameGroupBy) | verbs(pd.core.groupby.SeriesGroupBy),  # type: ignore[attr-defined]
        PrivateGroups,
    ),
}
OTHER_KINDS = verbs(PrivateFrame) | verbs(PrivateColumn) | {"name"}


@of_its_pandas
@pytest.mark.parametrize("kind", ASKED)
def test_every_verb_is_there_or_has_a_reason(kind: str) -> None:
    theirs, ours = ASKED[kind]
    missing = theirs - verbs(ours) - set(WHY) - OTHER_KINDS
    assert not missing, "say why in dpsql/frames/pandas_names.py, or add it"


@of_its_pandas
def test_what_no_kind_has_is_told_why() -> None:
    everywhere = verbs(PrivateFrame) & verbs(PrivateColumn)
    assert not everywhere & set(WHY), "it is there"
    known = verbs(pd.DataFrame) | verbs(pd.Series) | ASKED["groups"][0] | {"case_when", "select", "from_arrow"}
    assert not set(WHY) - known, "pandas has no such verb"


@of_its_pandas
def test_parts_of_dates_and_texts() -> None:
    dates, texts = pd.Series(pd.to_datetime(["2020-01-01"])), pd.Series(["a"])
    for theirs, ours, without in ((verbs(dates.dt), Moments, WITHOUT_DT), (verbs(texts.str), Texts, WITHOUT_STR)):
        assert not theirs - verbs(ours) - set(without.split())
        assert not verbs(ours) & set(without.split())


@pytest.mark.parametrize("name", ["head", "apply", "rolling", "unique", "to_csv", "iloc", "plot", "idxmax"])
def test_a_refusal_says_why_and_what_instead(name: str) -> None:
    data = pd.DataFrame({"person": [1, 2], "age": [3, 4]})
    frame = PrivateFrame(data, unit="person", rows_per_unit=1, budget=1, dataset="verbs")
    with pytest.raises(AttributeError) as caught:
        getattr(frame, name)
    assert WHY[name].why in str(caught.value) and WHY[name].instead in str(caught.value)
