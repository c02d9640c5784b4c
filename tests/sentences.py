"""Every sentence that the code says to people, found in the code itself.

As a command: ``python tests/sentences.py [ROOM …]`` lists the sentences that have no translation, and the places where a
sentence is put together in a way that cannot be translated.
"""

from __future__ import annotations

import ast
import re
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
WORDS = {"hint", "help", "meaning", "message", "title"}
"""Keywords that are sentences, in any call."""
REMARKS = {"unknown", "left_out", "adapted", "to_do"}
"""Methods of importers whose first argument is a sentence."""
VARIABLES = {"message", "hint", "reason", "why", "problem"}
"""Variables that hold sentences."""
ENGLISH = re.compile(r"\b(the|is|are|not|of|and|must|has|have|with|than|be|to|no|which|that|there|only|more)\b")
"""Words that show that a text with places is meant for people."""
NOT_SAID = {"week of ", "velado 1 ", "module "}
"""Beginnings of texts that are no sentences: labels of hierarchies, purposes of keys, names that a module lacks."""
QUOTING = {"studies"}
"""Rooms whose texts are also names of published figures and remarks on them, in the words of the documents."""


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
    for inner, tree in _files(rooms):
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr) and _english(node) and inner.parts[0] not in QUOTING:
                yield f"{inner}:{node.lineno}"


def _english(node: ast.JoinedStr) -> bool:
    """Whether an f-string says something to people: SQL is written in capitals, and patterns have backslashes."""
    text = " ".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    words = ENGLISH.search(text) is not None and not re.search(r"\b(SELECT|SET|FROM|CASE|WHEN)\b|\\", text)
    return words and not text.startswith(tuple(NOT_SAID))


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


def _files(rooms: tuple[str, ...]) -> Iterator[tuple[Path, ast.Module]]:
    for file in sorted(ROOT.rglob("*.py")):
        inner = file.relative_to(ROOT)
        if not {"kernels", "sentences.py"} & set(inner.parts) and (not rooms or inner.parts[0] in rooms):
            yield inner, ast.parse(file.read_text(encoding="utf-8"))


def _nodes(rooms: tuple[str, ...]) -> Iterator[tuple[str, ast.expr]]:
    for inner, tree in _files(rooms):
        for node in ast.walk(tree):
            for sentence in _given(node, inner):
                yield f"{inner}:{sentence.lineno}", sentence


def _given(node: ast.AST, inner: Path) -> list[ast.expr]:
    """The sentences that a call gets, or a variable."""
    if isinstance(node, ast.Assign):
        named = any(isinstance(target, ast.Name) and target.id in VARIABLES for target in node.targets)
        return [node.value] if named and inner.parts[0] not in QUOTING else []
    if not isinstance(node, ast.Call):
        return []
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    first = name in FIRST or (name in REMARKS and "importers" in inner.parts)
    given = node.args[:1] if first else node.args[1:2] if name in SECOND else []
    more = {"header"} if name == "table" else {"unit"} if name in FIRST else set()
    given = given + [k.value for k in node.keywords if k.arg in WORDS | more]
    return given + (node.args[2:3] if name == "table" and "cli" in inner.parts else [])


if __name__ == "__main__":
    from velado.sentences import translations, wordless

    known = translations()
    for place, template in sentences(*sys.argv[1:]):
        if not wordless(template) and template not in known:
            print(f"{place}: not translated: {template!r}")
    for place in sorted(set(untranslatable(*sys.argv[1:]))):
        print(f"{place}: cannot be translated: put together from pieces")
