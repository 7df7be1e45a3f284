"""The kernel: what a release reads is checked here, literally, from its relations and the catalog. Nothing that the rules
found out on the way (facts of columns, what they took for proved) is looked at: `certify` reads relations as they will be
printed, or refuses them.

A relation that is certified has three properties.
1. Isolation (isolation.py, joins.py): every row carries one unit, and the rows of a unit are a function of its own rows and
   of public rows.
2. Order (order.py): they are so as a multiset of values, whatever an engine takes first and whichever of two equal values
   it hands on.
3. Totality (totality.py): no expression in it fails, whatever is stored.
"""

from __future__ import annotations

from dpsql.catalog.model import Catalog
from dpsql.domain.types import Kind
from dpsql.ir.nodes import Project
from dpsql.plan.proof import Source
from dpsql.privacy.kernel import order
from dpsql.privacy.kernel.forms import check_forms
from dpsql.privacy.kernel.isolation import isolate
from dpsql.privacy.kernel.owned import Owned, World
from dpsql.privacy.kernel.totality import Totality
from dpsql.privacy.kernel.unproved import unproved


def certify(node: Project, catalog: Catalog) -> Source:
    """The relation that closes a release's input, its first column the unit, certified; 137 where one of its nodes does not
    fit a rule.

    Lemma: removing one unit's rows removes the rows of `node` that carry it and changes no other, as a multiset of values;
    and any GROUP BY, DISTINCT and equality over its columns sees equal values as one. Proof: the rules (plan/proof.py) by
    induction; every REAL column is canonical and none is an INTERVAL. Evaluating it fails on no stored value.
    """
    check_forms(node)
    totality = Totality(catalog)
    ranges = totality.ranges(node)
    isolated = isolate(node, World(catalog))
    if not isinstance(isolated, Owned) or not node.fields or node.fields[0].id not in isolated.units:
        raise unproved(node, "its first column is not the unit")
    canonical = order.canonical(node)
    for f in node.fields:
        if f.type.kind is Kind.REAL and f.id not in canonical:
            raise unproved(node, f'"{f.name}" is a real number that is not canonical')
        if f.type.kind is Kind.INTERVAL:
            raise unproved(node, f'"{f.name}" is an INTERVAL')
    return Source(
        node=node,
        unit=node.fields[0].column(),
        proof=isolated.proof,
        single=isolated.single,
        calls=totality.calls,
        checked=tuple(dict.fromkeys(totality.checked)),
        ranges=tuple(ranges.get(f.id) for f in node.fields),
    )


def is_single(node: Project, catalog: Catalog) -> bool:
    """Whether a relation that ends in its unit has at most one row of each (Source.single)."""
    isolated = isolate(node, World(catalog))
    return isinstance(isolated, Owned) and isolated.single


__all__ = ["certify", "is_single"]
