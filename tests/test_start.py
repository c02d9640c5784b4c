"""A command loads what it needs, and compiling is shared with a second process."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import velado
from velado.kernels import compile_cache

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"numpy", "duckdb", "pyarrow", "numba", "scipy", "pandas", "polars", "yaml", "cryptography", "sklearn", "ortools"}
READING = {"numpy", "duckdb", "pyarrow"}
LOADED = "import sys; sys.argv = {args!r}\ntry:\n    from velado.cli import main; main()\nfinally:\n    print(*sys.modules, file=open('loaded.txt', 'w'))"
TABLE = "age,sex,zip,diagnosis\n34,F,28001,flu\n35,M,28002,flu\n36,F,28003,cold\n41,M,28001,asthma\n"
PROJECT = "source: people.csv\ncolumns:\n  age: {role: quasi-identifier, hierarchy: {intervals: {widths: [5, 10]}}}\nrest: drop\n"


@pytest.mark.parametrize(
    ("args", "allowed"),
    [
        ("--help", set()),
        ("--version", set()),
        ("run", {"numpy", "yaml"}),
        ("rum", set()),
        ("inspect people.csv", READING),
        ("inspect missing.csv", READING),
        ("init people.csv", READING | {"yaml", "numba", "scipy", "pandas"}),
        ("hierarchy project.yaml age", READING | {"yaml"}),
        ("run missing.yaml", {"numpy", "yaml"}),
    ],
)
def test_a_command_loads_only_what_it_needs(args: str, allowed: set[str], tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(TABLE)
    (tmp_path / "project.yaml").write_text(PROJECT + "models: [{k-anonymity: {k: 2}}]\noutput: out.csv\n")
    code = LOADED.format(args=["velado", *args.split()])
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False)
    loaded = {name.partition(".")[0] for name in (tmp_path / "loaded.txt").read_text().split()}
    assert loaded & HEAVY <= allowed
    assert "velado" in loaded


def test_names_are_at_home_where_type_checkers_find_them() -> None:
    tree = ast.parse(Path(velado.__file__).read_text(encoding="utf-8"))
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {(n.module, a.name, a.asname or a.name) for n in checked.body if isinstance(n, ast.ImportFrom) for a in n.names}
    entries = {(home, *entry.partition("=")[::2]) for home, names in velado._HOMES.items() for entry in names.split()}
    assert {(home, inner or public, public) for home, public, inner in entries} == seen
    assert {public for _, _, public in seen} == set(velado.__all__)
    assert set(dir(velado)) >= set(velado.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nobody'"):
        velado.nobody  # noqa: B018


def test_submodules_are_reached_without_importing_them() -> None:
    code = "import velado; print(velado.samples.hospital.__name__, hasattr(velado, 'nobody'))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["hospital", "False"]


# Compiling.


def test_where_compiled_code_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kernels = Path(compile_cache.__file__).parent
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert compile_cache._cache_folder().parent == kernels / "__pycache__"
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert compile_cache._cache_folder().parent == Path.home() / ".cache" / "velado"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert compile_cache._cache_folder().parent == tmp_path / "velado"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "mine"))
    assert compile_cache._cache_folder().parent == tmp_path / "mine"


@pytest.mark.parametrize("page", ["README.md", "docs/reference/cli.md", "docs/explanation/speed.md"])
def test_the_documentation_says_where(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "NUMBA_CACHE_DIR" in text
    assert "~/.cache" in text
    assert "beside the package" in text
    assert "velado/numba" not in text
