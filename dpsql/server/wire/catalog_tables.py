"""PostgreSQL's catalog as DuckDB tables: its columns, what of it has rows, and the functions that clients call over it."""

from __future__ import annotations

# name: columns, each with the letter of its type. Written from PostgreSQL 15's documentation, as far as clients ask.
TYPES = {"i": "INTEGER", "s": "VARCHAR", "b": "BOOLEAN", "f": "REAL", "I": "INTEGER[]", "S": "VARCHAR[]", "l": "BIGINT"}
TABLES = {
    "pg_namespace": "oid:i nspname:s nspowner:i nspacl:S",
    "pg_class": "oid:i relname:s relnamespace:i reltype:i reloftype:i relowner:i relam:i relfilenode:i reltablespace:i "
    "relpages:i reltuples:f relallvisible:i reltoastrelid:i relhasindex:b relisshared:b relpersistence:s relkind:s "
    "relnatts:i relchecks:i relhasrules:b relhastriggers:b relhassubclass:b relrowsecurity:b relforcerowsecurity:b "
    "relispopulated:b relreplident:s relispartition:b relrewrite:i relfrozenxid:i relminmxid:i relacl:S reloptions:S "
    "relpartbound:s relhasoids:b xmin:i",
    "pg_attribute": "attrelid:i attname:s atttypid:i attstattarget:i attlen:i attnum:i attndims:i attcacheoff:i "
    "atttypmod:i attbyval:b attstorage:s attalign:s attnotnull:b atthasdef:b atthasmissing:b attidentity:s "
    "attgenerated:s attisdropped:b attislocal:b attinhcount:i attcollation:i attacl:S attoptions:S attfdwoptions:S "
    "attmissingval:s attcompression:s",
    "pg_type": "oid:i typname:s typnamespace:i typowner:i typlen:i typbyval:b typtype:s typcategory:s typispreferred:b "
    "typisdefined:b typdelim:s typrelid:i typsubscript:s typelem:i typarray:i typinput:s typoutput:s typreceive:s "
    "typsend:s typmodin:s typmodout:s typanalyze:s typalign:s typstorage:s typnotnull:b typbasetype:i typtypmod:i "
    "typndims:i typcollation:i typdefaultbin:s typdefault:s typacl:S",
    "pg_database": "oid:i datname:s datdba:i encoding:i datlocprovider:s datistemplate:b datallowconn:b datconnlimit:i "
    "datcollate:s datctype:s daticulocale:s dattablespace:i datcollversion:s datacl:S",
    "pg_roles": "oid:i rolname:s rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b rolreplication:b "
    "rolconnlimit:i rolpassword:s rolvaliduntil:s rolbypassrls:b rolconfig:S",
    "pg_user": "usename:s usesysid:i usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd:s valuntil:s useconfig:S",
    "pg_am": "oid:i amname:s amhandler:s amtype:s",
    "pg_settings": "name:s setting:s unit:s category:s short_desc:s context:s vartype:s source:s min_val:s max_val:s "
    "enumvals:S boot_val:s reset_val:s pending_restart:b",
    "pg_attrdef": "oid:i adrelid:i adnum:i adbin:s",
    "pg_auth_members": "roleid:i member:i grantor:i admin_option:b",
    "pg_cast": "oid:i castsource:i casttarget:i castfunc:i castcontext:s castmethod:s",
    "pg_collation": "oid:i collname:s collnamespace:i collowner:i collprovider:s collisdeterministic:b collencoding:i",
    "pg_constraint": "oid:i conname:s connamespace:i contype:s condeferrable:b condeferred:b convalidated:b conrelid:i "
    "contypid:i conindid:i conparentid:i confrelid:i confupdtype:s confdeltype:s confmatchtype:s conislocal:b "
    "coninhcount:i connoinherit:b conkey:I confkey:I conpfeqop:I conbin:s",
    "pg_depend": "classid:i objid:i objsubid:i refclassid:i refobjid:i refobjsubid:i deptype:s",
    "pg_description": "objoid:i classoid:i objsubid:i description:s",
    "pg_shdescription": "objoid:i classoid:i description:s",
    "pg_enum": "oid:i enumtypid:i enumsortorder:f enumlabel:s",
    "pg_event_trigger": "oid:i evtname:s evtevent:s evtowner:i evtenabled:s evttags:S evtfoid:i",
    "pg_extension": "oid:i extname:s extowner:i extnamespace:i extrelocatable:b extversion:s extconfig:I",
    "pg_foreign_data_wrapper": "oid:i fdwname:s fdwowner:i fdwhandler:i fdwvalidator:i fdwacl:S fdwoptions:S",
    "pg_foreign_server": "oid:i srvname:s srvowner:i srvfdw:i srvtype:s srvversion:s srvacl:S srvoptions:S",
    "pg_foreign_table": "ftrelid:i ftserver:i ftoptions:S",
    "pg_index": "indexrelid:i indrelid:i indnatts:i indnkeyatts:i indisunique:b indnullsnotdistinct:b indisprimary:b "
    "indisexclusion:b indimmediate:b indisclustered:b indisvalid:b indcheckxmin:b indisready:b indislive:b "
    "indisreplident:b indkey:I indcollation:I indclass:I indoption:I indexprs:s indpred:s",
    "pg_inherits": "inhrelid:i inhparent:i inhseqno:i inhdetachpending:b",
    "pg_language": "oid:i lanname:s lanowner:i lanispl:b lanpltrusted:b lanplcallfoid:i laninline:i lanvalidator:i lanacl:S",
    "pg_opclass": "oid:i opcmethod:i opcname:s opcnamespace:i opcowner:i opcfamily:i opcintype:i opcdefault:b opckeytype:i",
    "pg_operator": "oid:i oprname:s oprnamespace:i oprowner:i oprkind:s oprleft:i oprright:i oprresult:i oprcode:s",
    "pg_partitioned_table": "partrelid:i partstrat:s partnatts:i partdefid:i partattrs:I",
    "pg_policy": "oid:i polname:s polrelid:i polcmd:s polpermissive:b polroles:I polqual:s polwithcheck:s",
    "pg_proc": "oid:i proname:s pronamespace:i proowner:i prolang:i procost:f prorows:f provariadic:i prokind:s "
    "prosecdef:b proleakproof:b proisstrict:b proretset:b provolatile:s proparallel:s pronargs:i prorettype:i "
    "proargtypes:I proallargtypes:I proargmodes:S proargnames:S prosrc:s proacl:S proisagg:b",
    "pg_publication": "oid:i pubname:s pubowner:i puballtables:b pubinsert:b pubupdate:b pubdelete:b "
    "pubtruncate:b pubviaroot:b",
    "pg_publication_namespace": "oid:i pnpubid:i pnnspid:i",
    "pg_publication_rel": "oid:i prpubid:i prrelid:i prqual:s prattrs:I",
    "pg_range": "rngtypid:i rngsubtype:i rngmultitypid:i rngcollation:i rngsubopc:i rngcanonical:s rngsubdiff:s",
    "pg_rewrite": "oid:i rulename:s ev_class:i ev_type:s ev_enabled:s is_instead:b ev_qual:s ev_action:s",
    "pg_sequence": "seqrelid:i seqtypid:i seqstart:l seqincrement:l seqmax:l seqmin:l seqcache:l seqcycle:b",
    "pg_statistic_ext": "oid:i stxrelid:i stxname:s stxnamespace:i stxowner:i stxstattarget:i "
    "stxkeys:I stxkind:S stxexprs:s",
    "pg_stat_user_tables": "relid:i schemaname:s relname:s n_live_tup:l n_dead_tup:l",
    "pg_tablespace": "oid:i spcname:s spcowner:i spcacl:S spcoptions:S",
    "pg_trigger": "oid:i tgrelid:i tgparentid:i tgname:s tgfoid:i tgtype:i tgenabled:s tgisinternal:b tgconstraint:i",
    "pg_indexes": "schemaname:s tablename:s indexname:s tablespace:s indexdef:s",
    "pg_sequences": "schemaname:s sequencename:s sequenceowner:s data_type:s",
    "pg_prepared_statements": "name:s statement:s prepare_time:s parameter_types:S from_sql:b",
    "pg_locks": "locktype:s database:i relation:i pid:i mode:s granted:b",
    "pg_stat_activity": "datid:i datname:s pid:i usename:s application_name:s state:s query:s",
    "pg_matviews": "schemaname:s matviewname:s matviewowner:s definition:s",
    "is_table_constraints": "constraint_catalog:s constraint_schema:s constraint_name:s table_catalog:s table_schema:s "
    "table_name:s constraint_type:s",
    "is_key_column_usage": "constraint_catalog:s constraint_schema:s constraint_name:s table_catalog:s table_schema:s "
    "table_name:s column_name:s ordinal_position:i position_in_unique_constraint:i",
    "is_referential_constraints": "constraint_catalog:s constraint_schema:s constraint_name:s unique_constraint_schema:s "
    "unique_constraint_name:s match_option:s update_rule:s delete_rule:s",
    "is_constraint_column_usage": "table_catalog:s table_schema:s table_name:s column_name:s constraint_name:s",
    "is_routines": "specific_name:s routine_catalog:s routine_schema:s routine_name:s routine_type:s data_type:s",
    "is_views": "table_catalog:s table_schema:s table_name:s view_definition:s",
    "is_sequences": "sequence_catalog:s sequence_schema:s sequence_name:s data_type:s",
}
# oid, name, length, category, element, array, alignment. The names after "=" are what format_type says.
BASE = """
16 bool=boolean 1 B 1000|17 bytea -1 U 1001|18 char="char" 1 Z 1002|19 name 64 S 1003|20 int8=bigint 8 N 1016
21 int2=smallint 2 N 1005|22 int2vector -1 A 1006|23 int4=integer 4 N 1007|24 regproc 4 N 1008|25 text -1 S 1009
26 oid 4 N 1028|30 oidvector -1 A 1013|114 json -1 U 199|700 float4=real 4 N 1021
701 float8=double_precision 8 N 1022|1042 bpchar=character -1 S 1014|1043 varchar=character_varying -1 S 1015
1082 date 4 D 1182|1083 time=time_without_time_zone 8 D 1183|1114 timestamp=timestamp_without_time_zone 8 D 1115
1184 timestamptz=timestamp_with_time_zone 8 D 1185|1186 interval 16 T 1187|1700 numeric -1 N 1231
2205 regclass 4 N 2210|2206 regtype 4 N 2211|2950 uuid 16 U 2951|3802 jsonb -1 U 3807|705 unknown -2 X 0
2249 record -1 P 2287
"""
VIEWS = (
    """CREATE VIEW pg_tables AS SELECT 'public' AS schemaname, relname AS tablename, 'dpsql' AS tableowner,
    NULL::VARCHAR AS tablespace, false AS hasindexes, false AS hasrules, false AS hastriggers, false AS rowsecurity
    FROM pg_class WHERE relkind = 'r'""",
    """CREATE VIEW pg_views AS SELECT 'public' AS schemaname, relname AS viewname, 'dpsql' AS viewowner,
    '' AS definition FROM pg_class WHERE relkind = 'v'""",
    """CREATE VIEW is_tables AS SELECT 'dpsql' AS table_catalog, 'public' AS table_schema, relname AS table_name,
    CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'BASE TABLE' END AS table_type, 'NO' AS is_insertable_into FROM pg_class""",
    """CREATE VIEW is_schemata AS SELECT 'dpsql' AS catalog_name, nspname AS schema_name, 'dpsql' AS schema_owner
    FROM pg_namespace""",
    """CREATE VIEW is_columns AS SELECT 'dpsql' AS table_catalog, 'public' AS table_schema, c.relname AS table_name,
    a.attname AS column_name, a.attnum AS ordinal_position, NULL::VARCHAR AS column_default,
    CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END AS is_nullable, format_type(a.atttypid, NULL) AS data_type,
    t.typname AS udt_name, 'pg_catalog' AS udt_schema, NULL::INTEGER AS character_maximum_length,
    NULL::INTEGER AS numeric_precision, NULL::INTEGER AS numeric_scale, NULL::INTEGER AS datetime_precision
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid""",
)
# Their arguments have names that no client's column has: a macro's body sees the columns of where it is called.
MACROS = (
    """format_type(zo, zm) AS (SELECT CASE WHEN zt.typelem <> 0 AND zt.typcategory = 'A'
    THEN coalesce((SELECT zu.shown FROM type_names zu WHERE zu.oid = zt.typelem), zt.typname) || '[]'
    WHEN zo = 1700 AND zm > 4 THEN 'numeric(' || ((zm - 4) >> 16) || ',' || ((zm - 4) & 65535) || ')'
    ELSE (SELECT zu.shown FROM type_names zu WHERE zu.oid = zo) END FROM pg_type zt WHERE zt.oid = zo)""",
    "pg_get_userbyid(za) AS 'dpsql'",
    "pg_table_is_visible(za) AS true",
    "pg_type_is_visible(za) AS true",
    "pg_collation_is_visible(za) AS true",
    "pg_operator_is_visible(za) AS true",
    "pg_get_function_sqlbody(za) AS NULL::VARCHAR",
    "pg_function_is_visible(za) AS true",
    "pg_get_expr(za, zb) AS NULL::VARCHAR, (za, zb, zc) AS NULL::VARCHAR",
    "pg_get_constraintdef(za) AS NULL::VARCHAR, (za, zb) AS NULL::VARCHAR",
    "pg_get_indexdef(za) AS NULL::VARCHAR, (za, zb, zc) AS NULL::VARCHAR",
    "pg_get_viewdef(za) AS NULL::VARCHAR, (za, zb) AS NULL::VARCHAR",
    "pg_get_ruledef(za) AS NULL::VARCHAR, (za, zb) AS NULL::VARCHAR",
    "pg_get_triggerdef(za) AS NULL::VARCHAR, (za, zb) AS NULL::VARCHAR",
    "pg_get_partkeydef(za) AS NULL::VARCHAR",
    "pg_get_statisticsobjdef_columns(za) AS NULL::VARCHAR",
    "pg_get_function_result(za) AS NULL::VARCHAR",
    "pg_get_function_arguments(za) AS NULL::VARCHAR",
    "pg_get_function_identity_arguments(za) AS NULL::VARCHAR",
    "pg_get_functiondef(za) AS NULL::VARCHAR",
    "pg_get_serial_sequence(za, zb) AS NULL::VARCHAR",
    "pg_relation_is_publishable(za) AS false",
    "pg_encoding_to_char(za) AS 'UTF8'",
    "pg_table_size(za) AS 0, (za, zb) AS 0",
    "pg_total_relation_size(za) AS 0",
    "pg_relation_size(za) AS 0",
    "pg_size_pretty(za) AS '0 bytes'",
    "pg_backend_pid() AS 0",
    "pg_is_in_recovery() AS false",
    "pg_my_temp_schema() AS 0",
    "pg_is_other_temp_schema(za) AS false",
    "pg_postmaster_start_time() AS NULL::TIMESTAMP",
    "pg_advisory_unlock_all() AS NULL::VARCHAR",
    "pg_tablespace_location(za) AS ''",
    "pg_char_to_encoding(za) AS 6",
    "obj_description(za) AS NULL::VARCHAR, (za, zb) AS (SELECT max(zd.description) FROM pg_description zd WHERE "
    "zd.objoid = za AND zd.objsubid = 0)",
    "col_description(za, zb) AS (SELECT max(zd.description) FROM pg_description zd WHERE "
    "zd.objoid = za AND zd.objsubid = zb)",
    "shobj_description(za, zb) AS NULL::VARCHAR",
    "has_table_privilege(za, zb) AS true, (za, zb, zc) AS true",
    "has_schema_privilege(za, zb) AS true, (za, zb, zc) AS true",
    "has_database_privilege(za, zb) AS true, (za, zb, zc) AS true",
    "has_column_privilege(za, zb, zc) AS true, (za, zb, zc, zd) AS true",
    "has_any_column_privilege(za, zb) AS true",
    "has_function_privilege(za, zb) AS true",
    "has_sequence_privilege(za, zb) AS false",
    "to_regtype(za) AS (SELECT max(zt.oid) FROM pg_type zt JOIN type_names zu ON zu.oid = zt.oid "
    "WHERE zt.typname = lower(za) OR zu.shown = lower(za))",
    "to_regclass(za) AS (SELECT max(zt.oid) FROM pg_class zt WHERE zt.relname = "
    "regexp_replace(replace(za, '\"', ''), '^public\\.', ''))",
    "to_regnamespace(za) AS (SELECT max(zt.oid) FROM pg_namespace zt WHERE zt.nspname = za)",
    "array_upper(za, zb) AS len(za)",
    "array_lower(za, zb) AS CASE WHEN len(za) > 0 THEN 1 END",
    "_pg_expandarray(za) AS unnest(list_transform(za, lambda zx, zi: {'x': zx, 'n': zi}))",
    "current_setting(za) AS (SELECT max(zt.setting) FROM pg_settings zt WHERE zt.name = lower(za)), "
    "(za, zb) AS (SELECT max(zt.setting) FROM pg_settings zt WHERE zt.name = lower(za))",
    "set_config(za, zb, zc) AS zb",
    "quote_ident(za) AS za",
    "txid_current() AS 1",
    "inet_server_addr() AS NULL::VARCHAR",
    "inet_client_addr() AS NULL::VARCHAR",
    "inet_server_port() AS NULL::INTEGER",
    "inet_client_port() AS NULL::INTEGER",
    "version() AS 'PostgreSQL 15.0 (dpsql)'",
    "current_schema() AS 'public'",
    "current_schemas(za) AS CASE WHEN za THEN ['pg_catalog', 'public'] ELSE ['public'] END",
    "current_database() AS 'dpsql'",
    "current_catalog() AS 'dpsql'",
)


