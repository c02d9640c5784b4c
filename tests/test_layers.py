"""The shape of the code; that imports point downwards is checked by ``make lint`` (lint-imports)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
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


LAZY = ("tables/registry.py", "tables/*/engine.py", "service/store/store.py")
"""Files that import a neighbour when it is used, since it imports a driver, or Alembic."""


def _imports(tree: ast.AST, modules: set[str], *, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Modules of Velado that a file imports, and whether in a function; not what is for the type checker only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom):
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                yield (name if name in modules else str(node.module)), inside
        elif not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            yield from _imports(node, modules, inside=inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_no_import_in_a_function_hides_a_cycle() -> None:
    named = {".".join(("velado", *path.with_suffix("").parts)).removesuffix(".__init__"): path for path in source_code.trees()}
    found = {name: list(_imports(source_code.trees()[path], {*named})) for name, path in named.items()}

    def reached(name: str) -> set[str]:
        seen, ahead = set[str](), [name]
        while ahead:
            parts = ahead.pop().split(".")
            for module in (".".join(parts[: i + 1]) for i in range(len(parts))):
                if module in named and module not in seen:
                    seen.add(module)
                    ahead += [other for other, inside in found[module] if not inside]
        return seen

    hidden = [(name, other) for name, all_ in found.items() for other, inside in all_ if inside and other in named]
    hidden = [(name, other) for name, other in hidden if not any(named[name].match(file) for file in LAZY)]
    assert [f"{name} -> {other}" for name, other in hidden if name in reached(other)] == []
