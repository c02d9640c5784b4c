"""Look at a new source: what its columns are, which project suggests itself, and a copy to page through."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import velado
from velado.errors import InputError
from velado.questions.inspect import Inspection
from velado.questions.suggest import Suggestion
from velado.results import encode
from velado.service.jobs import failure_messages
from velado.service.jobs.job_room import enter_room
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import as_json, copy_texts, translate_all, translate_notes
from velado.service.projects.document_checks import FORMATS
from velado.tables import Session, Source, open_table

TRIED = 200_000
"""Of larger tables no release is made on trial: somebody waits for the source."""


def perform(work: Work) -> dict[str, Any]:
    """Rows, columns, profile and suggestion of a source."""
    task = work.task
    follow = work.progress.through(copy=2, inspect=4, suggest=6)
    with enter_room(work) as room:
        source = room.resolve_source(task.source)
        thing = task.things["sources"][task.source]
        copying = follow("copy")
        with open_table(source, session=Session(copying)) as table:
            columns = [{"name": field.name, "type": field.type.value} for field in table.columns]
            into = task.things.get("copy", thing.get("copy"))
            if into:
                copy_texts(table, Path(into))
        inspection = velado.inspect_table(source, follow("inspect"))
        return {
            "rows": inspection.rows,
            "columns": columns,
            "profile": {**_profile(inspection), "source": thing.get("name", ""), "sheets": _sheets(source)},
            "suggestion": _suggestion(source, inspection, thing, task.source, follow("suggest")),
            "copied": bool(into),
        }


def _profile(inspection: Inspection) -> dict[str, Any]:
    found: dict[str, Any] = as_json(inspection)
    for column, seen in zip(found["columns"], inspection.columns, strict=True):
        column["reasons"] = translate_all(seen.reason)
    return {**found, "notes": translate_notes(inspection.notes)}


def _sheets(source: Source) -> list[str]:
    """The sheets of a workbook, one of which was read."""
    if source.path is None or source.kind_of_file != "xlsx":
        return []
    from velado.tables.formats.xlsx import sheets_of

    return sheets_of(source.path)


def _suggestion(source: Source, inspection: Inspection, thing: Mapping[str, Any], id: str | None, progress: Any) -> dict[str, Any]:
    """What `velado.suggest` says, and the document of a project that runs; or why there is none."""
    try:
        found = velado.suggest(source, progress, inspection=inspection, most_rows=TRIED)
    except InputError as error:
        return {"problem": failure_messages.describe_error(error)}
    data: dict[str, Any] = as_json(found)
    for column, seen in zip(data["columns"], found.columns, strict=True):
        column["reasons"] = translate_all(seen.reason)
    return {**data, "document": _document(found, id, str(thing.get("name", "")))}


def _document(found: Suggestion, id: str | None, name: str) -> dict[str, Any]:
    missing = {"missing": list(found.source.missing)} if found.source.missing else {}
    data: dict[str, Any] = encode(found.mapping({"source": id, **missing}, found.method))
    # Who sends Parquet wants Parquet back, types and all.
    kind = Path(name).suffix.lower().removeprefix(".")
    return {**data, "output": {"format": kind}} if kind in FORMATS[1:] else data