def statements() -> list[str]:
    """Everything but what depends on whose session it is."""
    made = [f"CREATE TABLE {name} ({_columns(columns)})" for name, columns in TABLES.items()]
    made.append("CREATE TABLE type_names (oid INTEGER, shown VARCHAR)")
    made += [f"INSERT INTO pg_namespace VALUES ({oid}, '{name}', 10, NULL)" for oid, name in NAMESPACES]
    made.append("INSERT INTO pg_am VALUES (2, 'heap', 'heap_tableam_handler', 't'), (403, 'btree', 'bthandler', 'i')")
    made.append(
        "INSERT INTO pg_database VALUES (16383, 'dpsql', 10, 6, 'c', false, true, -1, 'C', 'C', NULL, 1663, NULL, NULL)"
    )
    made.append("INSERT INTO pg_tablespace VALUES (1663, 'pg_default', 10, NULL, NULL)")
    made.append("INSERT INTO pg_collation VALUES (100, 'default', 11, 10, 'd', true, -1)")
    made += [row for entry in BASE.replace("\n", "|").split("|") if entry.strip() for row in _type_rows(entry)]
    made += [f"CREATE MACRO {macro}" for macro in MACROS]
    return [*made, *VIEWS]


NAMESPACES = ((11, "pg_catalog"), (2200, "public"), (13000, "information_schema"))


