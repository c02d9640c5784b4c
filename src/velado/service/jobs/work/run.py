"""Release a project: into the folder of the job, to be downloaded, or into a table of a connection."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import velado
from velado.errors import InputError
from velado.project import Project
from velado.release.result import LightRelease, Release, Releases
from velado.service.documents.opening import RECODING, Room, entered
from velado.service.jobs import parameters as of
from velado.service.jobs.task import Work
from velado.service.jobs.work import adopted, figures
from velado.service.jobs.work.shared import as_json, at_levels, copy_texts, given, name_of, save, told
from velado.tables import Session, open_table

FIGURES, ROWS, CLASSES, SHAPE = "private.json", "rows.parquet", "classes.parquet", "shape.json"
"""Files that a run leaves beside its release."""


def perform(work: Work) -> dict[str, Any]:
    """Run the project of the task; a release of an earlier attempt of this job that is there already is taken over."""
    wanted = given(work, of.Run)
    with entered(work) as room:
        data = room.translated(work.task.document)
        if wanted.levels:
            data = at_levels(data, wanted.levels)
        project = room.loaded(data)
        found = adopted.take_over(project, work) if work.task.attempt > 1 else None
        if found is None:
            found = _made(project, work, room)
        return {**found, "place": _place(project, work), "parameters": wanted.model_dump(exclude_none=True)}


def _made(project: Project, work: Work, room: Room) -> dict[str, Any]:
    try:
        release = velado.run(project, work.progress)
    except InputError as error:
        # The earlier attempt may have been slower to die than this one to begin.
        found = adopted.take_over(project, work) if error.code == "output-exists" and work.task.attempt > 1 else None
        if found is None:
            raise
        return found
    return _several(project, release, room) if isinstance(release, Releases) else _one(project, release, room)


def _several(project: Project, releases: Releases, room: Room) -> dict[str, Any]:
    parts = {
        name: _one(project.tables[name], release, room, prefix(project.tables[name]))
        for name, release in releases.tables.items()
    }
    return {
        "summary": {
            "schema": releases.SCHEMA,
            "project": releases.project,
            "tables": {name: part["summary"] for name, part in parts.items()},
            "joined": as_json(releases)["joined"],
        },
        "manifest": {"tables": {name: part["manifest"] for name, part in parts.items()}},
        "private": {name: part["private"] for name, part in parts.items()},
        "notes": [{**note, "table": name} for name, part in parts.items() for note in part["notes"]],
    }


def _one(project: Project, release: Release | LightRelease, room: Room, before: str = "") -> dict[str, Any]:
    """What everybody may know of a release; what only its owners may is in files."""
    folder = room.folder
    files: dict[str, str] = {}
    if isinstance(release, Release):
        kept: dict[str, Any] = {
            "evaluation": as_json(release.evaluation),
            "search": as_json(release.search),
            "manifest": release.private_manifest,
        }
        files["figures"] = save(folder, named(FIGURES, before), kept)
        if release.recoding is not None:
            release.recoding.save(folder / named(RECODING, before))
            (folder / named(RECODING, before)).chmod(0o600)
            files["recoding"] = named(RECODING, before)
        if (classes := figures.classes_of(release)) is not None:
            files["classes"] = figures.save_classes(classes, folder / named(CLASSES, before))
        if (shape := figures.shape(release)) is not None:
            files["shape"] = save(folder, named(SHAPE, before), shape)
    else:
        files["figures"] = save(folder, named(FIGURES, before), {"manifest": release.private_manifest})
    files["rows"] = copied(project, folder / named(ROWS, before))
    return {
        "summary": as_json(release),
        "manifest": release.manifest,
        "private": files,
        "notes": told(release.notes),
    }


def prefix(project: Project) -> str:
    """What names of files about one table of several begin with."""
    output = project.output
    if output.path is not None:
        return output.path.name
    assert output.manifest is not None
    return output.manifest.name.removesuffix(".private.json")


def named(name: str, before: str) -> str:
    """The name of a file about a release, or about one table of it; manifests have names of their own."""
    return f"{before}.{name.replace('private', 'figures')}" if before else name


def copied(project: Project, path: Path) -> str:
    """The released rows as texts, to page through; the name of the file."""
    with open_table(project.released(), project.folder, Session(scratch=path.parent)) as table:
        copy_texts(table, path, figures.GROUP)
    return path.name


def _place(project: Project, work: Work) -> dict[str, Any]:
    """Where the release is: files of the job, or tables of a connection, by name."""
    outputs: Mapping[str, Any] = (
        {name: (work.task.document or {})["tables"][name].get("output") for name in project.tables}
        if project.tables
        else {"": (work.task.document or {}).get("output")}
    )
    places = {name: _placed((project.tables or {"": project})[name], said or {}) for name, said in outputs.items()}
    return {"tables": places} if project.tables else places[""]


def _placed(project: Project, said: Mapping[str, Any]) -> dict[str, Any]:
    output = project.output
    if output.database is not None:
        return {"kind": "table", "connection": said.get("connection"), "table": output.table}
    assert output.path is not None
    return {
        "kind": "file", "file": name_of(output.path), "format": said.get("format") or "csv",
        "bytes": output.path.stat().st_size, "manifest": f"{output.path.name}.manifest.json",
    }  # fmt: skip
