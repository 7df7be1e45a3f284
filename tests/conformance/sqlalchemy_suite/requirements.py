"""What the suite may ask of the dialect: everything that a database with one's own tables can do."""

from __future__ import annotations

from typing import Any

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

# Not has_temp_table: a temporary table is its connection's alone, and those tests may ask another of the pool.
OPEN = """
    create_table_as create_temp_table_as table_ddl_if_exists index_ddl_if_exists uuid_data_type table_value_constructor
    boolean_col_expressions nullsordering intersect except_ window_functions window_range window_range_numeric
    window_range_non_numeric ctes ctes_with_update_delete ctes_with_values ctes_on_dml empty_inserts tuple_in
    tuple_in_w_empty views schemas implicit_default_schema temp_table_names temporary_views
    create_or_replace_view comment_reflection comment_reflection_full_unicode schema_reflection view_column_reflection
    schema_create_delete inline_check_constraint_reflection check_constraint_reflection unicode_ddl datetime_interval
    datetime_literals timestamp_microseconds datetime_historic date_historic autocommit isolation_level array_type json_type
    precision_numerics_enotation_small cast_precision_numerics_many_significant_digits server_defaults
    expression_server_defaults aggregate_order_by infinity_floats update_from delete_from mod_operator_as_percent_sign
    computed_columns computed_columns_virtual supports_distinct_on regexp_match regexp_replace fetch_first
    fetch_no_order_by supports_bitwise_or supports_bitwise_and supports_bitwise_not supports_bitwise_xor
    supports_bitwise_shift reflects_pk_names foreign_key_constraint_name_reflection
    datetime_timezone precision_numerics_many_significant_digits precision_numerics_retains_significant_digits
    percent_schema_names datetime_timezone_historic time_timezone fetch_percent fetch_offset_with_options order_by_collation
    sane_rowcount_w_returning nvarchar_types float_or_double_precision_behaves_generically skip_autocommit_rollback
    indexes_check_column_order temp_table_comment_reflection
    order_by_label_with_expression fetch_expression indexes_with_expressions reflect_indexes_with_expressions
""".split()


class Requirements(SuiteRequirements):
    @property
    def independent_connections(self) -> Any:
        """The connections of one engine share tables; those of two engines do not."""
        return exclusions.closed()

    def get_order_by_collation(self, config: Any) -> str:
        return "NOCASE"

    def get_isolation_levels(self, config: Any) -> dict[str, Any]:
        return {"default": "SERIALIZABLE", "supported": ["SERIALIZABLE", "AUTOCOMMIT"]}


def _open(name: str) -> None:
    setattr(Requirements, name, property(lambda self: exclusions.open()))


for _name in OPEN:
    if hasattr(SuiteRequirements, _name):
        _open(_name)
