"""dpsql's own version: in release records, and as dpsql.__version__."""

VERSION = "0.1.0"
