"""The weighed rows of units, where one row of a unit counts: few units have more, and only theirs are weighed."""

from __future__ import annotations

from dpsql.plan.balls import FULL, Ball
from dpsql.plan.render.ball import weights
from dpsql.plan.render.pieces import enters_all
from dpsql.plan.render.printer import Parts, Printer
from dpsql.plan.render.sums import Weighing, weighed
from dpsql.plan.render.votes import votes_of_pairs
from dpsql.plan.vault_query import Step


def each_unit(
    printer: Printer,
    ball: Ball,
    rows_: str,
    group: tuple[str, ...],
    weighing: Weighing,
    parts: Parts,
    *,
    votes: bool = False,
) -> list[Step]:
    """Steps that end in `rows`: a group's columns, weights e<n> and pieces p<j>, where one row of a unit counts. votes: and
    votes, and whether they are a unit's (units), in rows of their own for those of several rows.

    Most units are expected to have one row: theirs are taken as they are grouped, and only the others' are read again.

    Lemma: these are the rows with the weights that `weights` gives them. Proof: n is the number of the unit's rows. Where it
    is 1, any_value of a column is that of the one row (NULL if that is), and its weight is 2^20: 1·2^20 ≤ T·2^20, and
    q = 1 ≤ R. Units of n > 1 are in the other branches alone, all their rows with them.
    """
    assert ball.squared >= 1
    keys, names, dialect = ", ".join(group), list(weighing.counts), printer.dialect
    pieces = [f"p{j}" for j, one in parts if not enters_all(one)]
    values = [f"{dialect.any_of_one(name)} AS {name}" for name in (*group, *pieces)]
    more = dialect.semi_join("every", "(SELECT u FROM units WHERE n > 1) AS more", "every.u = more.u")
    steps = [
        printer.step("every", rows_),
        Step("units", f"SELECT u, count(*) AS n, {', '.join(values)} FROM every GROUP BY u", stored=True),
        Step("several", f"SELECT every.* FROM {more}", stored=True),
        Step("weights", weights(ball, weighing.counts, "several", dialect, by_group=True, group=keys)),
    ]
    zero, one_ = dialect.integer(0), dialect.integer(1)
    light, heavy = [f"{dialect.integer(FULL)} AS {name}" for name in names] + pieces, names + pieces
    of_one, none = [], []
    if votes:
        (selection,) = printer.stage.selections
        of_one = [f"{dialect.integer(selection.votes[0])} AS votes", f"{one_} AS units"]
        none = [f"{zero} AS votes", f"{zero} AS units"]
        steps.append(Step("pairs", f"SELECT DISTINCT u, {keys} FROM several", stored=True))
        steps.append(Step("voting", votes_of_pairs(printer.stage, selection.votes, printer.tables)))
    each = [
        f"SELECT {', '.join([keys, *of_one, *light])} FROM units WHERE n = 1",
        f"SELECT {', '.join([keys, *none, *heavy])} FROM {weighed('several')}",
    ]
    if votes:
        nothing = [f"{zero} AS {name}" for name in names] + [f"NULL AS {piece_}" for piece_ in pieces]
        each.append(f"SELECT {', '.join([keys, 'votes', one_, *nothing])} FROM pairs JOIN voting ON pairs.u = voting.u")
    return [*steps, Step("rows", " UNION ALL ".join(each))]
