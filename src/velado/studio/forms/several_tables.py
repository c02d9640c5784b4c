"""Documents of one table and of several: making one into the other, adding, naming, replacing and taking out tables."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from velado.service.projects.document import Document

OF_TABLE = ("source", "columns", "output", "protection", "models", "method", "rest", "person", "household", "variants")
"""What a document of several tables says of each of them; all else stands at the top."""


def as_several(document: Document, name: str) -> Document:
    """A document of one table as one of several, of which it has one.

    >>> as_several(Document({"velado": 1, "source": "a.csv", "models": []}), "people").as_dict()
    {'velado': 1, 'tables': {'people': {'source': 'a.csv', 'models': []}}}
    """
    found = document.copy()
    if found.is_several:
        return found
    kept = {key: value for key, value in found.said.items() if key not in OF_TABLE}
    return Document(kept | {"tables": {name: _of_table(found)}})


def with_table(document: Document, name: str, part: Document) -> Document:
    """A document of several tables with one more, whose columns are described as columns of the same name are already.

    Tables treat columns of one attribute alike, and the attribute is the name unless a column says another one.
    """
    found, added = as_several(document, "table"), Document(_of_table(part)).copy()
    known: dict[str, Any] = {}
    for column in (column for table in found.tables.values() for column in table.columns.values()):
        if "attribute" not in column.own:
            known.setdefault(column.name, column.stored)
    for name_there in added.columns:
        if name_there in known:
            added.put_column(name_there, deepcopy(known[name_there]))
    found.put("tables", {**{other: table.said for other, table in found.tables.items()}, name: added.said})
    return found


def _of_table(document: Document) -> dict[str, Any]:
    """What a document says that one of several tables says itself."""
    return {key: document.said[key] for key in OF_TABLE if key in document.said}


def replace_table(part: Document, source: str, names: Iterable[str], suggested: Document) -> None:
    """Change what a document says of a table when another one takes its place.

    Columns that both have stay as they are described, those that are gone go, and new ones are described as suggested.
    ``names`` are the columns of the new table, ``suggested`` is the document that suggests itself for it.
    """
    known, listed = bool(part.source), {name: column.stored for name, column in part.columns.items()}
    part.put("source", {"source": source})
    if not listed:
        part.said.update({key: value for key, value in _of_table(suggested.copy()).items() if key != "source"})
    elif known:
        # A project that came from elsewhere, and had no table yet, knows its columns already.
        described = {name: column.stored for name, column in suggested.columns.items()} | listed
        part.put("columns", {name: described[name] for name in names if name in described})
        part.put("rest", part.rest or suggested.rest or None)


def fresh_name(wanted: str, taken: Iterable[str]) -> str:
    """A name that no other table has.

    >>> fresh_name("people", ["people", "people 2"])
    'people 3'
    """
    known, number, name = set(taken), 1, wanted
    while name in known:
        number += 1
        name = f"{wanted} {number}"
    return name


def stem(name: str) -> str:
    """The name of a file without what tells its format.

    >>> stem("patients.csv"), stem("public.people"), stem("Ward 3")
    ('patients', 'public.people', 'Ward 3')
    """
    from velado.tables.source import FORMATS

    head, dot, suffix = name.rpartition(".")
    return head if dot and head and f".{suffix.lower()}" in FORMATS else name
