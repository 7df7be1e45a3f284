"""What δ means, and how large a query's may be.

(ε, δ) lets a mechanism break its promise with probability δ, in any way: one that publishes each unit's rows with
probability δ is (0, δ)-private. With n units that is somebody's rows with a probability of up to n·δ, so δ is far below 1/n.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dpsql.catalog.model import LARGEST_DELTA, Amount, Catalog
from dpsql.errors import BudgetError, Span
from dpsql.metadata.reading import Reader
from dpsql.metadata.tree import Fields

MOST_UNITS = 10**12
SOMEBODY = Fraction(1, 10)  # from this n·δ on, that somebody's rows show is no longer far-fetched


def read_max_delta(reader: Reader, fields: Fields, per_query: Amount) -> Fraction:
    """The largest δ that a query may ask for; only the owner can set another."""
    entry = fields.entries.get("max_delta")
    value = None if entry is None else reader.delta(entry[1], "max_delta")
    most = LARGEST_DELTA if value is None else value
    if per_query.delta is not None and per_query.delta > most and (entry is None or value is not None):
        fix = "lower per_query's delta, or raise max_delta, if you want such a large δ"
        reader.problem(
            fields.at("per_query"), f"per_query's delta is above {_said(most)}, the most one query may ask", fix
        )
    return most


def read_units(reader: Reader, fields: Fields) -> int | None:
    entry = fields.entries.get("units")
    return None if entry is None else reader.integer(entry[1], "units", at_least=1, at_most=MOST_UNITS)


def check_delta(catalog: Catalog, delta: Fraction | None, *, at: Span | None = None) -> None:
    """Whatever asked for it (OPTIONS, SET, connect(), a frame): a δ above the owner's max_delta is refused."""
    if delta is None or delta <= catalog.max_delta:
        return
    raise BudgetError(
        f"a query's δ of {float(delta):g} is too large",
        code=405,
        at=at,
        why=f"With a probability of δ an answer may reveal anything about somebody; one query may ask for at most"
        f" {float(catalog.max_delta):g} here.",
        fix=f"Ask with a smaller one, such as delta = 1e-9. Only the owner can allow more: `max_delta: {float(delta):g}`"
        " in the metadata.",
    )


def meaning(catalog: Catalog) -> Iterator[str]:
    """The budget's δ in words, with the declared number of units where there is one."""
    delta = catalog.budget.total.delta
    if delta is None or not any(not table.public for table in catalog.tables):
        return
    if delta == 0:
        yield "δ = 0 in total: queries that need a δ (private keys, Gaussian noise) are refused"
        return
    chance = f"the guarantee may fail with a probability of {_odds(delta)}"
    one = f"δ = {float(delta):g} in total: for one {catalog.unit} {chance}"
    if catalog.units is None:
        yield f"{one}; declare `units:` to see it for all of them"
        return
    every = min(Fraction(1), delta * catalog.units)
    yield f"{one}, for somebody of {catalog.units:,} with up to {_odds(every)} (units × δ; more if there are more)"


def unlikely_enough(catalog: Catalog) -> Iterator[str]:
    """A warning where the declared number of units makes the budget's δ a large one."""
    delta, units = catalog.budget.total.delta, catalog.units
    if delta is not None and units is not None and delta * units >= SOMEBODY:
        yield (
            f"a δ of {float(delta):g} is not far below one in the {units:,} units: the guarantee may fail for somebody with"
            f" a probability of up to {_odds(min(Fraction(1), delta * units))}"
        )


def _odds(probability: Fraction) -> str:
    return (
        "1"
        if probability == 1
        else f"1 in {round(1 / probability):,}"
        if probability <= SOMEBODY
        else _said(probability)
    )


def _said(value: Fraction) -> str:
    return f"{float(value):.3g}"
