"""Release a project: into the folder of the job, to be downloaded, or into a table of a connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import velado
from velado.errors import InputError
from velado.project import Project
from velado.release.result import LightRelease, Release, Releases
from velado.service.jobs import parameters as of
from velado.service.jobs.job_room import RECODING, Room, enter_room
from velado.service.jobs.task import Work
from velado.service.jobs.work import figures, recover_release
from velado.service.jobs.work.shared import as_json, at_levels, name_of, parse_parameters, save, translate_notes
from velado.service.projects.document import Document


def perform(work: Work) -> dict[str, Any]:
    """Run the project of the task; a release of an earlier attempt of this job that is there already is taken over."""
    wanted = parse_parameters(work, of.Run)
    with enter_room(work) as room:
        data = room.project_data(work.task.document)
        if wanted.levels:
            data = at_levels(data, wanted.levels)
        project = room.load_project(data)
        found = recover_release.take_over(project, work) if work.task.attempt > 1 else None
        if found is None:
            found = _make_release(project, work, room)
        return {**found, "place": _place(project, work), "parameters": wanted.model_dump(exclude_none=True)}


def _make_release(project: Project, work: Work, room: Room) -> dict[str, Any]:
    try:
        release = velado.run(project, work.progress)
    except InputError as error:
        # The earlier attempt may have been slower to die than this one to begin.
        found = recover_release.take_over(project, work) if error.code == "output-exists" and work.task.attempt > 1 else None
        if found is None:
            raise
        return found
    return _several(project, release, room) if isinstance(release, Releases) else _one(project, release, room)


def _several(project: Project, releases: Releases, room: Room) -> dict[str, Any]:
    parts = {
        name: _one(project.tables[name], release, room, figures.prefix(project.tables[name]))
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
        files["figures"] = save(folder, figures.release_file_name(figures.FIGURES, before), kept)
        if release.recoding is not None:
            release.recoding.save(folder / figures.release_file_name(RECODING, before))
            (folder / figures.release_file_name(RECODING, before)).chmod(0o600)
            files["recoding"] = figures.release_file_name(RECODING, before)
        if (classes := figures.classes_of(release)) is not None:
            files["classes"] = figures.save_classes(classes, folder / figures.release_file_name(figures.CLASSES, before))
        if (shape := figures.shape(release)) is not None:
            files["shape"] = save(folder, figures.release_file_name(figures.SHAPE, before), shape)
    else:
        files["figures"] = save(folder, figures.release_file_name(figures.FIGURES, before), {"manifest": release.private_manifest})
    files["rows"] = figures.copy_rows(project, folder / figures.release_file_name(figures.ROWS, before))
    return {"summary": as_json(release), "manifest": release.manifest, "private": files, "notes": translate_notes(release.notes)}


def _place(project: Project, work: Work) -> dict[str, Any]:
    """Where the release is: files of the job, or tables of a connection, by name."""
    document = Document(dict(work.task.document or {}))
    if not project.tables:
        return _describe_place(project, document.output)
    return {"tables": {name: _describe_place(table, document.table(name).output) for name, table in project.tables.items()}}


def _describe_place(project: Project, said: Mapping[str, Any]) -> dict[str, Any]:
    output = project.output
    if output.database is not None:
        return {"kind": "table", "connection": said.get("connection"), "table": output.table}
    assert output.path is not None
    return {
        "kind": "file",
        "file": name_of(output.path),
        "format": said.get("format") or "csv",
        "bytes": output.path.stat().st_size,
        "manifest": f"{output.path.name}.manifest.json",
    }
