"""The most memory that this process had. Needs nothing but Python: children of `peers` measure themselves with it, too."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path


def peak() -> float:
    """The most memory this process had since `forget_peak`, in MB. On Linux ru_maxrss would begin with its parent's."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # macOS: bytes
    return next(int(row.split()[1]) for row in status.splitlines() if row.startswith("VmHWM:")) / 1024


def forget_peak() -> None:
    """What loading the modules took at its greatest is not the query's. Where it cannot be forgotten, both keep it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
