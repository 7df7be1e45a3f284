"""The fingerprint of a plan: equal for plans that ask the same of the same data."""

from __future__ import annotations

import hashlib

from dpsql.plan.stages import ReleasePlan


def plan_fingerprint(plan: ReleasePlan) -> str:
    """SHA-256 over the stages: inputs, keys, measures, caps, noise. Ids are given out in the order of binding, so equal
    statements have equal plans; what scratch does afterwards is not part of it."""
    text = repr((plan.dataset, plan.accounting, plan.exact, plan.stages, plan.cost))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
