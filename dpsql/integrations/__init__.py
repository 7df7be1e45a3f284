"""Other tools' ways to dpsql: SQLAlchemy and IPython. Each is optional."""
