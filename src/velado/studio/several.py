"""Documents of one table and of several: making one into the other, adding, naming, replacing and taking out tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

Document = dict[str, Any]
OF_TABLE = (
    "source", "columns", "output", "anonymization", "models", "method", "rest", "person", "household", "twins",
)  # fmt: skip
"""What a document of several tables says of each of them; all else stands at the top."""


def as_several(document: Mapping[str, Any], name: str) -> Document:
    """A document of one table as one of several, of which it has one.

    >>> as_several({"velado": 1, "source": "a.csv", "models": []}, "people")
    {'velado': 1, 'tables': {'people': {'source': 'a.csv', 'models': []}}}
    """
    if isinstance(document.get("tables"), Mapping):
        return deepcopy(dict(document))
    kept = deepcopy({key: value for key, value in document.items() if key not in OF_TABLE})
    return kept | {"tables": {name: deepcopy({key: document[key] for key in OF_TABLE if key in document})}}


def with_table(document: Mapping[str, Any], name: str, part: Mapping[str, Any]) -> Document:
    """A document of several tables with one more, whose columns are described as columns of the same name are already.

    Tables treat columns of one attribute alike, and the attribute is the name unless a column says another one.
    """
    found = as_several(document, "table")
    known = _described(found)
    added = deepcopy({key: part[key] for key in OF_TABLE if key in part})
    if isinstance(added.get("columns"), Mapping):
        added["columns"] = {column: known.get(column, said) for column, said in added["columns"].items()}
    found["tables"] = {**found["tables"], name: added}
    return found


def _described(document: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of columns whose attribute is their name."""
    found: dict[str, Any] = {}
    for table in document["tables"].values():
        for name, said in (table.get("columns") or {}).items():
            if not isinstance(said, Mapping) or "attribute" not in said:
                found.setdefault(name, deepcopy(said))
    return found


def replaced(part: Mapping[str, Any], source: str, names: Iterable[str], suggested: Mapping[str, Any]) -> Document:
    """What a document says of a table when another one takes its place.

    Columns that both have stay as they are described, those that are gone go, and new ones are described as suggested.
    ``names`` are the columns of the new table, ``suggested`` is the document that suggests itself for it.
    """
    found = deepcopy(dict(part)) | {"source": {"source": source}}
    columns, fresh = part.get("columns") or {}, suggested.get("columns") or {}
    if not columns:
        return found | deepcopy({key: value for key, value in suggested.items() if key in OF_TABLE and key != "source"})
    if part.get("source") is None:
        # A project that came from elsewhere knows its columns already.
        return found
    described = {**fresh, **columns}
    found["columns"] = {name: deepcopy(described[name]) for name in names if name in described}
    if "rest" in suggested:
        found.setdefault("rest", suggested["rest"])
    return found


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
