"""SQLAlchemy's own suite for dialects: test_sqlalchemy_suite.py runs it in a process of its own."""

from sqlalchemy.testing.suite import *  # noqa: F403
