"""Each decision has a number of its own, and the list of pages says where it is."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

DECISIONS = Path(__file__).parents[2] / "dpsql" / "decisions"


def test_no_number_is_used_twice_and_the_list_knows_every_one() -> None:
    numbers = {page.name: _numbers(page.read_text("utf-8")) for page in DECISIONS.glob("*.md")}
    counted = Counter(number for page in numbers.values() for number in page)
    assert [number for number, times in counted.items() if times > 1] == []
    listed = re.findall(r"\]\((\w+\.md)\): (.+)", (DECISIONS / "README.md").read_text("utf-8"))
    assert {name: _expanded(text) for name, text in listed} == {name: page for name, page in numbers.items() if page}


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"^\*\*(\d+)\.\*\*", text, re.MULTILINE)]


def _expanded(text: str) -> list[int]:
    """35 to 37, 40: 35, 36, 37, 40"""
    ends = [[int(end) for end in part.split(" to ")] for part in text.split(", ")]
    return [number for part in ends for number in range(part[0], part[-1] + 1)]