def _columns(text: str) -> str:
    pairs = (column.split(":") for column in text.split())
    return ", ".join(f"{name} {TYPES[letter]}" for name, letter in pairs)


def _type_rows(entry: str) -> list[str]:
    oid, names, length, category, array = entry.split()
    name, _, shown = names.partition("=")
    rows = [_type_row(int(oid), name, int(length), category, 0, int(array))]
    rows.append(f"INSERT INTO type_names VALUES ({oid}, '{(shown or name).replace('_', ' ')}')")
    if array != "0":
        rows.append(_type_row(int(array), f"_{name}", -1, "A", int(oid), 0))
    return rows


def _type_row(oid: int, name: str, length: int, category: str, element: int, array: int) -> str:
    prefix = "array_" if category == "A" and element else name
    kind = "p" if category in ("P", "X") else "b"
    collation = 100 if category == "S" else 0
    return (
        f"INSERT INTO pg_type VALUES ({oid}, '{name}', 11, 10, {length}, {length in (1, 2, 4, 8)}, '{kind}', '{category}', "
        f"{name in ('bool', 'text', 'float8', 'timestamptz', 'interval')}, true, ',', 0, '-', {element}, {array}, "
        f"'{prefix}in', '{prefix}out', '{prefix}recv', '{prefix}send', '-', '-', '-', 'i', 'p', false, 0, -1, 0, "
        f"{collation}, NULL, NULL, NULL)"
    )
