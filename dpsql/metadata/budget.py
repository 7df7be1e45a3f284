"""Reading the budget: the dataset's cap, one query's defaults, the analysts' caps, the accounting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from dpsql.catalog.model import Amount, BudgetSpec, Catalog
from dpsql.errors import CatalogError
from dpsql.metadata.reading import ONE_QUERY, Reader, described
from dpsql.metadata.tree import Fields, Scalar, printable, tree_of

DELTA_OF_A_NUMBER = Fraction(1, 10**6)
NOTHING = Amount()


def read_budget(reader: Reader, fields: Fields, *, needed: bool) -> BudgetSpec:
    """budget: {epsilon, delta, per}. Private tables need one; a budget without a delta has none: δ = 0."""
    entry = fields.entries.get("budget")
    if entry is None:
        if needed:
            fix = "add budget: {epsilon: 10, delta: 1e-6}, the most that all queries together may cost"
            reader.problem(fields.where, "the metadata has no budget", fix)
        return BudgetSpec(total=NOTHING, capped=False)
    total = reader.amount(entry[1], "budget", "per")
    if total is None or not isinstance(entry[1], Fields):
        return BudgetSpec(total=NOTHING)
    if "epsilon" not in entry[1].entries:
        reader.problem(entry[0], "the budget has no epsilon", "write budget: {epsilon: 10, delta: 1e-6}")
    if "delta" not in entry[1].entries:
        total = replace(total, delta=Fraction(0))
    return BudgetSpec(total=total, per=_per(reader, entry[1]))


def _per(reader: Reader, fields: Fields) -> str | None:
    entry = fields.entries.get("per")
    if entry is None:
        return None
    if isinstance(entry[1], Scalar) and entry[1].value == "month":
        return "month"
    reader.problem(entry[0], f"per must be month, not {described(entry[1])}", "write per: month, or leave it out")
    return None


def read_per_query(reader: Reader, fields: Fields) -> Amount:
    entry = fields.entries.get("per_query")
    return NOTHING if entry is None else reader.amount(entry[1], "per_query", most=ONE_QUERY) or NOTHING


def read_max_per_query(reader: Reader, fields: Fields, default: Amount) -> Amount:
    """The most that a single query may cost; a default above it would be refused every time."""
    entry = fields.entries.get("max_per_query")
    most = None if entry is None else reader.amount(entry[1], "max_per_query")
    if entry is None or most is None or not isinstance(entry[1], Fields):
        return NOTHING
    if not entry[1].entries:
        reader.problem(entry[0], "max_per_query caps nothing", "write max_per_query: {epsilon: 2}, or leave it out")
    for what, one, limit in (("epsilon", default.epsilon, most.epsilon), ("delta", default.delta, most.delta)):
        if one is not None and limit is not None and one > limit:
            fix = "lower per_query, which is what a query costs by default, or raise max_per_query"
            reader.problem(fields.at("per_query"), f"per_query's {what} is above max_per_query's", fix)
    return most


def read_accounting(reader: Reader, fields: Fields) -> str:
    entry = fields.entries.get("accounting")
    if entry is None:
        return "approx"
    value = entry[1].value if isinstance(entry[1], Scalar) else None
    if value in ("approx", "zcdp"):
        return str(value)
    fix = "write approx (epsilon and delta add up) or zcdp (rho adds up)"
    reader.problem(entry[0], f"accounting must be approx or zcdp, not {described(entry[1])}", fix)
    return "approx"


def read_analysts(reader: Reader, fields: Fields) -> Mapping[str, Amount] | None:
    """Caps by analyst; `ana: {}` is an analyst without a cap. None: anybody may ask."""
    entry = fields.entries.get("analysts")
    listed = None if entry is None else reader.fields(entry[1], "analysts", None, "write {ana: {epsilon: 4}}")
    if listed is None:
        return None
    amounts: dict[str, Amount] = {}
    for name, (where, tree) in listed.entries.items():
        if reader.is_name(name, where, "the analyst"):
            amounts[name] = reader.amount(tree, f"analyst {printable(name)}") or NOTHING
    return MappingProxyType(amounts)


def read_delta_keys(reader: Reader, fields: Fields, budget: BudgetSpec, accounting: str) -> Fraction | None:
    """The part of a zCDP budget's delta that is kept for private keys; half of it unless said."""
    total = budget.total.delta
    if accounting == "zcdp" and budget.capped and not total:
        fix = "zcdp needs a delta above 0: budget: {epsilon: 10, delta: 1e-6}"
        reader.problem(fields.at("budget"), "the budget has no delta", fix)
    entry = fields.entries.get("delta_keys")
    if entry is None:
        return None
    if accounting != "zcdp":
        reader.problem(entry[0], "delta_keys is for accounting: zcdp", "remove it, or add accounting: zcdp")
        return None
    value = reader.delta(entry[1], "delta_keys")
    if value is not None and total is not None and value >= total:
        reader.problem(entry[0], "delta_keys is not below the budget's delta", "make it smaller: half is usual")
    return value


def with_budget(catalog: Catalog, budget: object) -> Catalog:
    """The catalog with the budget given to connect(): {epsilon, delta, per}, or a number: ε with a δ cap of 1e-6.

    A budget that the owner wrote is never changed: then anything but the same budget is a CatalogError.
    """
    given = budget_of(budget)
    if catalog.budget.capped and catalog.budget != given and catalog.budget.total != NOTHING:
        reader = Reader()
        fix = "the owner has set it: leave out budget="
        reader.problem("budget", "the metadata already has another budget", fix)
        raise CatalogError(reader.problems)
    return replace(catalog, budget=given)


def budget_of(budget: object) -> BudgetSpec:
    """A validated budget from what connect(budget=) was given."""
    reader = Reader()
    tree = tree_of({"budget": budget}, reader.problems)
    assert isinstance(tree, Fields)
    entry = tree.entries["budget"][1]
    if isinstance(entry, Scalar):
        epsilon = reader.epsilon(entry, "budget")
        spec = BudgetSpec(total=Amount(epsilon=epsilon, delta=DELTA_OF_A_NUMBER))
    else:
        spec = read_budget(reader, tree, needed=True)
    if reader.problems:
        raise CatalogError(reader.problems)
    return spec
