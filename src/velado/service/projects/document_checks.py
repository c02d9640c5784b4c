"""What a project document may name, looked at without reading anything: ids of sources, uploads and connections, and secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from velado.errors import Problems, short_repr, suggest
from velado.project.references import What, walk
from velado.sentences import Sentence
from velado.service.errors import Invalid
from velado.service.files import ID
from velado.service.projects.document import Document
from velado.tables.formats.names import MOST_COLUMNS

UPLOAD, SECRET = "upload:", "secret:"
SECRET_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
SOURCE_KEYS = ("source", "missing")
FORMATS = ("csv", "tsv", "parquet", "xlsx", "arrow")
"""Formats in which a release is kept for download."""
WRITING = ("order", "suppressed", "guard", "delimiter")
FILE_KEYS = ("format", *WRITING)
TABLE_KEYS = ("connection", "table", "if_exists", "order", "suppressed", "guard")
LONGEST_NAME = 300
DEEPEST = 60
MOST_PARTS = 200_000
"""Mappings, lists and values of a document that is kept; hierarchies that list more values are files."""
LARGEST = 8_000_000
"""Characters of its texts and names: as many as a body has bytes."""
MOST_TABLES = 100


def references(document: Mapping[str, Any]) -> dict[str, set[str]]:
    """The ids of sources, uploads and connections, and the names of secrets, that a document names; wrong ones are left out."""
    found: dict[str, set[str]] = {"sources": set(), "uploads": set(), "connections": set(), "secrets": set()}

    def visit(what: What, value: Any) -> Any:
        if what == "source" and (id := source_of(value)):
            found["sources"].add(id)
        elif what == "output" and isinstance(value, Mapping) and _is_id(value.get("connection")):
            found["connections"].add(value["connection"])
        elif what == "file" and (id := upload_of(value)):
            found["uploads"].add(id)
        elif what == "key" and (name := secret_of(value)):
            found["secrets"].add(name)
        return value

    if isinstance(document, Mapping):
        walk(document, visit)
    return found


def outputs(document: Mapping[str, Any]) -> list[Any]:
    """All that a document says of where releases go."""
    found: list[Any] = []

    def visit(what: What, value: Any) -> Any:
        if what == "output":
            found.append(value)
        return value

    walk(document, visit)
    return found


def check_document(document: Any) -> None:
    """Raise `Invalid`, with all `others`, unless everything that a document names outside of itself is an id or a secret.

    Whether there are such things is not looked at, nor whether the project is complete: drafts may be saved.
    """
    if not isinstance(document, Mapping):
        raise Invalid("bad-document", "a project is a mapping, as in a project file")
    if _depth(document) > DEEPEST:
        raise Invalid("bad-document", "the project is nested too deeply")
    problems = Problems()
    with problems.at():
        walk(document, _check)
    if isinstance(document.get("tables"), Mapping):
        for name, table in document["tables"].items():
            if not isinstance(table, Mapping):
                problems.add(Invalid("bad-document", "a table is a mapping"), "tables", str(name))
    problems.raise_if_any()


def check_size(document: Mapping[str, Any]) -> None:
    """Raise if a document describes more tables or columns than can be worked with; there is no table of more columns."""
    described = Document(dict(document))
    parts = [described, *described.tables.values()]
    columns = sum(len(part.columns) + len(part.attributes) for part in parts)
    for what, count, most in ((Sentence("tables"), len(parts) - 1, MOST_TABLES), (Sentence("columns"), columns, MOST_COLUMNS)):
        if count > most:
            message = Sentence("the project describes {count:,} {what}, more than {most:,}", count=count, what=what, most=most)
            raise Invalid("bad-document", message, hint="Split it into several projects.", fields={"limit": most})


def source_of(value: Any) -> str | None:
    """The id in ``{"source": ID}``; None if it is something else."""
    id = Document({"source": value}).source_id
    return id if _is_id(id) else None


def upload_of(value: Any) -> str | None:
    """The id in ``upload:ID``; None if it is something else."""
    text = value.removeprefix(UPLOAD) if isinstance(value, str) and value.startswith(UPLOAD) else None
    return text if _is_id(text) else None


def secret_of(value: Any) -> str | None:
    """The name in ``secret:NAME``; None if it is something else."""
    text = value.removeprefix(SECRET) if isinstance(value, str) and value.startswith(SECRET) else ""
    return text if SECRET_NAME.fullmatch(text) else None


def _check(what: What, value: Any) -> Any:
    CHECKS[what](value)
    return value


def _check_source(value: Any) -> None:
    if source_of(value) is None:
        raise Invalid("bad-reference", "a project names its table by the id of a source", hint='source: {"source": "ID"}')
    _check_keys(value, SOURCE_KEYS)


def _check_output(value: Any) -> None:
    if not isinstance(value, Mapping):
        raise Invalid("bad-reference", "the output says a format, or a connection and a table", hint=OUTPUT_HINT)
    problems = Problems()
    if "connection" in value:
        if not _is_id(value["connection"]):
            problems.add(Invalid("bad-reference", "a connection is named by its id", hint=OUTPUT_HINT), "connection")
        table = value.get("table")
        if not isinstance(table, str) or not table.strip() or len(table) > LONGEST_NAME or "\0" in table:
            problems.add(Invalid("bad-reference", "which table of the database?", hint=OUTPUT_HINT), "table")
        with problems.at():
            _check_keys(value, TABLE_KEYS)
    else:
        if value.get("format", FORMATS[0]) not in FORMATS:
            message = Sentence("'format' must be one of {known}", known=list(FORMATS))
            problems.add(Invalid("bad-reference", message), "format")
        with problems.at():
            _check_keys(value, FILE_KEYS)
    problems.raise_if_any()


def _check_file(value: Any) -> None:
    if upload_of(value) is None:
        raise Invalid("bad-reference", "a project names files by the ids of uploads", hint="upload:ID")


def _check_key(value: Any) -> None:
    # What stands there may be a key, and is not repeated.
    if secret_of(value) is None:
        raise Invalid("bad-reference", "a project names keys by the names of its secrets", hint=KEY_HINT)


CHECKS = {"source": _check_source, "output": _check_output, "file": _check_file, "key": _check_key}
KEY_HINT = Sentence("Write the word secret, a colon and the name; the secret itself is kept apart from the project.")
OUTPUT_HINT = Sentence('{"format": "csv"}, or {"connection": "ID", "table": "schema.name"}')


def _check_keys(value: Mapping[str, Any], known: tuple[str, ...]) -> None:
    problems = Problems()
    for key in value:
        if key not in known:
            message = Sentence("{key} cannot stand here", key=short_repr(key))
            problems.add(Invalid("bad-reference", message, hint=suggest(str(key), known)), str(key))
    problems.raise_if_any()


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and ID.fullmatch(value) is not None


def _depth(document: Any) -> int:
    """How deeply a document is nested; counted without recursion, since it may be deeper than Python goes."""
    deepest, waiting = 0, [(document, 1)]
    while waiting:
        value, depth = waiting.pop()
        deepest = max(deepest, depth)
        if depth > DEEPEST:
            break
        inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
        waiting.extend((one, depth + 1) for one in inner)
    return deepest
