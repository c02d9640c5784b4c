"""The shape of the code; that imports point downwards is checked by ``make lint`` (lint-imports)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import velado

ROOT = Path(__file__).resolve().parents[1]


def test_every_layer_is_in_the_contract() -> None:
    contract = (ROOT / "pyproject.toml").read_text()
    for entry in (ROOT / "src" / "velado").iterdir():
        if entry.name.startswith("__"):
            continue
        assert f"velado.{entry.stem}" in contract, f"{entry.name} is in no layer"


def test_importing_velado_imports_nothing_heavy() -> None:
    heavy = "'numba', 'duckdb', 'pyarrow', 'pandas', 'polars', 'altair', 'scipy', 'faker', 'phonenumbers', 'stdnum'"
    code = f"import sys, velado; print([m for m in ({heavy}) if m in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_the_public_names_exist() -> None:
    assert len(set(velado.__all__)) == len(velado.__all__)
    assert all(hasattr(velado, name) for name in velado.__all__)
    assert velado.__version__.count(".") == 2


def test_nothing_under_src_names_a_machine() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?<![\w.])/(work|root|home|farm)/", text), path
