"""What `make release` and `make lowest` look at, on made-up versions, changelogs and repositories."""

from __future__ import annotations

import datetime
import subprocess
import tomllib
from pathlib import Path

from tests.project import lowest, release
from tests.project.wheel import ROOT, problems_of_wheel, tracked, version

PACKAGE = 'VERSION = "1.2.3"\n'
CHANGELOG = "# Changelog\n\n## 1.2.3 (2026-01-31)\n\n### Privacy\n- a\n\n## 1.2.2 (2026-01-01)\n- b\n"


def text(wanted: str = "1.2.3", package: str = PACKAGE, changelog: str = CHANGELOG) -> list[str]:
    return list(release.problems_of_text(wanted, package, changelog))


def test_a_release_passes() -> None:
    assert text() == []


def test_each_part_is_looked_at() -> None:
    later = (datetime.date.today() + datetime.timedelta(days=2)).isoformat()
    for wrong, word in (
        (text(wanted="1.2.4"), "version.py is not at 1.2.4"),
        (text(wanted="1.2.4"), "first section of CHANGELOG.md is not 1.2.4"),
        (text(wanted="1.2.3rc1", package='VERSION = "1.2.3rc1"\n'), "not major.minor.patch"),
        (text(changelog=CHANGELOG.replace("2026-01-31", "unreleased")), "has no date, but (unreleased)"),
        (text(changelog=CHANGELOG.replace("2026-01-31", later)), "has no date"),
        (text(changelog=CHANGELOG.replace("### Privacy\n- a\n", "")), "says nothing about 1.2.3"),
        (text(changelog=CHANGELOG.replace("1.2.2", "1.2.3")), "a version twice"),
        (text(changelog="# Changelog\n"), "first section"),
    ):
        assert any(word in line for line in wrong), (word, wrong)


def test_the_commit_is_tagged_and_nothing_is_beside_it(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        settings = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *settings, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    git("commit", "--allow-empty", "-m", "one")
    assert list(release.problems_of_commit("1.2.3", tmp_path)) == ["this commit is not tagged: git tag -a v1.2.3"]
    git("tag", "-a", "v1.2.3", "-m", "x")
    assert list(release.problems_of_commit("1.2.3", tmp_path)) == []
    (tmp_path / "new").write_text("")
    assert list(release.problems_of_commit("1.2.3", tmp_path)) == ["there are changes that are not committed"]


def test_the_version_is_said_once_and_the_changelog_begins_with_it() -> None:
    wrong = list(
        release.problems_of_text(
            version(),
            (ROOT / "dpsql" / "version.py").read_text(encoding="utf-8"),
            (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        )
    )
    assert [line for line in wrong if "(unreleased)" not in line] == []


def test_a_wheel_that_lacks_a_file_or_has_a_foreign_one_is_found() -> None:
    whole = [path.relative_to(ROOT).as_posix() for path in tracked("dpsql")]
    whole += [f"dpsql/samples/metadata/{path.name}" for path in tracked("metadata") if path.suffix == ".yaml"]
    whole += [f"dpsql-{version()}.dist-info/METADATA"]
    assert problems_of_wheel(whole) == []
    less = [name for name in whole if name != "dpsql/help/proof.md"]
    assert problems_of_wheel([*less, "tests/conftest.py"]) == [
        "the wheel lacks dpsql/help/proof.md",
        "the wheel has tests/",
    ]


def test_every_dependency_has_a_lowest_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert lowest.unbounded(project) == []
    pins = list(lowest.lowest(project))
    assert len(pins) == len(project["dependencies"]) + len(lowest.PARTNERS)
    assert "duckdb==2.0" in pins and "pyarrow==17" in pins
    assert list(lowest.pinned(["a>=1.0,<2", "b[x]==3 ", "c", "d<2"])) == ["a==1.0", "b==3"]
