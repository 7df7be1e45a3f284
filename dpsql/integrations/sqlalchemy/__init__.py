"""SQLAlchemy: create_engine("dpsql:///metadata/hospital.yaml?epsilon=1&delta=1e-9&analyst=ana")."""

from dpsql.integrations.sqlalchemy.dialect import DpsqlDialect

__all__ = ["DpsqlDialect"]
