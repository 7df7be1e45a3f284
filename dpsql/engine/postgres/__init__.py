"""PostgreSQL 14 and later through psycopg 3, which is imported only where a source is on a server.

address      what is said of a database in a source, without a password
connecting   a connection; where its password comes from
settings     a read-only transaction in which every statement means one thing
describing   tables from the system's catalogs alone
loads        small tables as arrays, in front of a statement
backend      the tables of one database, and runs over them (engine/backend.py)
"""
