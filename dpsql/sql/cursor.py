"""A place in a list of tokens, and the steps from it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import Token, TokenType

from dpsql.sql.tokens import words


@dataclass(slots=True)
class Cursor:
    tokens: list[Token]
    index: int

    @property
    def current(self) -> Token | None:
        return self.tokens[self.index] if self.index < len(self.tokens) else None

    def is_at(self, kind: TokenType) -> bool:
        return self.current is not None and self.current.token_type is kind

    def take(self, kind: TokenType) -> bool:
        """Step over a token of this kind; False where another stands."""
        taken = self.is_at(kind)
        self.index += taken
        return taken

    def skip(self, *expected: str) -> bool:
        """Step over these words; False where others stand."""
        skipped = words(self.tokens, self.index, *expected)
        self.index += len(expected) if skipped else 0
        return skipped
