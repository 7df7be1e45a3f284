"""The Python face: PEP 249 connections and cursors over a session."""

from dpsql.dbapi.connection import Budget, Connection, connect
from dpsql.dbapi.cursor import Cursor

__all__ = ["Budget", "Connection", "Cursor", "connect"]
