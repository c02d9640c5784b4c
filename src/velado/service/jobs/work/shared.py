"""What the work of several kinds of jobs has in common."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from velado.errors import InputError, Note, suggest
from velado.i18n.language import LANGUAGES
from velado.project import Project
from velado.results import Result, encode
from velado.sentences import Sentence, into
from velado.service.jobs.job_room import Room
from velado.service.jobs.parameters import Parameters
from velado.service.jobs.task import Task, Work
from velado.service.projects.document import Document
from velado.tables import Table

Given = TypeVar("Given", bound=Parameters)
GROUP = 100_000
"""Rows that a page of a copy is looked for in."""


def parse_parameters(work: Work, kind: type[Given]) -> Given:
    """The parameters of a task."""
    return kind.model_validate(dict(work.task.parameters))


def remembered_as(work: Work, *told: Any) -> str:
    """Under which name a warm process keeps something: another one as soon as a source is read in another way."""
    sources = {
        id: {key: value for key, value in thing.items() if key in ("path", "options", "place", "address")}
        for id, thing in (work.task.things.get("sources") or {}).items()
    }
    return hashlib.sha256(json.dumps([told, sources], sort_keys=True, default=str).encode()).hexdigest()


def translate_all(text: object) -> dict[str, str]:
    """A sentence in every language."""
    return {code: into(text, code) for code in LANGUAGES}


def translate_notes(notes: Iterable[Note]) -> list[dict[str, Any]]:
    """Notes in every language."""
    return [
        {"code": note.code, "message": translate_all(note.message), **({"column": note.column} if note.column else {})}
        for note in notes
    ]


def as_json(result: Any) -> Any:
    """What a result says, without places of the server."""
    found = result.as_dict() if isinstance(result, Result) else encode(result)
    return _shorten_places(found)


PLACES = ("output", "manifest", "source", "database")


def _shorten_places(found: Any) -> Any:
    """Files and addresses by their names alone."""
    if not isinstance(found, dict):
        return found
    return {key: name_of(value) if key in PLACES and isinstance(value, str) else value for key, value in found.items()}


def name_of(place: str | Path | None) -> str | None:
    """The name of a file, or of a table of a database, without where it is."""
    if place is None:
        return None
    text = str(place)
    return text.partition("#")[2] or text.rpartition("/")[2] if "://" in text else Path(text).name


def save(folder: Path, name: str, data: Any) -> str:
    """Write JSON that only the service reads, into the folder of a job; its name."""
    handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(data, file, ensure_ascii=False, allow_nan=False, default=str)
    return name


def copy_texts(table: Table, into_file: Path, group: int = GROUP) -> None:
    """A table as a Parquet file of texts, to page through, in groups of rows; it appears when it is complete."""
    import pyarrow.parquet

    rows = table.text_batches()
    part = into_file.with_name(f"{into_file.name}.{os.getpid()}.part")
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with pyarrow.parquet.ParquetWriter(part, rows.schema, compression="zstd", compression_level=1) as writer:
            for batch in rows:
                for first in range(0, batch.num_rows, group):
                    writer.write_batch(batch.slice(first, group))
        part.replace(into_file)
    finally:
        part.unlink(missing_ok=True)


def release_of(task: Task) -> Mapping[str, Any]:
    """The release that a job is about: its folder, document and place."""
    found = task.things.get("release")
    if not found or not Path(found["folder"]).is_dir():
        raise InputError("no-release", "the release is not there any more", hint="Run the project again.")
    return dict(found)


def released_project(room: Room, work: Work) -> Project:
    """The project of a release as it was when it was made, its files at hand."""
    found = release_of(work.task)
    data = room.project_data(found.get("document") or work.task.document)
    levels = ((found.get("result") or {}).get("parameters") or {}).get("levels")
    if levels:
        data = at_levels(data, levels)
    folder = Path(found["folder"])
    for table in Document(data).parts.values():
        private = table.output.get("manifest")
        if private is not None and not (folder / private).is_file():
            # Its process was killed right after the release had appeared.
            table.put("output", {key: value for key, value in table.output.items() if key != "manifest"})
    project = room.load_project(data)
    room.link_release(folder, project)
    return project


def one_table(project: Project, name: str | None) -> Project:
    """The project, or that of one of its tables."""
    if not project.tables and name is None:
        return project
    if name is None or name not in project.tables:
        raise InputError(
            "unknown-table", "which table of the release?", hint=Sentence("Choose one of: {known}", known=list(project.tables))
        )
    return project.tables[name]


def described_table(work: Work, name: str | None) -> Document:
    """What the document of a task says, or what it says of one of several tables."""
    document = Document(dict(work.task.document or {}))
    if document.is_several and name not in document.tables:
        raise InputError("unknown-table", "which table of the project?", hint=suggest(str(name), document.tables))
    return document.table(name if document.is_several else None)


def at_levels(data: Mapping[str, Any], levels: Mapping[str, int]) -> dict[str, Any]:
    """A project that releases one node of the lattice, with the suppression that it allows anyway."""
    limit = Document(dict(data)).method.parameters.get("suppression")
    return {**data, "method": {"fixed": {"levels": dict(levels), **({} if limit is None else {"suppression": limit})}}}
