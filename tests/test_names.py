"""Names: functions are verbs or the nouns that come back, and one name in a room means one thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import source_code

pytestmark = pytest.mark.lint
IRREGULAR = (
    "begun bought broken brought built chosen dealt done drawn driven eaten felt found given gone grown heard held hidden "
    "kept known laid led left lent lost made meant met paid said seen sent shown sold sought spent spoken taken taught "
    "thought told understood woven written"
)
PARTICIPLE = re.compile(rf"_?([a-z]+ed|{IRREGULAR.replace(' ', '|')})")
VERBS = {"need", "feed", "seed", "embed", "proceed", "exceed", "heed", "speed", "red"}
"""Words that only look like participles."""


def functions() -> list[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """All functions, methods and properties of Velado."""
    found = ((path, node) for path, tree in source_code.trees().items() for node in source_code.nodes(tree))
    return [(path, node) for path, node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def is_participle(name: str) -> bool:
    return name.lstrip("_") not in VERBS and PARTICIPLE.fullmatch(name) is not None


def test_what_is_a_bare_participle() -> None:
    assert [name for name in ("shown", "_told", "described", "describe", "need", "shown_as") if is_participle(name)] == [
        "shown",
        "_told",
        "described",
    ]


def test_functions_are_verbs_or_nouns() -> None:
    """Fewer than 1 % of them are bare participles: those that a document or the reference names so."""
    every = functions()
    named = [f"{path}:{node.lineno} {node.name}" for path, node in every if is_participle(node.name)]
    assert len(named) < 0.01 * len(every), "\n".join(named)


def test_a_class_of_service_or_studio_has_a_name_of_its_own() -> None:
    places = defaultdict(list)
    for path, tree in source_code.trees().items():
        if path.parts[0] in ("service", "studio"):
            for node in source_code.nodes(tree):
                if isinstance(node, ast.ClassDef):
                    places[node.name.lstrip("_")].append(f"{path}:{node.lineno}")
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_line_is_kept_from_the_formatter() -> None:
    kept = re.compile(r"# fmt: (skip|off)")
    assert [path for path in source_code.trees() if kept.search((source_code.ROOT / path).read_text(encoding="utf-8"))] == []
