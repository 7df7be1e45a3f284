"""Transactions of a connection: of changes of one's own tables. What was released stays released, and charged."""

from __future__ import annotations

from dpsql.dbapi.boundary import answering
from dpsql.dbapi.cursor import Messages
from dpsql.session import Session


class Transactions:
    """A connection's half that PEP 249 has for transactions."""

    _session: Session
    messages: Messages

    @answering
    def commit(self) -> None:
        """What was changed in tables of one's own since the transaction began, stays. Charges are durable at once."""
        self._check_open()
        self.messages.clear()
        if self._session.user.in_transaction:
            self._session.user.commit()

    @answering
    def rollback(self) -> None:
        """What was changed in tables of one's own since the transaction began, is undone; no release and no charge is."""
        self._check_open()
        self.messages.clear()
        if self._session.user.in_transaction:
            self._session.user.rollback()

    @property
    def in_transaction(self) -> bool:
        """Whether changes of one's own tables wait for commit() or rollback()."""
        self._check_open()
        return self._session.user.in_transaction

    @property
    def autocommit(self) -> bool:
        """True, as it begins: each change of one's own tables stays at once, unless BEGIN was executed. False: the first
        change begins a transaction."""
        return self._session.user.autocommit

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        self._check_open()
        if value and self._session.user.in_transaction:
            self._session.user.commit()
        self._session.user.autocommit = bool(value)

    def _check_open(self) -> None:
        raise NotImplementedError  # the class that this is mixed into has it
