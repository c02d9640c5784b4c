"""The document of a project: tables, columns, models and method by name, whichever way a file writes them.

A document may be a draft: what has another shape than that of a project counts as not said, and its checks tell. What was
stored stands in it as it was, so that versions and files do not change by being read; who changes a document takes a copy first.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from velado.methods import Lattice
from velado.project.document import ATTRIBUTE_KEYS, SHARED_KEYS, UNITS
from velado.results import Discreet


class Chosen(NamedTuple):
    """A model or method that a project asks for, with its parameters."""

    name: str
    parameters: dict[str, Any]

    def as_spec(self) -> dict[str, Any]:
        """As a project file has it."""
        return {self.name: self.parameters}


@dataclass(frozen=True, repr=False)
class DocumentColumn(Discreet):
    """What is said of a column: ``stored`` at its place, as it was written; ``shared`` at its attribute, for several tables."""

    NAMES = ("name",)
    name: str
    stored: Any
    shared: Mapping[str, Any]

    @cached_property
    def own(self) -> dict[str, Any]:
        """What is said at its place, written out."""
        return long_form(self.stored)

    @cached_property
    def spec(self) -> dict[str, Any]:
        """All that is said of it."""
        return {**self.shared, **self.own}

    @property
    def role(self) -> str:
        """Its role; empty where none is said."""
        return _text(self.spec.get("role"))

    @property
    def own_role(self) -> str:
        """The role that is said at its place."""
        return _text(self.own.get("role"))

    @property
    def attribute(self) -> str:
        """What it is called for all tables."""
        return str(self.own.get("attribute") or self.name)

    @property
    def type(self) -> str:
        """Its type; empty where none is said."""
        return _text(self.spec.get("type"))

    @property
    def hierarchy(self) -> Any:
        """Its hierarchy as it is described; None: no one."""
        return self.spec.get("hierarchy")

    @property
    def format(self) -> Any:
        """How dates are read; None: nothing is said."""
        return self.spec.get("format")


@dataclass(frozen=True, repr=False)
class Document(Discreet):
    """What a project says. ``whole`` is the document of all tables where this is what one of them says, as `Project` has them.

    >>> document = Document({"columns": {"age": "quasi-identifier"}, "models": {"k-anonymity": {"k": 5}}})
    >>> document.columns["age"].role, document.models[0].name, document.method.name, document.tables
    ('quasi-identifier', 'k-anonymity', 'lattice', {})
    """

    said: dict[str, Any]
    whole: Document | None = None

    def as_dict(self) -> dict[str, Any]:
        """What was stored, as it was."""
        return self.said

    # Several tables

    @property
    def is_several(self) -> bool:
        """Whether it describes several tables, of which there may be none yet."""
        return isinstance(self.said.get("tables"), Mapping)

    @property
    def tables(self) -> dict[str, Document]:
        """What is said of each of several tables; nothing where there is one."""
        return {str(n): Document(t, self) for n, t in _mapping(self.said, "tables").items() if isinstance(t, dict)}

    def table(self, name: str | None) -> Document:
        """What is said of a table, None: of the only one; KeyError if there is no such table."""
        return self if name is None else self.tables[name]

    @property
    def parts(self) -> dict[str | None, Document]:
        """All tables; the only one has no name."""
        return dict[str | None, Document](self.tables.items()) if self.is_several else {None: self}

    @property
    def attributes(self) -> dict[str, DocumentColumn]:
        """What columns of several tables have in common."""
        return {str(name): DocumentColumn(str(name), one, {}) for name, one in _mapping(self.said, "attributes").items()}

    @property
    def joinable(self) -> list[str]:
        """The attributes by which releases must match as the originals do."""
        found = self.said.get("joinable")
        return list(map(str, found)) if isinstance(found, list) else []

    # One table

    @property
    def columns(self) -> dict[str, DocumentColumn]:
        """The columns of which something is said, in their order."""
        return {str(name): self._column(str(name), given) for name, given in _mapping(self.said, "columns").items()}

    def column(self, name: str) -> DocumentColumn | None:
        """What is said of a column; None: nothing."""
        listed = _mapping(self.said, "columns")
        return self._column(name, listed[name]) if name in listed else None

    def _column(self, name: str, given: Any) -> DocumentColumn:
        attribute = DocumentColumn(name, given, {}).attribute
        shared = {} if self.whole is None else _mapping(self.whole.said, "attributes").get(attribute)
        return DocumentColumn(name, given, long_form(shared))

    def with_role(self, role: str) -> list[str]:
        """The columns with a role, in their order."""
        return [name for name, column in self.columns.items() if column.role == role]

    @property
    def source(self) -> dict[str, Any]:
        """Where its table is: the id of a source or a path, and what of it counts as missing; empty where nothing is said."""
        found = self.said.get("source")
        return {"path": found} if isinstance(found, str) else dict(found) if isinstance(found, Mapping) else {}

    @property
    def source_id(self) -> str | None:
        """The id of its source."""
        found = self.source.get("source")
        return found if isinstance(found, str) else None

    @property
    def output(self) -> dict[str, Any]:
        """Where its release goes, and how it is written."""
        return dict(_mapping(self.said, "output"))

    @property
    def models(self) -> list[Chosen]:
        """Its models, or those of all tables."""
        found = self._get("models")
        listed = [{n: p} for n, p in found.items()] if isinstance(found, Mapping) else found if isinstance(found, list) else []
        return [one for spec in listed for one in _read_choices(spec)]

    @property
    def method(self) -> Chosen:
        """Its method, or that of all tables; the lattice where none is said."""
        return next(iter(_read_choices(self._get("method"))), Chosen(Lattice.name, {}))

    @property
    def is_light(self) -> bool:
        """Whether only operations are applied."""
        return bool(self._get("protection") == "operations")

    @property
    def allowance(self) -> float:
        """The share of the people who may be exposed; none where it cannot be read."""
        found = self._get("allowance")
        return found if isinstance(found, (int, float)) and 0 <= found <= 1 else 0

    @property
    def variants(self) -> str:
        """What is said of spellings of one value; empty where nothing is."""
        return _text(self._get("variants"))

    @property
    def rest(self) -> str:
        """What becomes of columns of which nothing is said."""
        return _text(self.said.get("rest"))

    @property
    def unit(self) -> tuple[str, str]:
        """Whose rows these are: person or household, and the column ("rows": each is a person); both empty where it is not said."""
        return next(((kind, str(self.said[kind])) for kind in UNITS if self.said.get(kind)), ("", ""))

    def has_own(self, key: str) -> bool:
        """Whether a table says this itself, or there is one table only."""
        return self.whole is None or key in self.said

    def with_shared(self) -> dict[str, Any]:
        """What is said of a table, and for all tables, as a mapping."""
        above = {} if self.whole is None else {key: self.whole.said[key] for key in SHARED_KEYS if key in self.whole.said}
        return {**above, **self.said}

    def _get(self, key: str) -> Any:
        return self.said.get(key) if self.whole is None or key in self.said else self.whole.said.get(key)

    # Changes

    def copy(self) -> Document:
        """A document to be changed, with all its tables."""
        return Document(deepcopy(self.said))

    def replace(self, document: Mapping[str, Any]) -> None:
        """Say something else altogether."""
        kept = dict(document)
        self.said.clear()
        self.said.update(kept)

    def put(self, key: str, value: Any) -> None:
        """Say something of the table, or of all; None takes it away."""
        if value is None:
            self.said.pop(key, None)
        else:
            self.said[key] = value

    def put_column(self, name: str, spec: Any) -> None:
        """Say of a column this and nothing else; None: nothing."""
        if spec is not None:
            self.said["columns"] = {**_mapping(self.said, "columns"), name: spec}
        elif name in _mapping(self.said, "columns"):
            del self.said["columns"][name]

    def describe(self, name: str, changes: Mapping[str, Any]) -> None:
        """Say something else of a column, at its attribute where that says it; None takes it away."""
        before = long_form(_mapping(self.said, "columns").get(name))
        own = dict(before)
        for key, value in changes.items():
            into = self.attribute_of(name, key) if key in ATTRIBUTE_KEYS else None
            into = own if into is None else into
            into.pop(key, None)
            if value is not None:
                into[key] = value
        if own != before:
            self.put_column(name, own)

    def attribute_of(self, name: str, key: str) -> dict[str, Any] | None:
        """The attribute, to be changed, where something is said of a column; None: it stands, or is to stand, at the column."""
        column = self._column(name, _mapping(self.said, "columns").get(name))
        above = {} if self.whole is None else _mapping(self.whole.said, "attributes").get(column.attribute)
        return above if isinstance(above, dict) and above and key not in column.own else None


def long_form(given: Any) -> dict[str, Any]:
    """What is said of a column as a mapping; its role alone may stand for it.

    >>> long_form("sensitive"), long_form({"role": "sensitive"}), long_form(None)
    ({'role': 'sensitive'}, {'role': 'sensitive'}, {})
    """
    return dict(given) if isinstance(given, Mapping) else {} if given is None else {"role": given}


def _mapping(said: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = said.get(key)
    return found if isinstance(found, Mapping) else {}


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _read_choices(spec: Any) -> list[Chosen]:
    """Models or methods that stand at a place: by name alone, or with parameters."""
    if isinstance(spec, str):
        return [Chosen(spec, {})] if spec else []
    named = spec.items() if isinstance(spec, Mapping) else ()
    return [Chosen(str(name), dict(given) if isinstance(given, Mapping) else {}) for name, given in named]
