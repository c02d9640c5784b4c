"""The files of Velado, each read and parsed once for all tests that look into the code."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import velado

ROOT = Path(velado.__file__).parent


@cache
def trees() -> dict[Path, ast.Module]:
    """Every file, by its path below ``velado``."""
    files = sorted(ROOT.rglob("*.py"))
    return {file.relative_to(ROOT): ast.parse(file.read_text(encoding="utf-8")) for file in files}


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All nodes of a file."""
    return tuple(ast.walk(tree))
