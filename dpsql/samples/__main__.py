"""`python -m dpsql.samples [NAME…] --into data` writes the sample data."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpsql.samples.generate import SAMPLES, generate


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m dpsql.samples", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(SAMPLES)} (all if none is given)")
    parser.add_argument("--into", type=Path, default=Path("data"), metavar="FOLDER", help="default: data")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.names if name not in SAMPLES]
    if unknown:
        parser.error(f"there is no sample {unknown[0]!r}: choose from {', '.join(SAMPLES)}")
    for name in chosen.names or SAMPLES:
        for path in generate(name, chosen.into):
            print(path)


if __name__ == "__main__":
    main()
