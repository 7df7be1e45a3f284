"""Spark 4 through PySpark, classic or by Spark Connect; PySpark is imported only where a source is on Spark.

connecting   a session: the one that was given, or one at an address
settings     a new session for each query, in which every statement means one thing
describing   tables and files from their schemas alone
script       a statement step by step: what is read twice is evaluated once and kept
loads        small tables beside it
backend      the tables of one session's cluster, and runs over them (engine/backend.py)
"""
