"""Well-known functions that are not on the list: why, and what to write instead; and did-you-mean."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from dpsql.errors import Refused, Span
from dpsql.functions.table import FUNCTIONS

RANDOM = "It answers differently each time, so the noise could be averaged away or bypassed."
CLOCK = "It depends on the clock: the same query would not be the same query tomorrow."
GROWS = "It can make text much larger than its input, so one row could decide how long the query takes."
RAISES = "It fails on some values, and whether it fails would show that such a row exists."
NESTED = "Lists and structs are not columns of private rows."
CONFIGURED = "It reads files, settings or the session, not the row."

REFUSED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("random", "rand", "setseed", "uuid", "gen_random_uuid", "uuidv4", "uuidv7"),
            (RANDOM, "Use a column of the data."),
        ),
        **dict.fromkeys(
            """
            now current_date current_timestamp current_time today get_current_timestamp transaction_timestamp
            localtime localtimestamp currentdate currenttimestamp
            """.split(),
            (CLOCK, "Write the date, such as DATE '2020-01-31', or pass it as a parameter."),
        ),
        **dict.fromkeys(
            ("repeat", "lpad", "rpad", "pad", "format", "printf", "bar"),
            (GROWS, "Use LEFT or SUBSTRING, or do it on the result."),
        ),
        **dict.fromkeys(
            ("regexp_replace", "regexp_extract", "regexp_extract_all", "regexp_split_to_array"),
            (GROWS, "Use regexp_matches, split_part, substring or replace."),
        ),
        **dict.fromkeys(
            """
            chr error factorial make_timestamp make_date to_base unhex from_base64 decode encode json json_extract
            json_extract_string json_value gamma
            """.split(),
            (RAISES, "Use CASE, CAST or a column of the data."),
        ),
        **dict.fromkeys(
            """
            list_value string_split split unnest array_agg list struct_pack map list_transform list_filter
            list_extract range generate_series array struct bracket
            """.split(),
            (NESTED, "Use split_part, substring, or one column for each value."),
        ),
        **dict.fromkeys(
            """
            getenv getvariable current_setting current_schema current_user user version read_text read_blob read_csv
            read_parquet glob pg_typeof nextval currval current_database
            """.split(),
            (CONFIGURED, "Use the tables of the metadata."),
        ),
        **dict.fromkeys(
            ("hash", "md5", "sha1", "sha256", "md5_number"),
            ("A hash of a value reveals the value itself.", "Group by the column."),
        ),
        **dict.fromkeys(
            """
            levenshtein damerau_levenshtein jaccard jaro_similarity jaro_winkler_similarity hamming editdist3
            mismatches
            """.split(),
            ("Its time grows with the product of the lengths of its texts.", "Compare with LIKE or =."),
        ),
        "age": ("Its result is an interval.", "Use date_diff('year', start, end)."),
        "time_bucket": ("Its buckets have no fixed origin here.", "Use date_trunc."),
        "try": ("Its time depends on how many rows fail.", "Use TRY_CAST, NULLIF or CASE."),
        "glob": ("Patterns of files are not matched here.", "Use LIKE."),
        "similarto": ("Its patterns are not checked here.", "Use regexp_full_match."),
        "collate": ("Text is compared byte by byte.", "Use LOWER or UPPER on both sides."),
        "attimezone": ("Timestamps have no time zone here.", "Add an interval, such as INTERVAL 1 HOUR."),
    }
)

SPELLINGS = """
    extract ceiling pow mod len substr position ifnull year month day hour minute second quarter week dayofweek
    dayofyear if iif datediff datetrunc datepart lcase ucase instr epoch isodow count sum avg min max median mode
    quantile_cont stddev variance stddev_pop var_pop covar_pop covar_samp corr approx_count_distinct
    """.split()


def suggest(name: str) -> str | None:
    """The function somebody may have meant."""
    near = difflib.get_close_matches(name.lower(), [*FUNCTIONS, *SPELLINGS], n=1, cutoff=0.72)
    return near[0] if near else None


def unknown(name: str, at: Span | None) -> Refused:
    """The refusal of a function that is not on the list."""
    why, instead = REFUSED.get(name.lower(), ("", ""))
    near = suggest(name)
    return Refused(
        f"{name} is not a function dpsql knows",
        code=107,
        at=at,
        why=why,
        fix=instead or (f"Did you mean {near}?" if near else "See `dpsql help functions` for the list."),
    )
