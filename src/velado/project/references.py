"""All places of a project document where something outside of it is named: tables, files, keys, and where a release goes.

Everything that reads or changes such places walks here, so that none is forgotten: which parameters of models and operations
name a file or a key, these declare (`Parameter.refers`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from velado.errors import Problems
from velado.models import MODELS, PrivacyModel
from velado.operations import OPERATIONS, Operation

What = Literal["source", "output", "file", "key"]
Visit = Callable[[What, Any], Any]
"""Told what stands at a place, and its value; gives what is to stand there instead."""

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
    problems.raise_if_any()
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
        found["operation"] = {
            name: _with_parameters(OPERATIONS.get(name), given, visit, problems, (*way, "operation", name))
            for name, given in operation.items()
        }
    return found


def _models(models: Mapping[str, Any], visit: Visit, problems: Problems, way: tuple[str | int, ...]) -> dict[str, Any]:
    return {name: _with_parameters(MODELS.get(name), given, visit, problems, (*way, name)) for name, given in models.items()}


def _with_parameters(
    kind: type[Operation | PrivacyModel] | None, given: Any, visit: Visit, problems: Problems, way: tuple[str | int, ...]
) -> Any:
    """The parameters of a model or an operation; the main one of an operation may stand alone behind its name."""
    named = {} if kind is None else {name: one.refers for name, one in kind.parameters.items() if one.refers}
    main = getattr(kind, "main", None)
    if not isinstance(given, Mapping):
        if main not in named or given is None:
            return given
        with problems.at(*way):
            return visit(named[main], given)
        return given
    found = dict(given)
    for name, what in named.items():
        if given.get(name) is not None:
            with problems.at(*way, name):
                found[name] = visit(what, given[name])
    return found
