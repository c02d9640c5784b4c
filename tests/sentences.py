"""Every sentence that the code says to people, found in the code itself.

As a command: ``python tests/sentences.py [ROOM …]`` lists the sentences that have no translation, and the places where a
sentence is put together in a way that cannot be translated.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import Any, TypeGuard

import source_code
from velado.i18n.labels import LABELS
from velado.sentences import translations, wordless

FIRST = {
    "Sentence",
    "Help",
    "say",
    "translate",
    "translate_plain",
    "table",
    "Number",
    "Choice",
    "ChoiceByColumn",
    "ColumnName",
    "Levels",
    "Weights",
    "Lists",
    "Word",
    "FileName",
    "Span",
    "Substitutes",
    "KeyPlace",
    "Size",
    "Condition",
}
"""Calls whose first argument is a sentence."""
SECOND = {
    "InputError",
    "NoSolution",
    "VerificationError",
    "InternalError",
    "VeladoError",
    "Note",
    "missing_package",
    "Refused",
    "Invalid",
    "Conflict",
    "TooLarge",
    "TooMany",
    "Unavailable",
    "__init__",
}
"""Calls whose second argument is a sentence."""
CELLS = {"add_row", "add_column", "Table", "print"}
"""Calls of the command line whose texts go to people as they are: words must have been put into a language before."""
WORDS = {"hint", "help", "meaning", "message", "title", "reached", "none"}
"""Keywords that are sentences, in any call."""
REMARKS = {"unknown", "left_out", "adapted", "to_do"}
"""Methods of importers whose first argument is a sentence."""
VARIABLES = {"message", "hint", "reason", "why", "problem"}
"""Variables that hold sentences."""
ENGLISH = re.compile(r"\b(the|is|are|not|of|and|must|has|have|with|than|be|to|no|which|that|there|only|more)\b")
"""Words that show that a text with places is meant for people."""
NOT_SAID = {"week of ", "velado 1 ", "module "}
"""Beginnings of texts that are no sentences: labels of hierarchies, purposes of keys, names that a module lacks."""
FIGURES = {"of", "k with", "values of", "loss of", "released of"}
"""What names figures in the short form of a result, which is for programmers."""
QUOTING = {"studies"}
"""Rooms whose texts are also names of published figures and remarks on them, in the words of the documents."""
MARKUP = re.compile(r"\[/?[a-z ]*\]")


def sentences(*rooms: str) -> Iterator[tuple[str, str]]:
    """Place and template of every sentence."""
    for place, node in _nodes(rooms):
        for found in _parts(node):
            if isinstance(found, ast.Constant) and isinstance(found.value, str) and found.value:
                yield place, found.value
    if not rooms or "i18n" in rooms:
        yield from ((f"i18n/labels.py: {group}", text) for group, named in LABELS.items() for text in named.values())


@cache
def page_sentences() -> list[tuple[str, str]]:
    """Place and template of every sentence in the templates of pages: the first argument of ``_``."""
    from jinja2 import nodes

    from velado.studio.request import templates

    environment, found = templates(), []
    report = files("velado.report").joinpath("templates", "report.html").read_text(encoding="utf-8")
    pages = {name: environment.loader.get_source(environment, name)[0] for name in environment.list_templates()}  # type: ignore[union-attr]
    for name, source in {**pages, "report.html": report}.items():
        for call in environment.parse(source).find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == "_" and call.args:
                found += [(f"{name}:{call.lineno}", text) for text in _constants(call.args[0])]
    return found


def _constants(node: Any) -> Iterator[str]:
    """The texts that an expression of a template may be."""
    from jinja2 import nodes

    if isinstance(node, nodes.Const):
        yield str(node.value)
    elif isinstance(node, nodes.CondExpr):
        for part in (node.expr1, node.expr2):
            if part is not None:
                yield from _constants(part)
    else:
        yield f"(put together at run time: {type(node).__name__})"


def untranslated(*rooms: str) -> Iterator[tuple[str, str]]:
    """The sentences that a language has no words for."""
    pages = page_sentences() if not rooms or "studio" in rooms else ()
    for place, template in (*sentences(*rooms), *pages):
        if not wordless(MARKUP.sub("", template)) and not {"es", "pt"} <= set(translations().get(template, ())):
            yield place, template


def untranslatable(*rooms: str) -> Iterator[str]:
    """Places where a sentence is put together from pieces."""
    for place, node in _nodes(rooms):
        for found in _parts(node):
            glued = isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute) and found.func.attr in ("join", "format")
            if isinstance(found, (ast.JoinedStr, ast.BinOp)) or glued:
                yield place
    for inner, tree in _trees(rooms):
        for node in source_code.nodes(tree):
            if isinstance(node, ast.JoinedStr) and _english(node) and inner.parts[0] not in QUOTING:
                yield f"{inner}:{node.lineno}"


def unspoken(*rooms: str) -> Iterator[str]:
    """Places of the command line where English words are printed in every language."""
    for file, tree in _trees(rooms):
        for node in source_code.nodes(tree):
            if file.parts[0] == "cli" and isinstance(node, ast.Call) and _name(node) in CELLS:
                given = [*node.args, *(k.value for k in node.keywords if k.arg in WORDS)]
                for text in (found for argument in given for found in _parts(argument)):
                    if _worded(text):
                        yield f"{file}:{text.lineno}"


def misfilled(*rooms: str) -> Iterator[str]:
    """Places where a sentence does not get what its places ask for, or gets more."""
    for inner, tree in _trees(rooms):
        for node in source_code.nodes(tree):
            if not isinstance(node, ast.Call) or _name(node) not in ("Sentence", "say") or not node.args:
                continue
            template, given = node.args[0], {k.arg for k in node.keywords}
            if isinstance(template, ast.Constant) and given and None not in given:
                wanted = {name for _, name, _, _ in Formatter().parse(template.value) if name is not None}
                if wanted != given:
                    yield f"{inner}:{node.lineno}"


def written() -> set[str]:
    """Every text that stands in the code, lines of help in one, and the names of arguments."""
    found = [node for tree in source_code.trees().values() for node in source_code.nodes(tree)]
    texts = {node.value for node in found if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    names = {node.arg for node in found if isinstance(node, ast.arg)}
    return texts | {" ".join(text.split()) for text in texts} | names | {text for _, text in page_sentences()}


def _worded(node: ast.expr) -> bool:
    """Whether a text has words of its own; markup is none."""
    if isinstance(node, ast.JoinedStr):
        return any(_worded(part) for part in node.values)
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and not wordless(MARKUP.sub("", node.value))


def _english(node: ast.JoinedStr) -> bool:
    """Whether an f-string says something to people: SQL is written in capitals, and patterns have backslashes."""
    text = " ".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    words = ENGLISH.search(text) is not None and not re.search(r"\b(SELECT|SET|FROM|CASE|WHEN)\b|\\", text)
    return words and not text.startswith(tuple(NOT_SAID)) and text.strip() not in FIGURES


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
    for inner, tree in source_code.trees().items():
        if not {"kernels", "sentences.py"} & set(inner.parts) and (not rooms or inner.parts[0] in rooms):
            yield inner, tree


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _nodes(rooms: tuple[str, ...]) -> Iterator[tuple[str, ast.expr]]:
    for inner, tree in _trees(rooms):
        for node in source_code.nodes(tree):
            if inner.parts[0] == "cli" and node in tree.body and _is_command(node):
                # What a command does is its help.
                yield f"{inner}:{node.lineno}", ast.Constant(ast.get_docstring(node))
            for sentence in _given(node, inner):
                yield f"{inner}:{sentence.lineno}", sentence


def _given(node: ast.AST, inner: Path) -> list[ast.expr]:
    """The sentences that a call gets, or a variable."""
    if isinstance(node, ast.Assign):
        known = VARIABLES | {"header"} if "chapters" in inner.parts else VARIABLES
        named = any(isinstance(target, ast.Name) and target.id in known for target in node.targets)
        return [node.value] if named and inner.parts[0] not in QUOTING else []
    if not isinstance(node, ast.Call):
        return []
    name = _name(node)
    first = name in FIRST or (name in REMARKS and "importers" in inner.parts)
    given = node.args[:1] if first else node.args[:2] if name == "plural" else node.args[1:2] if name in SECOND else []
    more = {"header"} if name == "table" else {"unit"} if name in FIRST else set()
    given = given + [k.value for k in node.keywords if k.arg in WORDS | more]
    return given + (node.args[2:3] if name == "table" and {"cli", "report"} & set(inner.parts) else [])


def _is_command(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    if not isinstance(node, ast.FunctionDef):
        return False
    decorators = [_name(d) for d in node.decorator_list if isinstance(d, ast.Call)]
    return node.name == "command" or "command" in decorators


if __name__ == "__main__":
    for place, template in untranslated(*sys.argv[1:]):
        print(f"{place}: not translated: {template!r}")
    for place in sorted(set(untranslatable(*sys.argv[1:]))):
        print(f"{place}: cannot be translated: put together from pieces")
    for place in unspoken(*sys.argv[1:]):
        print(f"{place}: English in every language")
    for place in misfilled(*sys.argv[1:]):
        print(f"{place}: places and what fills them differ")
