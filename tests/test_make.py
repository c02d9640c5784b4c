"""README and Makefile agree, and each command installs what it needs and no more."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from velado.samples import hospital

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """What make says, without the variables of a make that may have started the tests."""
    unwanted = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "TABLE", "VENV")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    command = ["make", "-f", ROOT / "Makefile", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=600, check=False)


@pytest.mark.lint
def test_the_first_screen_has_the_commands_in_blocks_of_their_own() -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", README.partition("\n## ")[0], re.MULTILINE | re.DOTALL)
    assert blocks == ["make demo\n", "make test\n", "make studio\n"]
    assert len(README.partition("\n## ")[0].splitlines()) < 30


@pytest.mark.lint
@pytest.mark.parametrize(("target", "what"), [("demo", "."), ("anonymize", "."), ("studio", ".[studio]"), ("test", ".[dev]")])
def test_a_command_installs_what_it_needs(target: str, what: str) -> None:
    ended = make("--dry-run", target, "VENV=nowhere/venv")
    assert ended.returncode == 0, ended.stderr
    assert re.findall(r"--editable '?([^'\s]+)'?$", ended.stdout, re.MULTILINE) == [what]


@pytest.mark.thorough
def test_a_table_of_ones_own(tmp_path: Path) -> None:
    """In another folder, with a blank in its name; a project file that is there is used as it is."""
    import pyarrow.csv

    pyarrow.csv.write_csv(hospital(300), tmp_path / "my people.csv")
    here = (f"VENV={sys.prefix}", f"--assume-old={sys.prefix}/.package", "TABLE=my people.csv", "anonymize")
    first = make(*here, folder=tmp_path)
    assert first.returncode == 0, first.stderr
    project, release = tmp_path / "my people.yaml", tmp_path / "my people_anonymous.csv"
    written = project.read_text(encoding="utf-8")
    assert release.is_file()
    project.write_text(written.replace("my people_anonymous", "again"), encoding="utf-8")
    assert make(*here, folder=tmp_path).returncode == 0
    assert (tmp_path / "again.csv").is_file()


def test_no_table_is_told(tmp_path: Path) -> None:
    for table in ("", "TABLE=nothing.csv"):
        ended = make(f"VENV={sys.prefix}", f"--assume-old={sys.prefix}/.package", table or "--silent", "anonymize", folder=tmp_path)
        assert ended.returncode == 2
        assert "make anonymize TABLE=people.csv" in ended.stderr
    assert [*tmp_path.iterdir()] == []
