"""Only the room of tables knows engines, SQL, types of engines, and how paths are put together."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from source_code import nodes, trees

pytestmark = pytest.mark.lint

OWN = Path("service", "store", "migrations")
"""The service's own database, which holds no table of people's."""
WITHOUT_PATHS = ("release", "questions")
"""Rooms that hand paths on and never look into them."""

SQL = re.compile(r"\b(SELECT|INSERT|COPY|CREATE TABLE|CREATE TEMP|DROP TABLE|ORDER BY|GROUP BY|CAST)\b[ (].*")
KINDS = re.compile(r"\b(VARCHAR|U?BIGINT|U?HUGEINT|U?SMALLINT|U?TINYINT|UINTEGER|DOUBLE|TIMESTAMP_(?:S|MS|NS)|TIMESTAMPTZ)\b")
PLACES = ("velado.tables.duckdb", "velado.tables.sql")
TAKEN_APART = ("parent", "parents", "with_name", "with_stem", "with_suffix", "joinpath", "resolve", "suffix", "stem")


def violations(tree: ast.Module, room: str) -> Iterator[str]:
    """What a file outside the room of tables says that only that room may say."""
    for node in nodes(tree):
        yield from (f"line {node.lineno}: imports {name}" for name in _imported(node) if _forbidden(name))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if SQL.search(node.value):
                yield f"line {node.lineno}: SQL"
            if found := KINDS.search(node.value):
                yield f"line {node.lineno}: the type {found[0]} of an engine"
        if room in WITHOUT_PATHS and (how := _path(node)):
            yield f"line {node.lineno}: a path, {how}"  # type: ignore[attr-defined]


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module or ''}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return [str(node.args[0].value)] if name in ("import_module", "__import__") else []
    return []


def _forbidden(name: str) -> bool:
    return name.split(".")[0] in ("duckdb", "_duckdb") or any(name == p or name.startswith(f"{p}.") for p in PLACES)


def _path(node: ast.AST) -> str:
    """How a path is put together or taken apart."""
    if isinstance(node, ast.Attribute) and node.attr in TAKEN_APART:
        return f".{node.attr}"
    if isinstance(node, ast.Attribute) and node.attr == "path" and getattr(node.value, "id", "") == "os":
        return "os.path"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        sides = (node.left, node.right)
        if any(isinstance(s, ast.JoinedStr) or (isinstance(s, ast.Constant) and isinstance(s.value, str)) for s in sides):
            return "/"
    return ""


def test_only_the_room_of_tables_knows_engines() -> None:
    outside = {p: tree for p, tree in trees().items() if p.parts[0] != "tables" and not p.is_relative_to(OWN)}
    assert len(outside) > 400
    found = [f"{path}, {what}" for path, tree in outside.items() for what in violations(tree, path.parts[0])]
    assert found == []


# The search itself finds what it is for, and nothing else.


def unseen(code: tuple[str, ...], room: str) -> list[str]:
    """The pieces of code in which nothing is found."""
    return [piece for piece in code if not list(violations(ast.parse(piece), room))]


def test_a_file_that_knows_an_engine_is_found() -> None:
    code = (
        "import duckdb",
        "import duckdb.typing as types",
        "from duckdb import connect",
        "def f():\n    import duckdb",
        "import importlib\nimportlib.import_module('duckdb')",
        "from velado.tables import duckdb",
        "from velado.tables.duckdb import DuckDBEngine",
        "from velado.tables.duckdb.table import DuckDBTable",
        "from velado.tables.sql.dialect import literal",
        "import velado.tables.sql",
        "table.run('SELECT * FROM t')",
        "table.run(f'SELECT {cells} FROM t')",
        "x = 'COPY t TO out'",
        "x = f'CAST({cell} AS text)'",
        "x = 'CREATE TABLE t (a int)'",
        "x = 'VARCHAR'",
        "x = f'{cell}::BIGINT'",
        "kinds = {'TIMESTAMP_NS', 'USMALLINT'}",
    )
    assert unseen(code, "models") == []


def test_a_path_that_is_taken_apart_is_found() -> None:
    code = (
        "x = folder / 'release.csv'",
        "x = folder / f'{name}.csv'",
        "x = 'out' / name",
        "x = path.parent",
        "x = path.with_name('other')",
        "x = path.with_suffix('.csv')",
        "x = path.joinpath(name)",
        "x = path.resolve()",
        "import os\nx = os.path.join(a, b)",
    )
    assert unseen(code, "release") == []
    assert unseen(code, "questions") == []
    assert unseen(code, "cli") == list(code), "elsewhere paths are paths"


def test_what_is_no_violation_passes() -> None:
    code = (
        "from velado.tables import Table, open_table",
        "x = 'Select one of the columns. INSERTED'",
        "x = 'a doublet, DOUBLES'",
        "x = rows / total",
        "x = 'the copy'",
    )
    assert unseen(code, "release") == list(code)
