"""What EXPLAIN says of one release: what of a unit counts, which groups there are, what is measured and with what noise."""

from __future__ import annotations

from fractions import Fraction

from dpsql.plan.stages import Key, Limit, NoisyStage
from dpsql.report.plan_report import ChosenAmong, LimitReport, MeasurementReport, StageReport, shown

SHOWN = 6  # keys that a line of the story names
CHOOSERS = {"permute-and-flip": "permute-and-flip", "exponential": "the exponential mechanism"}
NOISE_GROWS = " The noise below assumes the smallest; it grows with the limit."


def with_article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count != 1 else ''}"


def _verb(verb: str, count: int) -> str:
    return f"{verb}s" if count == 1 else verb


# --- limits -----------------------------------------------------------------------------------------------------------


def limits(report: StageReport, unit: str) -> str:
    """What of one unit counts, and what becomes of more: rows where rows are measured, groups where units are."""
    stage, limit, who = report.stage, report.stage.limit, with_article(unit)
    if stage.source.single:
        return f"Each {unit} has one row"
    if not report.measured:
        return "Group keys alone"
    limited = {m.limited_by for m in report.measured}
    sentences: list[tuple[str, str]] = []
    if "rows" in limited:
        sentences.append(_rows(stage, who))
    if stage.keys and "groups" in limited:
        sentences.append(_groups(limit, who))
    if "different values" in limited:
        sentences.append(_values(report, who))
    if not sentences and "values" in limited:
        sentences.append((f"what {who}'s values add up to is limited", ""))
    (first, more), *others = sentences or [(f"{who} counts as one", "")]
    because = f"{limit.because}: {_pair(limit)}" if _is_pair(limit) else limit.because
    lines = [f"{first} ({because})" if because else first, more, *(text for pair in others for text in pair)]
    return f"Contribution limit: {'; '.join(line for line in lines if line)}"


def _rows(stage: NoisyStage, who: str) -> tuple[str, str]:
    """Under norm 2 a unit whose rows are spread over groups may count more of them in full, so no share is said."""
    if "rows" in stage.limit.auto:
        return f"how many rows of {who} count is left to the data{_over(stage)}", "if there are more, each counts less"
    most = stage.limit.rows.most
    share = f" (half, with {2 * most:,} rows)" if all(one.ball == 1 for one in stage.noised) else ""
    return (
        f"{_counted(most, 'row')} of {who} {_verb('count', most)}{_over(stage)}",
        f"if there are more, each counts less{share}",
    )


def _groups(limit: Limit, who: str) -> tuple[str, str]:
    most = limit.groups.most
    if "groups" in limit.auto:
        return f"in how many groups {who} counts as one is left to the data", "in more groups, it counts less in each"
    return (
        f"{who} counts as one in {_counted(most, 'group')}",
        f"in more groups, it counts less in each (half, in {2 * most:,})",
    )


def _values(report: StageReport, who: str) -> tuple[str, str]:
    over = _over(report.stage)
    if "rows" in report.stage.limit.auto:
        return f"how many different values of {who} count is left to the data{over}", ""
    most = max(m.most_values for m in report.measured)
    head = f"{_counted(most, 'different value')} of {who} {_verb('count', most)}{over}"
    return head, "if there are more, some are drawn"


def _over(stage: NoisyStage) -> str:
    return ", over all groups together" if stage.keys else ""


def _is_pair(limit: Limit) -> bool:
    """Whether the number of rows was made of two: groups and rows in each."""
    return "rows_in_group" in limit.said and limit.rows.most > limit.said["rows_in_group"]


def _pair(limit: Limit) -> str:
    return f"{_counted(limit.said['groups'], 'group')} with {_counted(limit.said['rows_in_group'], 'row')}"


def choice_of_limit(limit: LimitReport, unit: str, *, after: str = NOISE_GROWS) -> str:
    """What is left to the data, and what it costs."""
    whose = with_article(unit)
    match limit.of:
        case "rows":
            what = f"how many rows of {whose} count"
        case "groups":
            what = f"in how many groups {whose} counts as one"
        case name:
            what = f"how much {whose} may add to {name}, all its values together"
    if limit.choice.as_in is not None:
        return f"As in release {limit.choice.as_in + 1}: {what}."
    if limit.chosen is not None:
        return f"The data chose {what}: {limit.chosen:,.10g}, for ε = {limit.epsilon:.6g}."
    return (
        f"The data choose {what}: {limit.smallest:,.10g}, twice that, … {limit.largest:,.10g}, by "
        f"{limit.choice.draw.mechanism} with ε = {limit.epsilon:.6g}.{after}"
    )


# --- keys -------------------------------------------------------------------------------------------------------------


def keys(stage: NoisyStage) -> list[str]:
    lines = [_key(key) for key in stage.keys]
    if len(stage.keys) > 1 and stage.public_keys:
        lines.append(f"{stage.combinations:,} combinations of keys are released.")
    return lines


def _key(key: Key) -> str:
    name = key.field.name or "a key"
    if key.values is None:
        return f"{name}: private keys; rare ones are withheld."
    others = (
        "rows with other values are dropped" if None in key.values else "rows with NULL or other values are dropped"
    )
    count = len(key.values)
    if not count:
        return (
            f"{name}: none of the public keys ({key.because or 'inferred'}) passes the conditions: nothing is released."
        )
    return (
        f"{name}: {count:,} public key{'s' if count != 1 else ''}{_named(key)}"
        f" ({key.because or 'inferred'}). {'All are' if count != 1 else 'It is'} released, even without rows; {others}."
    )


