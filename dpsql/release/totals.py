"""Step 11, release: exact totals go in, and what comes out has noise. With private_keys.py and limits.py, which come before
it, this is the one door out.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpsql.errors import InternalError
from dpsql.mechanisms.order_statistics import choose_most
from dpsql.plan.measurements import Choice, Counted, Histogram, TopGroups, shares
from dpsql.plan.ready import Ready
from dpsql.plan.render.finish import column_names
from dpsql.plan.stages import Draw
from dpsql.plan.vault_query import GROUP, VaultColumn, total, total_name
from dpsql.release.along_order import released_along
from dpsql.release.choices import choose_all, chooser, matrices
from dpsql.release.exact import Array, Exact, Integers, answer_to, answers_of, cells, integers
from dpsql.release.noise import add_noise
from dpsql.release.released_rows import ReleasedRows, all_keys, keys_at
from dpsql.release.without_noise import without_noise


def release(exact: Exact, ready: Ready, *, noiseless: bool = False) -> ReleasedRows:
    """Add the plan's noise to the totals of every group, those without rows among them (zero before the noise).

    noiseless: the plan is one of dpsql.testing.exact, which shows the groups that occur.
    """
    if ready.stage.is_empty:
        return all_keys(ready.stage)
    if noiseless:
        return without_noise(exact, ready)
    stage, every = ready.stage, np.arange(ready.count, dtype=np.int64)
    columns: dict[str, Array] = {}
    for question, weights in answers_of(exact):
        for j in question.answers:
            one = stage.noised[j].measurement
            if isinstance(one, TopGroups):
                every = _top(_dense(weights, total(j, 0, exact=False), ready.count), one, stage.noised[j].draw)
    for j, noised in enumerate(stage.noised):
        one, answer = noised.measurement, answer_to(exact, j)
        if isinstance(one, TopGroups):
            continue
        if answer is None:  # nothing moves it, or there is no group
            columns |= {name: np.zeros(len(every), dtype=np.int64) for name in column_names(j, noised)}
        elif isinstance(one, Choice):
            chosen = choose_all(cells(answer), every, one, noised.draw)
            columns |= dict(zip(noised.columns(j, len(one.answers)), chosen, strict=True))
        elif isinstance(one, Histogram):
            bins = _bins(answer, every, one)
            noisy = add_noise(bins.ravel(), noised.draw).reshape(bins.shape)
            columns |= {name: noisy[:, n] for n, name in enumerate(noised.columns(j, len(one.answers)))}
        elif noised.running is not None:
            totals = _dense(answer, total(j, 0, exact=False), ready.count)
            columns[total_name(j, 0)] = released_along(totals, noised, add_noise)
        else:
            for i, draw in enumerate(noised.draws):
                totals = _dense(answer, total(j, i, exact=False), ready.count)[every]
                columns[total_name(j, i)] = add_noise(totals, draw)
    return ReleasedRows(stage=stage.number, columns={**keys_at(ready, every), **columns}, rows=len(every))


def _top(scores: Integers, one: TopGroups, draw: Draw) -> Integers:
    """The groups that are released, in key order: chosen by their exact counts."""
    epsilon, row = draw.epsilon / shares(one), scores[np.newaxis, :]
    return np.sort(choose_most(row, one.count, by=chooser(draw), epsilon=epsilon, sensitivity=draw.reach)[0])


def _dense(answer: Mapping[str, Array], column: VaultColumn, count: int) -> Integers:
    """A total for every group; 0 where the vault has none."""
    at = _ordinals(answer, count)
    totals = np.zeros(count, dtype=np.int64)
    totals[at] = integers(answer[column.name])
    return totals


def _ordinals(answer: Mapping[str, Array], count: int) -> Integers:
    """Where the vault's groups stand among all of them; anything but a set of known groups is a bug, and stops here."""
    at = integers(answer[GROUP.name])
    inside = bool(((at >= 0) & (at < count)).all()) if len(at) else True
    seen = np.zeros(count, dtype=bool)
    if inside:
        seen[at] = True
    if not inside or np.count_nonzero(seen) != len(at):
        raise InternalError("the vault answered for groups that are not the plan's")
    return at


def _bins(answer: Mapping[str, Array], groups: Integers, one: Counted) -> Integers:
    """Groups x bins, as the vault counted them."""
    nothing = np.zeros((0, one.candidates.count), dtype=np.int64)
    return np.concatenate(list(matrices(cells(answer), groups, one.candidates)) or [nothing])
