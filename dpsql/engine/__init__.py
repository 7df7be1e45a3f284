"""Opening, hardening, running and fetching: the only package that imports DuckDB.

sources     what a table's rows come from, as plain values
vault       private data: one hardened connection, opaque errors, integers and text out
public      public tables, read the same way, with errors that say more
scratch     a second database that never held private data; finishes the released rows
hardening, files, csv_lines, snapshot, reader, loading, failures    what those three are made of
"""
