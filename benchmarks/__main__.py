"""`python -m benchmarks NAME [arguments]` answers one question, without a name all but `peers`; --list names them."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks

BY_NAME = ("peers",)  # installs four other libraries, takes an hour and writes RESULTS.md: only where it is asked for


def names() -> list[str]:
    modules = pkgutil.iter_modules(benchmarks.__path__)
    return sorted(module.name for module in modules if not module.name.startswith("_"))


def main(argv: list[str]) -> int:
    if argv == ["--list"]:
        for name in names():
            print(f"{name:12} {(importlib.import_module(f'benchmarks.{name}').__doc__ or '').splitlines()[0]}")
        return 0
    if argv and argv[0] not in names():
        print(f"no benchmark {argv[0]!r}; there are: {', '.join(names())}", file=sys.stderr)
        return 2
    for name in argv[:1] or [name for name in names() if name not in BY_NAME]:
        print(f"== {name}")
        importlib.import_module(f"benchmarks.{name}").main(argv[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
