"""Functions that are run above the release alone, by scratch on noisy and public rows: pure ones, by DuckDB's names.

Nothing here reads a file, a setting or a random number, or changes anything.
"""

from __future__ import annotations

SCRATCH_FUNCTIONS = frozenset(
    """
    add subtract multiply divide mod fmod even gcd lcm factorial gamma lgamma acosh asinh atanh nextafter
    bit_count xor round_even signbit ascii unicode chr ord bar concat_ws format printf initcap instr lpad rpad repeat
    lcase ucase left_grapheme right_grapheme length_grapheme substring_grapheme levenshtein damerau_levenshtein
    editdist3 hamming mismatches jaccard jaro_similarity jaro_winkler_similarity md5 sha1 sha256 nfc_normalize
    strip_accents prefix suffix regexp_extract regexp_extract_all regexp_replace regexp_split_to_array regexp_escape
    string_split string_split_regex split array_extract bin hex unhex to_base base64 from_base64 encode decode hash
    url_encode url_decode make_date make_timestamp make_time time_bucket age to_days to_months to_years to_weeks
    to_hours to_minutes to_seconds to_milliseconds to_microseconds to_timestamp date_add greatest_common_divisor
    least_common_multiple yearweek century list_value list_extract list_element list_slice list_sort list_reverse
    list_distinct list_contains list_position list_concat list_sum list_avg list_min list_max list_count
    list_aggregate array_length len array_to_string range generate_series struct_pack row map map_keys map_values
    struct_extract typeof ifnull
    current_localtimestamp
    """.split()
)

SCRATCH_AGGREGATES = frozenset(
    """
    count sum avg min max median mode quantile quantile_cont quantile_disc percentile_cont percentile_disc stddev
    stddev_pop stddev_samp variance var_pop var_samp covar_pop covar_samp corr regr_slope regr_intercept regr_r2
    regr_count regr_avgx regr_avgy regr_sxx regr_syy regr_sxy skewness kurtosis kurtosis_pop entropy mad sem bool_and
    bool_or count_if countif count_star product fsum kahan_sum sumkahan favg geomean geometric_mean arg_min arg_max
    argmin argmax min_by max_by first last any_value string_agg group_concat listagg list array_agg bit_and bit_or
    bit_xor histogram approx_count_distinct approx_quantile weighted_avg grouping grouping_id
    """.split()
)

SCRATCH_WINDOWS = frozenset(
    """
    row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value fill rank_dense
    """.split()
)
