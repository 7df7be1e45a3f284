"""Does a query finish that needs more memory than it may use? The unknown keys again, with a tenth of the memory."""

from __future__ import annotations

from benchmarks import keys


def main(argv: list[str]) -> None:
    """argv: the memory limit (400MB)."""
    keys.main(["--memory", argv[0] if argv else "400MB"])
