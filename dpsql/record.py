"""The release record of a plan: what a sceptical reader asks of every answer, ready for the ledger and for publication."""

from __future__ import annotations

from dpsql.plan.stages import Key, Measure, Noise, ReleasePlan, Stage
from dpsql.result import MeasurementReport, privacy_report
from dpsql.version import VERSION

NEIGHBOURS = "one unit added or removed, with all its rows in every table"


def release_record(plan: ReleasePlan, *, version: str | None) -> dict[str, object]:
    """Plain values for JSON; amounts that are reckoned with again are exact, as text. A function of the plan alone.

    version: of the data, as the owner states it.
    """
    report = privacy_report(plan)
    measures = [measure for stage in plan.stages for measure in stage.measures]
    return {
        "dataset": plan.dataset,
        "version": version,
        "unit": plan.unit,
        "neighbours": NEIGHBOURS,
        "accounting": plan.accounting,
        "implementation": f"dpsql {VERSION}",
        "measurements": [_measurement(*each) for each in zip(report.measurements, measures, strict=True)],
        "stages": [_stage(stage) for stage in plan.stages],
        "threshold_units": report.threshold,
        "noise": [
            _noise(stage, measure, noise)
            for stage in plan.stages
            for measure, noise in zip(stage.measures, stage.noises, strict=True)
            if noise.mechanism not in ("none", "exact")
        ],
    }


def _measurement(m: MeasurementReport, measure: Measure) -> dict[str, object]:
    axis = measure.axis
    return {
        "name": m.name,
        "mechanism": m.mechanism,
        "sensitivity": m.sensitivity,
        "scale": m.scale,
        "half_width_95": m.half_width,
        "max_groups": m.max_groups,
        "max_rows": m.max_rows,
        "lower": None if axis is None else float(axis.low * axis.step),
        "upper": None if axis is None else float(axis.high * axis.step),
        "bounds": m.because,
        "stage": m.stage,
    }


def _stage(stage: Stage) -> dict[str, object]:
    threshold = stage.threshold
    return {
        "tables": list(stage.tables),
        "max_groups": stage.bounding.max_groups,
        "max_rows": stage.bounding.max_rows,
        "caps": stage.bounding.because,
        "keys": [_key(key) for key in stage.keys],
        "threshold_units": None if threshold is None else float(threshold.units),
        "delta_keys": None if threshold is None else str(threshold.delta),
        "min_units": stage.min_units,
    }


def _key(key: Key) -> dict[str, object]:
    public = key.values is not None
    return {"name": key.field.name, "public": public, "count": len(key.values or ()) or None, "because": key.because}


def _noise(stage: Stage, measure: Measure, noise: Noise) -> dict[str, object]:
    """On its own grid, in integers: per-group sensitivity and scale, and in how many groups one unit may show."""
    return {
        "mechanism": noise.mechanism,
        "sensitivity": noise.sensitivity,
        "scale": noise.scale,
        "max_groups": stage.bounding.max_groups,
        "epsilon": str(noise.epsilon),
        "choices": measure.weight if measure.chosen else 1,
    }
