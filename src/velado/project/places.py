"""All places of a project document where something outside of it is named: tables, files, keys, and where a release goes.

Everything that reads or changes such places walks here, so that none is forgotten; `tests/service/test_documents.py`
compares the lists with what models and operations declare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from velado.errors import Problems

What = Literal["source", "output", "file", "key"]
Visit = Callable[[What, Any], Any]
"""Told what stands at a place, and its value; gives what is to stand there instead."""

KEYED: Mapping[str, tuple[str, bool]] = {
    "encrypt": ("key", True),
    "pseudonymize": ("key", True),
    "shift": ("key", False),
}
"""Operations with a key: the parameter, and whether it may stand alone behind the name."""
FILED: Mapping[str, str] = {"substitute": "file"}
"""Operations with a file."""
POPULATED: Mapping[str, str] = {"k-map": "population"}
"""Models with a file."""
COLUMNED = ("columns", "attributes")


def walk(document: Mapping[str, Any], visit: Visit) -> dict[str, Any]:
    """A copy of a document in which ``visit`` has replaced what stands at every place.

    Its errors are gathered, each with its path in the document. What has another shape than that of a project is left as it
    is: whoever loads the document says so.
    """
    problems = Problems()
    found = _table(document, visit, problems)
    tables = document.get("tables")
    if isinstance(tables, Mapping):
        found["tables"] = {}
        for name, table in tables.items():
            inner = Problems()
            made = _table(table, visit, inner) if isinstance(table, Mapping) else table
            found["tables"][name] = made
            for error in inner.found:
                problems.add(error, "tables", str(name))
    problems.done()
    return found


def _table(table: Mapping[str, Any], visit: Visit, problems: Problems) -> dict[str, Any]:
    found = dict(table)
    what: What
    for what in ("source", "output"):
        if table.get(what) is not None:
            found[what] = table[what]
            with problems.at(what):
                found[what] = visit(what, table[what])
    for key in COLUMNED:
        columns = table.get(key)
        if isinstance(columns, Mapping):
            found[key] = {
                name: _column(column, visit, problems, (key, str(name))) if isinstance(column, Mapping) else column
                for name, column in columns.items()
            }
    models = table.get("models")
    if isinstance(models, Mapping):
        found["models"] = _models(models, visit, problems, ("models",))
    elif isinstance(models, (list, tuple)):
        found["models"] = [
            _models(model, visit, problems, ("models", number)) if isinstance(model, Mapping) else model
            for number, model in enumerate(models)
        ]
    return found


def _column(column: Mapping[str, Any], visit: Visit, problems: Problems, way: tuple[str | int, ...]) -> dict[str, Any]:
    found = dict(column)
    hierarchy, operation = column.get("hierarchy"), column.get("operation")
    if isinstance(hierarchy, Mapping) and "file" in hierarchy:
        found["hierarchy"] = dict(hierarchy)
        with problems.at(*way, "hierarchy", "file"):
            found["hierarchy"]["file"] = visit("file", hierarchy["file"])
    if isinstance(operation, Mapping):
        found["operation"] = dict(_operations(operation, visit, problems, (*way, "operation")))
    return found


def _operations(
    operation: Mapping[str, Any], visit: Visit, problems: Problems, way: tuple[str | int, ...]
) -> Iterator[tuple[str, Any]]:
    for name, given in operation.items():
        made = given
        if name in KEYED:
            parameter, alone = KEYED[name]
            if isinstance(given, Mapping):
                made = _replaced(given, parameter, "key", visit, problems, (*way, name))
            elif alone and given is not None:
                with problems.at(*way, name):
                    made = visit("key", given)
        elif name in FILED and isinstance(given, Mapping):
            made = _replaced(given, FILED[name], "file", visit, problems, (*way, name))
        yield name, made


def _models(models: Mapping[str, Any], visit: Visit, problems: Problems, way: tuple[str | int, ...]) -> dict[str, Any]:
    return {
        name: _replaced(given, POPULATED[name], "file", visit, problems, (*way, name))
        if name in POPULATED and isinstance(given, Mapping)
        else given
        for name, given in models.items()
    }


def _replaced(
    given: Mapping[str, Any], parameter: str, what: What, visit: Visit, problems: Problems, way: tuple[str | int, ...]
) -> dict[str, Any]:
    found = dict(given)
    if given.get(parameter) is not None:
        with problems.at(*way, parameter):
            found[parameter] = visit(what, given[parameter])
    return found
