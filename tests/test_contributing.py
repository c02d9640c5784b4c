"""The door for contributors: what CONTRIBUTING, the how-tos and the hooks name is there."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import yaml

from suite_parts import PARTS

ROOT = Path(__file__).resolve().parents[1]
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
HOW_TOS = sorted((ROOT / "docs" / "how-to").glob("add-a*.md"))
OBJECTS = ROOT / "docs" / "reference" / "objects.md"
SOURCE = ROOT / "src" / "velado"
BIN = ".venv/bin/"
PAGES = [CONTRIBUTING, ROOT / "docs" / "architecture.md", OBJECTS, *HOW_TOS]

pytestmark = pytest.mark.lint


def makefile() -> str:
    return (ROOT / "Makefile").read_text(encoding="utf-8")


def targets() -> set[str]:
    rules = re.findall(r"^([a-z][a-z -]*):(?!=)", makefile(), re.MULTILINE)
    return {name for rule in rules for name in rule.split()}


def lint_commands() -> list[list[str]]:
    """What ``make lint`` runs, variables filled in, without the options that only its output needs."""
    text = makefile()
    values = dict(re.findall(r"^([A-Z]+) [:?]?= (.*)$", text, re.MULTILINE))
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", text, re.MULTILINE)
    assert recipe is not None
    lines = recipe[1]
    for _ in range(3):
        lines = re.sub(r"\$\((\w+)\)", lambda found: values.get(found[1], ""), lines)
    return [line.replace(f"{BIN}python -m ", BIN).split() for line in lines.splitlines()]


def hooks() -> list[dict[str, Any]]:
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert [repo["repo"] for repo in repos] == ["local"], "nothing is loaded from elsewhere"
    return [hook for repo in repos for hook in repo["hooks"]]


def development() -> list[str]:
    """The packages that the extra ``dev`` installs by name."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return [re.split(r"[<>=\[]", name)[0] for name in extras["dev"] if not name.startswith("velado[")]


# The hooks


def test_hooks_are_what_make_lint_runs() -> None:
    """Each hook is a line of the recipe, and each line is a hook."""
    wanted = [hook["entry"].split() for hook in hooks()]
    missing = [entry for entry in wanted if not any(_runs(line, entry) for line in lint_commands())]
    assert missing == []
    unguarded = [line for line in lint_commands() if not any(_runs(line, entry) for entry in wanted)]
    assert unguarded == []


def _runs(line: list[str], entry: list[str]) -> bool:
    return line[0] == entry[0] and set(entry) <= set(line)


def test_hooks_use_tools_that_development_installs() -> None:
    files = {file.name for name in development() for file in distribution(name).files or ()}
    assert [hook["entry"] for hook in hooks() if not hook["entry"].startswith(BIN)] == []
    assert [hook["entry"] for hook in hooks() if Path(hook["entry"].split()[0]).name not in files] == []
    assert {hook["language"] for hook in hooks()} == {"system"}


# What pages name


def test_make_targets_exist() -> None:
    named = {
        (page.name, target)
        for page in [ROOT / "README.md", CONTRIBUTING, *(ROOT / "docs").rglob("*.md")]
        for target in re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {target for page, target in named if page == CONTRIBUTING.name} >= {"demo", "lint", "test", "test-all"}
    assert sorted((page, target) for page, target in named if target not in targets()) == []


def test_every_part_of_the_suite_is_explained() -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    wanted = ["lint", "test", "test-all", "torture", *(f"test-{part}" for part in PARTS if part != "lint")]
    assert [name for name in wanted if f"| `make {name}` |" not in text or name not in targets()] == []


def test_marks_exist(pytestconfig: pytest.Config) -> None:
    known = {line.partition(":")[0].partition("(")[0] for line in pytestconfig.getini("markers")}
    text = CONTRIBUTING.read_text(encoding="utf-8")
    named = set(re.findall(r"pytest\.mark\.(\w+)|pytest -m (\w+)", text))
    assert named
    assert sorted(one for pair in named for one in pair if one and one not in known) == []


def test_paths_exist() -> None:
    """Files and folders of the repository that pages name between backticks; ``test_docs`` follows the links of docs/."""
    named = {
        (page.name, path)
        for page in PAGES
        for path in re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./-]*)`", page.read_text(encoding="utf-8"))
    }
    assert len(named) > 30
    assert sorted((page, path) for page, path in named if not (ROOT / path).exists()) == []
    links = re.findall(r"\]\(([^):#]+)\)", CONTRIBUTING.read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_objects_are_where_the_reference_says() -> None:
    """Every object of the table is defined in one of the rooms that its line names."""
    lines = re.findall(r"^\| (`\w+`.*?) \| (.+?) \| ", OBJECTS.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(lines) > 40
    lost = [
        f"{name} in {rooms}"
        for names, rooms in lines
        for name in re.findall(r"`(\w+)`", names)
        if not any(re.search(rf"^(?:class|def) {name}\b", _code(room), re.MULTILINE) for room in rooms.split(", "))
    ]
    assert lost == []


def _code(room: str) -> str:
    place = SOURCE / room
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def test_the_architecture_stays_short() -> None:
    """What one reads in ten minutes; details are in the reference."""
    assert len((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split()) <= 2000
