"""The shape of the code; that imports point downwards is checked by ``make lint`` (lint-imports)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import source_code
import velado

pytestmark = pytest.mark.lint

ROOT = Path(__file__).resolve().parents[1]


def test_every_layer_is_in_the_contract() -> None:
    contract = (ROOT / "pyproject.toml").read_text()
    rooms = {entry.stem for entry in source_code.ROOT.iterdir() if not entry.name.startswith("__")}
    assert sorted(room for room in rooms if f"velado.{room}" not in contract) == []


def test_importing_velado_imports_nothing_heavy() -> None:
    heavy = "'numba', 'duckdb', 'pyarrow', 'pandas', 'polars', 'altair', 'scipy', 'faker', 'phonenumbers', 'stdnum'"
    code = f"import sys, velado; print([m for m in ({heavy}) if m in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_the_public_names_exist() -> None:
    assert len(set(velado.__all__)) == len(velado.__all__)
    assert [name for name in velado.__all__ if not hasattr(velado, name)] == []
    assert velado.__version__.count(".") == 2


def test_nothing_under_src_names_a_machine() -> None:
    machine = re.compile(r"(?<![\w.])/(work|root|home|farm)/")
    assert machine.search("folder = '/home/somebody'")
    files = (ROOT / "src").rglob("*.py")
    assert [path for path in files if machine.search(path.read_text(encoding="utf-8"))] == []
