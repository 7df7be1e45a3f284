"""The caps on size: a module of dpsql has at most 300 lines, a function at most 40 (but for its docstring, which may prove).

sizes.txt lists what is larger, with its size: such a place may shrink, and never grow. `python -m tests.project.sizes` says
what is wrong; `--write` lowers the sizes listed and removes what fits now. A new line is written by hand, and argued for in
review.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

MODULE, FUNCTION = 300, 40
SLACK = 20  # so far a listed place may shrink before the list has to say so
ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("sizes.txt")


def sizes(root: Path = ROOT) -> dict[str, int]:
    """`dpsql/query.py` → its lines, `dpsql/query.py:run` → the lines of that function."""
    lengths: dict[str, int] = {}
    for path in sorted((root / "dpsql").rglob("*.py")):
        name, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        lengths[name] = len(text.splitlines())
        for function, lines in functions(ast.parse(text)):
            lengths[f"{name}:{function}"] = max(lines, lengths.get(f"{name}:{function}", 0))
    return lengths


def functions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, _lines(node) - (_lines(node.body[0]) if ast.get_docstring(node) is not None else 0)


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def cap(name: str) -> int:
    return FUNCTION if ":" in name else MODULE


def listed(text: str) -> dict[str, int]:
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return {name: int(size) for name, size in rows}


def problems(lengths: Mapping[str, int], allowed: Mapping[str, int]) -> Iterator[str]:
    for name, size in lengths.items():
        if size > max(cap(name), allowed.get(name, 0)):
            yield f"{name} has {size} lines; at most {allowed.get(name, cap(name))}"
    for name, size in allowed.items():
        if lengths.get(name, 0) <= max(cap(name), size - SLACK):
            yield f"{name} has {lengths.get(name, 0)} lines, {size} are listed: python -m tests.project.sizes --write"


def lowered(lengths: Mapping[str, int], allowed: Mapping[str, int]) -> dict[str, int]:
    """The list after `--write`: nothing new, nothing larger."""
    smaller = {name: min(size, lengths.get(name, 0)) for name, size in allowed.items()}
    return {name: size for name, size in smaller.items() if size > cap(name)}


def main(arguments: list[str]) -> int:
    text, lengths = LIST.read_text(encoding="utf-8"), sizes()
    if "--write" in arguments:
        head = [line for line in text.splitlines() if line.startswith("#")]
        rows = [f"{name} {size}" for name, size in sorted(lowered(lengths, listed(text)).items())]
        text = "\n".join([*head, *rows]) + "\n"
        LIST.write_text(text, encoding="utf-8")
    wrong = list(problems(lengths, listed(text)))
    print("\n".join(wrong) or f"no module over {MODULE} lines, no function over {FUNCTION}, but for those listed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
