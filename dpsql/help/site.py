"""The help topics as a website: static pages with a search that works without a server and asks no other host.

`python -m dpsql.help.site OUT [PAGE.md …]` (`make docs`); needs `pip install 'dpsql[docs]'`. The topics are the only source:
what is changed here for a browser is links, the names of languages, and the front page.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from dpsql.errors import InterfaceError
from dpsql.help.topics import HERE, TOPICS
from dpsql.version import VERSION

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Begin": ("owners", "analysts"),
    "Interfaces": ("shell", "python", "frames", "pandas"),
    "Describe data": ("metadata", "databases", "spark", "bounds", "budget"),
    "Ask": ("sql", "aggregates", "functions", "engines", "settings", "refusals", "errors", "commands", "tpch"),
    "The guarantee": ("privacy", "glossary", "proof"),
    "Run it": ("server", "scale", "platforms", "versions"),
    "Come from elsewhere": ("smartnoise", "bigquery", "opendp"),
}
SETTINGS = {
    "project": "dpsql",
    "version": VERSION,
    "release": VERSION,
    "extensions": ["myst_parser"],
    "html_theme": "furo",
    "html_title": f"dpsql {VERSION}",
    "html_show_copyright": False,
    "html_show_sphinx": False,
    "html_copy_source": False,
    "html_show_sourcelink": False,
    "highlight_language": "none",
    "pygments_style": "friendly",
    "myst_enable_extensions": [],
    "suppress_warnings": ["misc.highlighting_failure"],
}
_FENCED = re.compile(r"^(```.*?^```[ ]*)$", re.M | re.S)
_LANGUAGE = re.compile(r"^```(\w+)(?:[ ][^\n]*)?$", re.M)
_TOPIC = re.compile(r"(?<!\[)`dpsql help ([a-z]+)`")
_CODE = re.compile(r"(?<![\w`-])DPSQL-(\d{3})(?![\w`])")
_SECTION = re.compile(r"^## DPSQL-(\d{3})\b", re.M)


def page(text: str, codes: frozenset[str] = frozenset()) -> str:
    """A topic as a page: `dpsql help sql` and DPSQL-103 are links, languages are those that a highlighter knows."""
    parts = _FENCED.split(text)
    for i, part in enumerate(parts):
        if part.startswith("```"):
            parts[i] = _LANGUAGE.sub(lambda match: f"```{'text' if match[1] == 'session' else match[1]}", part, count=1)
        else:
            parts[i] = "\n".join(_linked(line, codes) for line in part.split("\n"))
    return _SECTION.sub(r"(dpsql-\1)=\n## DPSQL-\1", "".join(parts))


def _linked(line: str, codes: frozenset[str]) -> str:
    if line.startswith("#"):
        return line
    line = _TOPIC.sub(lambda match: f"[{match[0]}]({match[1]}.md)" if match[1] in TOPICS else match[0], line)
    return _CODE.sub(lambda match: f"[{match[0]}](#dpsql-{match[1]})" if match[1] in codes else match[0], line)


def front(more: Iterable[str]) -> str:
    """The first page: what dpsql is, and all topics in groups."""
    listed = {name for names in GROUPS.values() for name in names}
    rest = tuple(name for name in TOPICS if name not in listed)
    groups = {**GROUPS, "More": (*rest, *more)}
    lines = ["# dpsql", "", "Ordinary SQL over tables about people, with answers that are differentially private.", ""]
    lines += ["These pages are what `dpsql help TOPIC` prints.", ""]
    for title, names in groups.items():
        there = [name for name in names if name in TOPICS or name in more]
        if there:
            lines += [f"## {title}", ""]
            lines += [f"- [{TOPICS.get(name, name.capitalize())}]({name}.md)" for name in there]
            lines += ["", "```{toctree}", ":hidden:", f":caption: {title}", "", *there, "```", ""]
    return "\n".join(lines)


def write_sources(folder: Path, more: Iterable[Path] = ()) -> None:
    """The pages as Markdown, for Sphinx. `more`: pages beside the topics, such as CHANGELOG.md."""
    codes = frozenset(_SECTION.findall((HERE / "errors.md").read_text(encoding="utf-8")))
    extra = {path.stem.lower(): path for path in more}
    for name, path in {**{topic: HERE / f"{topic}.md" for topic in TOPICS}, **extra}.items():
        (folder / f"{name}.md").write_text(page(path.read_text(encoding="utf-8"), codes), encoding="utf-8")
    (folder / "index.md").write_text(front(tuple(extra)), encoding="utf-8")


def build(out: Path, more: Iterable[Path] = ()) -> None:
    """Write the website to `out`. A warning (a link that leads nowhere) is an error."""
    try:
        from sphinx.application import Sphinx
        from sphinx.util.docutils import docutils_namespace
    except ImportError:
        raise InterfaceError("Sphinx is not installed", fix="pip install 'dpsql[docs]'") from None
    with tempfile.TemporaryDirectory(prefix="dpsql-site-") as folder, docutils_namespace():
        source = Path(folder) / "pages"
        source.mkdir()
        write_sources(source, more)
        app = Sphinx(
            srcdir=source,
            confdir=None,
            outdir=out,
            doctreedir=Path(folder) / "trees",
            buildername="html",
            confoverrides=dict(SETTINGS),
            status=None,
            warningiserror=True,
        )
        app.build(force_all=True)
        if app.statuscode:
            raise InterfaceError("the website could not be built", fix="Read Sphinx's warnings above.")


if __name__ == "__main__":
    build(Path(sys.argv[1]).absolute(), [Path(name) for name in sys.argv[2:]])
    print(Path(sys.argv[1]) / "index.html")
