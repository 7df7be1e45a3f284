"""Exact mode (dpsql.testing): the totals as they are."""

from __future__ import annotations

import numpy as np

from dpsql.plan.measurements import Choice, Histogram, TopGroups
from dpsql.plan.ready import AllRows, Ready
from dpsql.plan.vault_query import GROUP, total, total_name
from dpsql.release.choices import answer_exactly
from dpsql.release.exact import Exact, answer_to, answers_of, cells, integers
from dpsql.release.released_rows import ReleasedRows, keys_at


def without_noise(exact: Exact, ready: Ready) -> ReleasedRows:
    """Exact mode: the groups that occur (without keys, the one group), totals as text."""
    stage = ready.stage
    (_, occurring), *_ = answers_of(exact)
    places = np.sort(integers(occurring[GROUP.name]))
    if isinstance(ready.groups, AllRows):
        places = np.zeros(1, dtype=np.int64)
    released = keys_at(ready, places)
    for j, noised in enumerate(stage.noised):
        one, answer = noised.measurement, answer_to(exact, j)
        if isinstance(one, TopGroups):
            continue  # every group is shown, and the statement's own LIMIT is exact
        assert answer is not None
        if isinstance(one, Choice | Histogram):
            answers = answer_exactly(cells(answer), places, one)
            released |= dict(zip(noised.columns(j, len(one.answers)), answers, strict=True))
            continue
        by_group = {int(g): row for row, g in enumerate(integers(answer[GROUP.name]))}
        for i in range(len(noised.draws)):
            column = answer[total(j, i, exact=True).name]
            texts = [column[by_group[g]] if g in by_group else "0" for g in places.tolist()]
            released[total_name(j, i)] = np.array([*texts, None], dtype=object)[:-1]
    return ReleasedRows(stage=stage.number, columns=released, rows=len(places))
