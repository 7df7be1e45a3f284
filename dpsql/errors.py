"""Every error a user can meet: one tree on PEP 249's, one stable code each, four parts a message.

    Error
    ├── InterfaceError            wrong use of the Python API
    └── DatabaseError
        ├── DataError
        │   └── PostProcessingError    the SQL over the noisy results failed; the released rows are kept
        ├── OperationalError
        │   ├── SourceError       the data cannot be opened
        │   ├── BudgetError       the budget does not allow this query
        │   ├── LedgerError       the ledger cannot be read or written
        │   └── ExecutionError    the engine failed on private data: one opaque code
        │       └── Interrupted   Ctrl-C: a KeyboardInterrupt that says what it cost
        ├── IntegrityError
        │   └── TamperedLedger    the ledger's hash chain is broken
        ├── InternalError         a bug in dpsql
        ├── ProgrammingError
        │   ├── SqlError          the statement is not valid SQL over this catalog
        │   └── CatalogError      the metadata is wrong (carries every Problem at once)
        └── NotSupportedError
            └── Refused           valid SQL that dpsql does not answer

An error says what, where, why, and what to do. The engine's own messages quote cells of private data, so they never
become part of one of these: raise them `from None`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of character offsets in the statement's text."""

    start: int
    end: int

    def join(self, other: Span | None) -> Span:
        return self if other is None else Span(min(self.start, other.start), max(self.end, other.end))


class Warning(Exception):  # noqa: A001 - PEP 249 names it so
    """PEP 249's warning class; dpsql raises none."""


class Error(Exception):
    """Base of all dpsql errors.

    code: stable, "DPSQL-103".  what, why, fix: sentences.  at: the place in the statement, if there is one.
    """

    default_code = 1

    def __init__(
        self,
        what: str,
        *,
        code: int | None = None,
        at: Span | None = None,
        why: str = "",
        fix: str = "",
    ) -> None:
        super().__init__(what)
        self.number = self.default_code if code is None else code
        self.what = what
        self.at = at
        self.why = why
        self.fix = fix
        self.text: str | None = None
        self.of_a_file = False  # it is about a file's text, and has no word of it

    @property
    def code(self) -> str:
        return f"DPSQL-{self.number:03d}"

    def in_text(self, text: str) -> Error:
        """Attach the statement the span points into; the first text wins (it is the innermost)."""
        if self.text is None:
            self.text = text
        return self

    @property
    def line(self) -> int | None:
        place = self._place()
        return place[0] if place else None

    @property
    def column(self) -> int | None:
        place = self._place()
        return place[1] if place else None

    def _place(self) -> tuple[int, int, str] | None:
        if self.at is None or self.text is None:
            return None
        start = max(0, min(self.at.start, len(self.text)))
        line_start = self.text.rfind("\n", 0, start) + 1
        line_end = self.text.find("\n", start)
        source = self.text[line_start : line_end if line_end >= 0 else len(self.text)]
        return self.text.count("\n", 0, start) + 1, start - line_start + 1, source

    def __str__(self) -> str:
        parts = [f"{self.code}  {self.what}"]
        place = self._place()
        if place is not None and self.at is not None:
            line, column, source = place
            width = max(1, min(self.at.end - self.at.start, len(source) - column + 1))
            shown, offset = _window(source, column - 1)
            pad = "".join("\t" if c == "\t" else " " for c in shown[:offset])
            parts.append(f"  {shown}          (line {line}, column {column})")
            parts.append(f"  {pad}{'^' * min(width, max(1, len(shown) - offset))}")
        parts += [part for part in (self.why, self.fix) if part]
        return "\n".join(parts)


def _window(source: str, offset: int, width: int = 110) -> tuple[str, int]:
    """The part of a long line around `offset`, and where the offset is in it."""
    if len(source) <= width:
        return source, offset
    start = max(0, min(offset - width // 3, len(source) - width))
    return source[start : start + width], offset - start


class InterfaceError(Error):
    default_code = 600


class DatabaseError(Error):
    default_code = 1


class DataError(DatabaseError):
    default_code = 502


class OperationalError(DatabaseError):
    default_code = 300


class IntegrityError(DatabaseError):
    default_code = 440


class InternalError(DatabaseError):
    default_code = 1


class ProgrammingError(DatabaseError):
    default_code = 100


class NotSupportedError(DatabaseError):
    default_code = 120


class PostProcessingError(DataError):
    """The SQL above the release failed on the noisy rows. Nothing private is involved, so the message may be shown."""

    default_code = 502


class SourceError(OperationalError):
    default_code = 300


class BudgetError(OperationalError):
    """The charge would pass a cap. Says spent, asked, left, and the largest epsilon that would pass."""

    default_code = 400


class LedgerError(OperationalError):
    default_code = 420


class ExecutionError(OperationalError):
    """The engine failed after the charge. Deliberately opaque; details are in the owner's log."""

    default_code = 500


class Interrupted(ExecutionError, KeyboardInterrupt):
    """Ctrl-C while a statement ran. A KeyboardInterrupt too, so that loops and notebooks end as they do elsewhere."""

    default_code = 503


class TamperedLedger(IntegrityError):
    default_code = 440


class SqlError(ProgrammingError):
    default_code = 100


class Refused(NotSupportedError):
    default_code = 120


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in the metadata: where ("file.yaml:12"), what, and the fix."""

    where: str
    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}\n    {self.fix}" if self.fix else f"{self.where}: {self.what}"


class CatalogError(ProgrammingError):
    """The metadata is wrong; `problems` lists everything that is, at once."""

    default_code = 200

    def __init__(self, problems: Iterable[Problem], *, code: int = 200) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        super().__init__(f"the metadata has {count} problem{'s' if count != 1 else ''}", code=code)

    def __str__(self) -> str:
        return "\n".join([f"{self.code}  {self.what}", *(f"  {problem}" for problem in self.problems)])
