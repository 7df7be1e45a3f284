"""Which library is nearer to the truth at the same ε, and which is faster? Writes benchmarks/RESULTS.md. [--quick]

dpsql, smartnoise-sql, OpenDP's Polars, pyqrlew and pipeline-dp, each in a process of its own, the four others each in an
environment of its own (.venv-peers-…, requirements/). What a library cannot do is a dash with its reason; a row in which
another one is better says why, or the command fails.
"""

from __future__ import annotations


def main(argv: list[str]) -> None:
    """See `python -m benchmarks peers --help`."""
    from benchmarks.peers.run import main as run  # not above: the other environments import this package without numpy

    run(argv)
