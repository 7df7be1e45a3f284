"""The topics of `dpsql help`, and how a word finds one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from dpsql.errors import InterfaceError

HERE = Path(__file__).parent
# In the order in which a newcomer may want them. What is not listed here comes last.
ORDER = (
    *("owners", "analysts", "shell", "python", "frames", "pandas"),
    *("metadata", "bounds", "budget", "sql", "aggregates", "functions", "databases", "spark", "engines", "settings"),
    *("refusals", "errors", "privacy", "glossary", "proof", "commands", "server", "scale", "platforms", "versions"),
)
_HEADING = re.compile(r"^## .*$", re.M)


def _titles() -> Mapping[str, str]:
    """Each topic's name and its first heading."""
    titles = {path.stem: _title(path) for path in sorted(HERE.glob("*.md"))}
    ordered = [name for name in ORDER if name in titles]
    return {name: titles[name] for name in [*ordered, *(name for name in titles if name not in ORDER)]}


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").strip()


TOPICS = _titles()


def overview() -> str:
    """The list of topics."""
    width = max(map(len, TOPICS)) + 2
    lines = [f"    {name.ljust(width)}{title}" for name, title in TOPICS.items()]
    return "\n".join(
        [
            "# dpsql help",
            "",
            "`dpsql help TOPIC`, also for an error code (`dpsql help DPSQL-103`), a function, a command or a term:",
            "",
            *lines,
        ]
    )


def topic_text(word: str) -> str:
    """A topic; the section on an error code; what there is about a function, aggregate or setting; a glossary entry."""
    name = word.strip().strip("`").lower()
    if name in TOPICS:
        return (HERE / f"{name}.md").read_text(encoding="utf-8").rstrip()
    number = re.fullmatch(r"(?:dpsql-)?(\d{3})", name)
    text = section("errors", f"DPSQL-{number[1]}") if number else command_section(name) or explained(name)
    if text:
        return text
    raise unknown(word)


def section(topic: str, heading: str) -> str:
    """A `##` section of a topic, found by the first word of its heading; nothing if there is none."""
    text = (HERE / f"{topic}.md").read_text(encoding="utf-8")
    starts = [*_HEADING.finditer(text)]
    for i, start in enumerate(starts):
        if start[0].removeprefix("## ").partition(" ")[0] == heading:
            end = starts[i + 1].start() if i + 1 < len(starts) else len(text)
            return text[start.start() : end].rstrip()
    return ""


def title(code: str) -> str:
    """What an error code is about, in a few words: `there is no such column`."""
    return section("errors", code).partition("\n")[0].removeprefix(f"## {code}").strip() or "an error"


def command_section(name: str) -> str:
    """The `--help` of a command."""
    text = (HERE / "commands.md").read_text(encoding="utf-8")
    return section("commands", name) if f"## {name}\n" in text else ""


def explained(name: str) -> str:
    """The rows of the reference tables on a word, and its entry in the glossary."""
    return "\n\n".join(text for text in (row(name), glossary_entry(name)) if text)


def glossary_entry(name: str) -> str:
    """The entry of the glossary with this name, or the one that lists it as `Also called`."""
    text = (HERE / "glossary.md").read_text(encoding="utf-8")
    entries = [entry.rstrip() for entry in re.split(r"^(?=## )", text, flags=re.M)[1:]]
    other_names = re.compile(rf"^- Also called: (?:.*, )?{re.escape(name)}[,.]", re.M | re.I)
    named = [entry for entry in entries if entry.startswith(f"## {name}\n")]
    return "\n\n".join(named or [entry for entry in entries if other_names.search(entry)])


def row(name: str) -> str:
    """The rows of the reference tables whose first cell has the word."""
    wanted = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.I)
    rows = []
    for topic in ("aggregates", "functions", "settings"):
        for line in (HERE / f"{topic}.md").read_text(encoding="utf-8").splitlines():
            first = line.replace("\\|", "\x00").split("|")
            if line.startswith("| ") and len(first) > 2 and wanted.search(first[1]):
                rows.append(line.strip("| ").replace("\\|", "|").replace(" | ", ": "))
    return "\n\n".join(rows)


def unknown(word: str) -> InterfaceError:
    import difflib

    near = difflib.get_close_matches(word.lower(), [*TOPICS], n=1, cutoff=0.6)
    return InterfaceError(
        f'there is no help on "{word[:40]}"',
        code=625,
        why=f'Did you mean "{near[0]}"?' if near else "",
        fix=f"The topics are {', '.join(TOPICS)}; also error codes, functions, commands and words of the glossary.",
    )