def _named(key: Key) -> str:
    """The keys, if they are few."""
    assert key.values is not None
    if len(key.values) > SHOWN:
        return ""
    type_ = key.field.type
    texts = ["NULL" if v is None else str(v) if isinstance(v, str) else shown(type_, Fraction(v)) for v in key.values]
    return f": {', '.join(texts)}"


def selection(report: StageReport, unit: str) -> list[str]:
    """Partition selection: how many units a key needs, if these have no other key, and if they have ten."""
    last, (first, *others) = report.stage.selection, report.stage.selections or (None,)
    if first is None or last is None:
        return []
    who = with_article(unit)
    line = f"Partition selection: the threshold is about {float(last.units):.0f} units that have no other key"
    line += " left" if others else ""
    if len(last.votes) >= 10:
        line += f", or {last.at_least / last.votes[9]:.0f} that have ten each"
    line += f". {who.capitalize()} has one vote, split over its keys, and the votes have {last.draw.mechanism} noise."
    lines = [line]
    if others:
        common = f"with a threshold of about {float(first.units):.0f} units"
        lines.append(f"Before that, a first round finds common keys, {common}; these take no votes from the others.")
    return [
        *lines,
        f"{who.capitalize()} with more than {_counted(len(last.votes), 'key')} does not vote.",
        f"A key that only one {unit} has is released with a probability of at most {float(report.delta_keys):.3g}.",
    ]


# --- measurements -----------------------------------------------------------------------------------------------------


def measurement(m: MeasurementReport, unit: str, *, keys: bool) -> list[str]:
    """Its line, and what its cumulative sums gain. keys: whether there are several groups."""
    if m.among is not None:
        return [_choice(m, m.among, unit, " in all groups together" if keys else "")]
    if m.mechanism == "summed":
        return [f"{m.name}: {noise(m)}."]
    norm = " (Euclidean norm)" if m.norm == 2 and keys else ""
    moves = f"one {unit} changes {'all groups together' if keys else 'it'} by at most {m.sensitivity:.6g}{norm}"
    if m.ends:
        ends = "distances" if m.ends == 1 else "squared distances, and their product,"
        together = " in all groups together" if keys else " together"
        moves = f"measured as the {ends} of values to both bounds; one {unit} changes them{together} by at most "
        moves += f"{m.sensitivity:.6g}"
    return [f"{m.name}: {moves}{_bounds(m, unit)}; {noise(m)}.", *_cumulative(m)]


def _cumulative(m: MeasurementReport) -> list[str]:
    one = m.cumulative
    if one is None:
        return []
    names = " and ".join(name or "a key" for name in one.along)
    return [
        f"Measured for its cumulative sums along {names}, {one.strategy}: 95 % confidence interval of each "
        f"±{one.half_width:.6g}, RMSE {one.rmse:.6g} (sums of plain groups: {one.plain_rmse:.6g})."
    ]


def _bounds(m: MeasurementReport, unit: str) -> str:
    if m.unit_bounds is not None:
        low, high = map(float, m.unit_bounds.ends())
        held = f"{low:g} to {high:g} ({m.because}: less noise than by rows)"
        return f"; what one {unit} adds to a group has clipping bounds {held}"
    if m.bounds is None or (m.limited_by == "values" and not m.because):
        return ""
    return f"; clipping bounds {m.bounds}{f' ({m.because})' if m.because else ''}"


def noise(m: MeasurementReport) -> str:
    interval = f"95 % confidence interval ±{m.half_width:.6g}"
    match m.mechanism:
        case "none":
            return "no noise, because it depends on no unit's rows"
        case "exact":
            return "exact, without noise"
        case "summed":
            return f"no noise of its own: it is the sum of its parts, {interval}"
        case _:
            agreed = " once the levels agree" if m.agreeing else ""
            return f"{m.mechanism} noise of scale {m.scale:.6g}, {interval}{agreed}"


def _choice(m: MeasurementReport, among: ChosenAmong, unit: str, together: str) -> str:
    """How fine the grid of candidates is, and how far off the choice may be, in rows."""
    grid = f"{among.count:,} {'candidates' if among.of == 'candidates' else f'public {among.of}'}"
    grid += f", one every {among.apart}" if among.apart else ""
    rounds = f" in {among.rounds} rounds" if among.rounds > 1 else ""
    end = ""
    if among.inside:
        end = f" It is chosen {among.inside:,.0f} rows inside the end, so that it is nobody's own value."
    return (
        f"{m.name}: chosen by {CHOOSERS.get(m.mechanism, 'exact weights')}{rounds} among {grid}{_bounds(m, unit)};"
        f" one {unit} moves ranks{together} by at most {_counted_rows(m.sensitivity)};"
        f" in 95 % of all runs within {_counted_rows(m.half_width)} of the best; how far that is in values depends on "
        f"the data.{end}"
    )


def _counted_rows(rows: float) -> str:
    return f"{rows:,.0f} row{'s' if round(rows) != 1 else ''}"
