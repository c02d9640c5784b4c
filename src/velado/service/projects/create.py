"""How a project begins: empty, from a document, a project file, an Anonylitics project, another project, or a source.

What a file names that the service does not have – tables, files, databases – is left out and told as a note: its maker
fills it in. A path or an address never gets into a document.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from sqlalchemy.orm import Session as Db

from velado.errors import InputError
from velado.project.importers.anonylitics.project import Imported, import_anonylitics
from velado.project.references import What, walk
from velado.results import Discreet
from velado.sentences import Sentence
from velado.service.access.allowed_references import Usable
from velado.service.access.caller import Caller
from velado.service.access.ownership import source_for
from velado.service.errors import Conflict, Invalid
from velado.service.projects.document import Document
from velado.service.projects.document_checks import check_document, upload_of
from velado.service.projects.exchange import from_file, from_text
from velado.service.projects.versions import MASKED, visible_document
from velado.service.store.tables import Source

LONGEST_NAME = 200
TEXTS = ("yaml", "anonylitics")
ORIGINS = ("document", *TEXTS, "copy_of", "source")
NOTE = {"path": "path", "kind": "kind", "value": "value", "message": "what"}
"""A note, and where it is in a remark of an importer."""
EMPTY: dict[str, Any] = {"velado": 1}


@dataclass(repr=False)
class FirstDocument(Discreet):
    """The first document of a project, the name that it suggests, and what its maker should know."""

    NAMES: ClassVar[tuple[str, ...]] = ("origin",)
    origin: str
    document: Mapping[str, Any]
    name: str = ""
    notes: list[dict[str, str]] = field(default_factory=list)


def begin(db: Db, caller: Caller, given: Mapping[str, Any], language: str) -> FirstDocument:
    """The begin of a project from at most one origin; a ``source`` may take the place of the table of a file."""
    origins = [name for name in ORIGINS if name in given]
    if len(origins) > 1 and not (len(origins) == 2 and origins[0] in TEXTS and origins[1] == "source"):
        raise Invalid(
            "bad-request",
            "a project begins from one thing",
            hint="Send one of: document, yaml, anonylitics, copy_of, source. A source may stand beside yaml and anonylitics.",
            fields={"path": origins[1]},
        )
    begun = BEGINS[origins[0]](db, caller, given, language) if origins else FirstDocument("empty", EMPTY)
    begun.name = begun.name or _name(begun.document.get("name"))
    return begun


def _name(said: Any) -> str:
    """A name that a project can have, from what a file says."""
    kept = "".join(c for c in str(said or "") if c.isprintable()).strip()
    return kept[:LONGEST_NAME] or "project"


def _of_document(db: Db, caller: Caller, given: Mapping[str, Any], language: str) -> FirstDocument:
    return FirstDocument("document", given["document"])


def _of_yaml(db: Db, caller: Caller, given: Mapping[str, Any], language: str) -> FirstDocument:
    begun = FirstDocument("yaml", {})
    data = from_text(given["yaml"])
    begun.document = _adapt_document(begun, data, given.get("source"), language)
    return begun


def _of_anonylitics(db: Db, caller: Caller, given: Mapping[str, Any], language: str) -> FirstDocument:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "project.json"
        path.write_text(given["anonylitics"], encoding="utf-8")
        imported = _import(path)
    begun = FirstDocument("anonylitics", {})
    for remark in imported.report:
        said = remark.as_dict(language)
        begun.notes.append({key: said[old] for key, old in NOTE.items()})
    begun.document = _adapt_document(begun, imported.project, given.get("source"), language)
    return begun


def _import(path: Path) -> Imported:
    """What a file holds; the error does not tell where on the server it was."""
    try:
        return import_anonylitics(path)
    except InputError as error:
        for one in (error, *error.others):
            one.file = None
            one.args = (str(one),)
        raise


def _of_project(db: Db, caller: Caller, given: Mapping[str, Any], language: str) -> FirstDocument:
    """A copy without what the caller may not use: a reader does not get at the records by copying."""
    project = caller.project(db, given["copy_of"], "project.read")
    begun = FirstDocument("copy", {}, name=project.name)
    usable = Usable(db, caller)

    def visit(what: What, value: Any) -> Any:
        return value if usable.wrong(what, value) is None else None

    document, masked = visible_document(db, caller, project)
    if masked:
        begun.notes.append({"path": "", "kind": "to-do", "message": MASKED.into(language)})
    begun.document = _without(begun, document, visit, language)
    return begun


def _of_source(db: Db, caller: Caller, given: Mapping[str, Any], language: str) -> FirstDocument:
    source, _ = source_for(db, caller, given["source"], "profile.read")
    suggested = source.suggestion
    if suggested is None:
        raise Conflict(
            "source-not-ready",
            "the source was not inspected yet, or could not be read",
            hint="Wait for its job.",
            fields={"state": source.state},
        )
    # Where no project that runs was found there is a problem instead of a document: columns are described by hand.
    document = suggested.get("document", {} if "problem" in suggested else suggested)
    return FirstDocument("source", {**EMPTY, **document, "source": _source_entry(source, document)}, name=_name(source.name))


def _source_entry(source: Source, document: Mapping[str, Any]) -> dict[str, Any]:
    """A source as its document names it, with the texts that stand for missing values in it."""
    missing = Document(dict(document)).source.get("missing")
    return {"source": source.id, **({"missing": missing} if missing else {})}


BEGINS = {"document": _of_document, "yaml": _of_yaml, "anonylitics": _of_anonylitics, "copy_of": _of_project, "source": _of_source}


def _adapt_document(begun: FirstDocument, data: Any, source: str | None, language: str) -> dict[str, Any]:
    """A document from what a project file holds."""
    if not isinstance(data, Mapping):
        check_document(data)

    def visit(what: What, value: Any) -> Any:
        if what == "source":
            kept = source is not None or (isinstance(value, Mapping) and "source" in value)
        elif what == "output":
            kept = not isinstance(value, Mapping) or "database" not in value
        else:
            kept = what == "key" or upload_of(value) is not None
        return value if kept else None

    return from_file(_without(begun, data, visit, language), {} if source is None else {"source": source})


LEFT_OUT: Mapping[str, Sentence] = {
    "source": Sentence("The table is to be chosen: name a source."),
    "output": Sentence("The database is to be chosen: name a connection; until then the release is kept for download."),
    "file": Sentence("The file is to be sent as an upload, and named here."),
}


def _without(begun: FirstDocument, document: Mapping[str, Any], visit: Any, language: str) -> dict[str, Any]:
    """A document without what ``visit`` leaves out (None), each with a note."""

    def refuse(what: What, value: Any) -> Any:
        if visit(what, value) is None:
            raise Invalid("unknown-reference", LEFT_OUT[what])
        return value

    try:
        return walk(document, refuse)
    except Invalid as error:
        for one in (error, *error.others):
            begun.notes.append({"path": one.path, "kind": "to-do", "message": one.message.into(language)})  # type: ignore[attr-defined]
    return _prune(Document(walk(document, visit)))


def _prune(document: Document) -> dict[str, Any]:
    """Without the sources, outputs and files that are to be chosen; a hierarchy that lacks its file stays, and is a problem."""
    for part in (document, *document.tables.values()):
        for key in ("source", "output"):
            part.put(key, part.said.get(key))
        for key, columns in (("columns", part.columns), ("attributes", part.attributes)):
            if columns:
                part.put(key, {name: _without_file(column.stored) for name, column in columns.items()})
    return document.as_dict()


def _without_file(column: Any) -> Any:
    hierarchy = column.get("hierarchy") if isinstance(column, Mapping) else None
    if not isinstance(hierarchy, Mapping) or hierarchy.get("file", hierarchy) is not None:
        return column
    return {**column, "hierarchy": {k: v for k, v in hierarchy.items() if k != "file"}}
