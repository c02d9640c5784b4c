"""Every sentence that the code says to people, found in the code itself.

As a command: ``python tests/sentences.py [ROOM …]`` lists the sentences that have no translation, and the places where a
sentence is put together in a way that cannot be translated.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import velado

ROOT = Path(velado.__file__).parent
FIRST = {"Sentence", "say", "told", "table", "Number", "Choice", "ChoiceByColumn", "ColumnName", "Levels", "Weights", "Lists",
         "Word", "Span", "Substitutes", "KeyPlace", "Size", "Condition"}  # fmt: skip
"""Calls whose first argument is a sentence."""
SECOND = {"InputError", "NoSolution", "VerificationError", "InternalError", "VeladoError", "Note", "missing_package"}
"""Calls whose second argument is a sentence."""
WORDS = {"hint", "help", "meaning", "message", "title", "unit"}
"""Keywords that are sentences, in any call."""


def sentences(*rooms: str) -> Iterator[tuple[str, str]]:
    """Place and template of every sentence."""
    for place, node in _nodes(rooms):
        for found in _parts(node):
            if isinstance(found, ast.Constant) and isinstance(found.value, str) and found.value:
                yield place, found.value


def untranslatable(*rooms: str) -> Iterator[str]:
    """Places where a sentence is put together from pieces."""
    for place, node in _nodes(rooms):
        for found in _parts(node):
            glued = (
                isinstance(found, ast.Call)
                and isinstance(found.func, ast.Attribute)
                and found.func.attr in ("join", "format")
            )
            if isinstance(found, (ast.JoinedStr, ast.BinOp)) or glued:
                yield place


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """A conditional or alternative sentence is several."""
    if isinstance(node, ast.IfExp):
        yield from _parts(node.body)
        yield from _parts(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _parts(value)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for value in node.elts:
            yield from _parts(value)
    else:
        yield node


def _nodes(rooms: tuple[str, ...]) -> Iterator[tuple[str, ast.expr]]:
    for file in sorted(ROOT.rglob("*.py")):
        inner = file.relative_to(ROOT)
        if "kernels" in inner.parts or (rooms and inner.parts[0] not in rooms):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            given = node.args[:1] if name in FIRST else node.args[1:2] if name in SECOND else []
            given = given + [
                k.value for k in node.keywords if k.arg in WORDS or (name == "table" and k.arg == "header")
            ]
            if name == "table" and "cli" in inner.parts:
                given += node.args[2:3]
            for sentence in given:
                yield f"{inner}:{sentence.lineno}", sentence


if __name__ == "__main__":
    from velado.sentences import translations, wordless

    known = translations()
    for place, template in sentences(*sys.argv[1:]):
        if not wordless(template) and template not in known:
            print(f"{place}: not translated: {template!r}")
    for place in untranslatable(*sys.argv[1:]):
        print(f"{place}: cannot be translated: put together from pieces")
