"""What to write instead of the SQL that the allow-list leaves out: (what it is, the way out)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

Words = tuple[str, str]

_NESTED = "dpsql has neither lists, structs nor maps as values; name plain columns."
_STARS = "Name the columns."
_WINDOWS = "Use ROW_NUMBER() OVER (PARTITION BY …) and QUALIFY, or GROUP BY."
_FROM = "Name a table of the metadata or one of your own."

# By the name of sqlglot's class.
NODES: Mapping[str, Words] = MappingProxyType(
    {
        "Lateral": ("LATERAL", "Write a JOIN on a subquery that uses no outer columns."),
        **dict.fromkeys(("Unnest", "Explode"), ("UNNEST", _NESTED)),
        "Pivot": ("PIVOT", "Write GROUP BY with CASE, or pivot the data frame."),
        "TableSample": ("SAMPLE", "Leave it out: noise already covers what sampling would."),
        "Columns": ("COLUMNS(…)", _STARS),
        "Lambda": ("lambdas", _NESTED),
        "Bracket": ("subscripts", _NESTED),
        "Slice": ("slices", _NESTED),
        "Struct": ("structs", _NESTED),
        **dict.fromkeys(("Map", "ToMap"), ("maps", _NESTED)),
        "Dot": ("fields of a value", _NESTED),
        "AtTimeZone": ("AT TIME ZONE", "Timestamps have no zone here; add an INTERVAL."),
        "Collate": ("COLLATE", "Texts are compared byte by byte; use LOWER(x)."),
        "Glob": ("GLOB", "Write LIKE or regexp_matches(text, 'pattern')."),
        "SimilarTo": ("SIMILAR TO", "Write regexp_matches(text, 'pattern')."),
        "IntervalSpan": ("intervals of two parts", "Write INTERVAL 1 YEAR + INTERVAL 2 MONTH."),
        "BitwiseAnd": ("bit operations", "Use arithmetic: x % 2."),
        **dict.fromkeys(("BitwiseOr", "BitwiseXor"), ("bit operations", "Use arithmetic.")),
        "BitwiseLeftShift": ("bit operations", "Use arithmetic: x * 4."),
        "BitwiseRightShift": ("bit operations", "Use arithmetic: x // 4."),
        "Rand": ("random numbers", "Leave it out: dpsql adds the noise itself."),
        **dict.fromkeys(("CurrentTime", "Localtime"), ("the current time of day", "Pass it as a parameter.")),
        **dict.fromkeys(("ReadCSV", "ReadParquet"), ("reading files", _FROM)),
        "GenerateSeries": ("generated tables", "Write VALUES, or CREATE TABLE and INSERT."),
        "Parameter": ("@ parameters", "Write ?, $1 or $name."),
        "SessionParameter": ("session variables", "Write ?, $1 or $name."),
        **dict.fromkeys(("ParseJSON", "JSONExtract", "JSONExtractScalar"), ("JSON", "dpsql has no JSON.")),
        **dict.fromkeys(("PropertyEQ", "Kwarg"), ("named arguments", "Write the argument without its name.")),
        "Command": ("this statement", "Write SELECT …."),
    }
)

# By "Class.argument", then by "*.argument".
ARGUMENTS: Mapping[str, Words] = MappingProxyType(
    {
        "Distinct.on": ("DISTINCT ON", _WINDOWS),
        "Select.locks": ("FOR UPDATE", "Leave it out: nothing is written."),
        "Select.into": ("SELECT INTO", "Write CREATE TABLE name AS SELECT …."),
        "Select.kind": ("SELECT AS", "Write SELECT."),
        **dict.fromkeys(("Select.hint", "Table.hints"), ("hints", "Leave it out.")),
        **dict.fromkeys(
            ("Select.laterals", "*.laterals"), ("LATERAL", "Write a JOIN on a subquery that uses no outer columns.")
        ),
        **dict.fromkeys(
            ("LimitOptions.percent", "Limit.limit_options"), ("LIMIT in per cent", "Write LIMIT and a number of rows.")
        ),
        "LimitOptions.with_ties": ("WITH TIES", "Write QUALIFY RANK() OVER (ORDER BY …) <= n."),
        "With.recursive": ("WITH RECURSIVE", "Write the steps one by one."),
        "With.search": ("WITH … SEARCH", "Leave it out."),
        "With.cycle": ("WITH … CYCLE", "Leave it out."),
        "Table.only": ("ONLY", "Leave it out."),
        **dict.fromkeys(
            ("Table.when", "Table.version"), ("AT (VERSION …)", "A dataset has one version, which the owner names.")
        ),
        "Table.ordinality": ("WITH ORDINALITY", "Use ROW_NUMBER() OVER (ORDER BY …)."),
        "*.pivots": ("PIVOT", "Write GROUP BY with CASE, or pivot the data frame."),
        "*.sample": ("SAMPLE", "Leave it out: noise already covers what sampling would."),
        "*.by_name": ("UNION BY NAME", "Select the columns in the same order on both sides."),
        "Star.except_": ("* EXCLUDE", _STARS),
        "Star.replace": ("* REPLACE", _STARS),
        "Star.rename": ("* RENAME", _STARS),
        "Join.match_condition": ("ASOF JOIN", "Join with ON, then QUALIFY ROW_NUMBER() … = 1."),
        "Join.hint": ("join hints", "Leave it out."),
        "In.field": ("IN a bare name", "Write IN (SELECT … FROM …), or IN (value, …)."),
        "In.unnest": ("UNNEST", _NESTED),
        "Between.symmetric": ("BETWEEN SYMMETRIC", "Write the lower end first."),
        "Group.totals": ("WITH TOTALS", "Write GROUP BY ROLLUP(…)."),
        "Ordered.with_fill": ("WITH FILL", "Leave it out."),
        **dict.fromkeys(("Cast.format", "TryCast.format"), ("CAST … FORMAT", "Write strptime(text, 'format').")),
        "DataType.nested": ("nested types", _NESTED),
        "Window.first": ("KEEP", "Leave it out."),
        "RegexpLike.flag": (
            "flags of patterns",
            "To ignore case, write regexp_matches(lower(x), 'pattern'), or ILIKE.",
        ),
        "RegexpReplace.modifiers": ("flags of patterns", "To ignore case, write lower(x) for x."),
        "Trunc.decimals": ("digits of TRUNC", "Write ROUND(x, 1), or FLOOR(x * 10) / 10."),
    }
)
