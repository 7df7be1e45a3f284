"""The PostgreSQL door: protocol 3.0, simple and extended. Its modules, from the bytes upwards:

messages    what crosses the wire, as bytes
framing     a stream of bytes cut into messages
types       DuckDB's types as PostgreSQL's; values as text and in binary
texts       a statement's tokens: what begins it, its parts, its parameters
transactions  what a session answers by itself: BEGIN, SET, SHOW, DISCARD …
portals     prepared statements, portals and the rows they hold
conversation  one client, from its first statement to its last
door        who it is, TLS, cancelling; the listening socket
requests    the worker's side: describing, catalog queries (pg_catalog), running
"""
