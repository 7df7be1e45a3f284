"""The Python face: PEP 249 connections and cursors over a session."""

from dpsql.dbapi.budget import Budget
from dpsql.dbapi.connecting import connect
from dpsql.dbapi.connection import Connection
from dpsql.dbapi.cursor import Cursor

__all__ = ["Budget", "Connection", "Cursor", "connect"]
