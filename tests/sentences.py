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
from typing import TypeGuard

import velado
from velado.sentences import translations, wordless

ROOT = Path(velado.__file__).parent
FIRST = {"Sentence", "say", "told", "spoken", "table", "Number", "Choice", "ChoiceByColumn", "ColumnName", "Levels", "Weights", "Lists",
         "Word", "Span", "Substitutes", "KeyPlace", "Size", "Condition"}  # fmt: skip
"""Calls whose first argument is a sentence."""
SECOND = {"InputError", "NoSolution", "VerificationError", "InternalError", "VeladoError", "Note", "missing_package"}
"""Calls whose second argument is a sentence."""
CELLS = {"add_row", "add_column", "Table", "print"}
"""Calls of the command line whose texts go to people as they are: words must have been put into a language before."""
WORDS = {"hint", "help", "meaning", "message", "title", "reached", "none", "unit"}
"""Keywords that are sentences, in any call."""


MARKUP = re.compile(r"\[/?[a-z ]*\]")


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


def unspoken(*rooms: str) -> Iterator[str]:
    """Places of the command line where English words are printed in every language."""
    for file, tree in _trees(rooms):
        for node in ast.walk(tree):
            if file.parts[0] == "cli" and isinstance(node, ast.Call) and _name(node) in CELLS:
                given = [*node.args, *(k.value for k in node.keywords if k.arg in WORDS)]
                for text in (found for argument in given for found in _parts(argument)):
                    if _worded(text):
                        yield f"{file}:{text.lineno}"


def _worded(node: ast.expr) -> bool:
    """Whether a text has words of its own; markup is none."""
    if isinstance(node, ast.JoinedStr):
        return any(_worded(part) for part in node.values)
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and not wordless(MARKUP.sub("", node.value))


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


def _trees(rooms: tuple[str, ...]) -> Iterator[tuple[Path, ast.Module]]:
    for file in sorted(ROOT.rglob("*.py")):
        inner = file.relative_to(ROOT)
        if "kernels" not in inner.parts and (not rooms or inner.parts[0] in rooms):
            yield inner, ast.parse(file.read_text(encoding="utf-8"))


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _nodes(rooms: tuple[str, ...]) -> Iterator[tuple[str, ast.expr]]:
    for inner, tree in _trees(rooms):
        for node in ast.walk(tree):
            if inner.parts[0] == "cli" and node in tree.body and _is_command(node):
                # What a command does is its help.
                yield f"{inner}:{node.lineno}", ast.Constant(ast.get_docstring(node))
            if not isinstance(node, ast.Call):
                continue
            name = _name(node)
            given = node.args[:1] if name in FIRST else node.args[1:2] if name in SECOND else []
            given = given + [
                k.value for k in node.keywords if k.arg in WORDS or (name == "table" and k.arg == "header")
            ]
            if name == "table" and "cli" in inner.parts:
                given += node.args[2:3]
            for sentence in given:
                yield f"{inner}:{sentence.lineno}", sentence


def _is_command(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    if not isinstance(node, ast.FunctionDef):
        return False
    decorators = [_name(d) for d in node.decorator_list if isinstance(d, ast.Call)]
    return node.name == "command" or "command" in decorators


if __name__ == "__main__":
    known = translations()
    for place, template in sentences(*sys.argv[1:]):
        if not wordless(template) and template not in known:
            print(f"{place}: not translated: {template!r}")
    for place in untranslatable(*sys.argv[1:]):
        print(f"{place}: cannot be translated: put together from pieces")
    for place in unspoken(*sys.argv[1:]):
        print(f"{place}: English in every language")
