"""No module and no function grows beyond its cap; what is larger already only shrinks."""

from __future__ import annotations

from tests.project import sizes


def test_nothing_is_larger_than_its_cap() -> None:
    lengths = sizes.sizes()
    assert len(lengths) > 2000
    assert list(sizes.problems(lengths, sizes.listed(sizes.LIST.read_text(encoding="utf-8")))) == []


def test_what_grows_is_found_and_what_shrank_is_lowered() -> None:
    allowed = {"dpsql/a.py": 350, "dpsql/a.py:f": 50, "dpsql/d.py": 340, "dpsql/gone.py": 400}
    lengths = {"dpsql/a.py": 351, "dpsql/a.py:f": 45, "dpsql/b.py": 301, "dpsql/b.py:g": 41, "dpsql/c.py": 300}
    lengths |= {"dpsql/d.py": 320, "dpsql/e.py:h": 40}
    names = [line.split()[0] for line in sizes.problems(lengths, allowed)]
    assert names == ["dpsql/a.py", "dpsql/b.py", "dpsql/b.py:g", "dpsql/d.py", "dpsql/gone.py"]
    assert sizes.lowered(lengths, allowed) == {"dpsql/a.py": 350, "dpsql/a.py:f": 45, "dpsql/d.py": 320}


def test_a_docstring_does_not_count() -> None:
    import ast

    tree = ast.parse('def f():\n    """One.\n\n    Two.\n    """\n    return 1\n\ndef g():\n    x = 1\n    return x\n')
    assert dict(sizes.functions(tree)) == {"f": 2, "g": 3}
