"""The Python face: PEP 249 connections and cursors over a session."""

from dpsql.dbapi.connection import Connection, connect
from dpsql.dbapi.cursor import Cursor

__all__ = ["Connection", "Cursor", "connect"]
