"""What a view computes as it is read: whether it may fail on a stored value, or answer otherwise than its rows say.

A view's query is kept as a tree, in which every call says which function it is. Lemma: what is let pass answers on all
values, and on rows as a multiset. Proof: its nodes are of a list (NODES); a function is one that PostgreSQL itself declares
leakproof (its answer alone tells of its arguments: it never fails), or compares two numbers, or is an aggregate of a list
(SAFE), none of which fails or sees the order of rows. What fits neither is named, and no private table is read through it.
Anybody with the rights of a superuser may call a function leakproof; PostgreSQL's own word is in the rows of its catalog
that the first transaction of the cluster wrote (xmin 1), and nobody since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

# What a view's query may consist of, by the names of PostgreSQL 14 to 18 (before 16 some were shorter).
NODES = (
    "QUERY RTE RANGETBLENTRY RTEPERMISSIONINFO ALIAS FROMEXPR RANGETBLREF JOINEXPR TARGETENTRY COMMONTABLEEXPR"
    " SETOPERATIONSTMT SORTGROUPCLAUSE GROUPINGSET GROUPINGFUNC AGGREF SUBLINK VAR CONST OPEXPR FUNCEXPR DISTINCTEXPR"
    " NULLIFEXPR SCALARARRAYOPEXPR BOOLEXPR NULLTEST BOOLEANTEST CASE CASEEXPR WHEN CASEWHEN CASETESTEXPR COALESCE"
    " COALESCEEXPR MINMAX MINMAXEXPR RELABELTYPE COLLATE COLLATEEXPR ARRAY ARRAYEXPR SQLVALUEFUNCTION COERCEVIAIO PARAM"
).split()
SAFE = (
    "count min max bool_and bool_or every sum(smallint) sum(integer) sum(bigint) avg(smallint) avg(integer) avg(bigint)"
    " numeric_eq numeric_ne numeric_lt numeric_le numeric_gt numeric_ge enum_eq enum_ne enum_lt enum_le enum_gt enum_ge"
).split()

# Of the views (and what is under them) given: what may fail. A subquery that is a value may have two rows; of conversions
# through text those to text cannot fail; DISTINCT ON takes a row of the engine's choice, and a group one of the texts that a
# collation takes for equal; a recursion may never end.
_COMPUTED = r"""
    WITH tree AS (
        SELECT r.ev_action::text AS text FROM pg_class c JOIN pg_rewrite r ON r.ev_class = c.oid
        WHERE c.oid = ANY ($1::bigint[]::oid[]) AND c.relkind = 'v'
    )
    SELECT min(what) FROM (
        SELECT 'the function ' || p.oid::regprocedure::text
        FROM tree, regexp_matches(tree.text, ':(?:funcid|opfuncid|aggfnoid|winfnoid) (\d+)', 'g') AS m (part)
        JOIN pg_proc p ON p.oid = (m.part)[1]::oid
        WHERE p.provolatile = 'v' OR NOT (p.proleakproof AND p.xmin = '1'::xid OR p.pronamespace = 'pg_catalog'::regnamespace
            AND (p.proname = ANY ($2::text[]) OR p.oid::regprocedure::text = ANY ($2::text[])))
        UNION ALL
        SELECT 'an expression (' || (m.part)[1] || ')'
        FROM tree, regexp_matches(tree.text, '(?:^|[ (])\{([A-Z_]+)', 'g') AS m (part)
        WHERE (m.part)[1] <> ALL ($3::text[])
        UNION ALL
        SELECT CASE WHEN text ~ ':hasDistinctOn true' THEN 'DISTINCT ON' WHEN text ~ ':cterecursive true' THEN 'a recursion'
            ELSE 'a subquery that is a value' END
        FROM tree WHERE text ~ ':hasDistinctOn true|:cterecursive true|\{SUBLINK :subLinkType [3-9]'
        UNION ALL
        SELECT 'groups of texts that a collation takes for equal'
        FROM tree JOIN pg_collation c ON NOT c.collisdeterministic
            AND tree.text ~* ('coll[a-z]* \(?[o0-9 ]*\m' || c.oid || '\M')
        WHERE tree.text ~ '\{(SORTGROUPCLAUSE|AGGREF)'
        UNION ALL
        SELECT 'a conversion of text'
        FROM tree, regexp_matches(tree.text, ':resulttype (\d+) :resultcollid \d+ :coerceformat', 'g') AS m (part)
        WHERE (m.part)[1] NOT IN ('25', '1043')
    ) AS computed (what)
"""


def computed(connection: psycopg.Connection[Any], under: list[int]) -> str | None:
    """What a view's query computes that may fail, or differ; None of tables, and of views that compute nothing such.
    under: the oids of the relations that it is made of, itself among them."""
    row = connection.execute(_COMPUTED, [under, SAFE, NODES]).fetchone()
    return None if row is None or row[0] is None else f"a view with {row[0]}"
