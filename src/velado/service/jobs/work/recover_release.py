"""A release that an earlier attempt of the same job published before its process was lost.

A table appears in a database at one moment, together with its public manifest, which names the job that made it. A later
attempt finds its own job there, and takes the release over in place of making it a second time.
"""

from __future__ import annotations

from typing import Any

import velado
from velado.errors import InputError
from velado.project import Project
from velado.release.manifest import manifest_in
from velado.release.result import LightRelease, Release, Releases
from velado.service.jobs.task import Work
from velado.service.jobs.work.figures import FIGURES, ROWS, copy_rows, prefix, release_file_name
from velado.service.jobs.work.shared import as_json, save
from velado.tables import Source


def take_over(project: Project, work: Work) -> dict[str, Any] | None:
    """The result of the earlier attempt; None if it published nothing."""
    tables = project.tables or {"": project}
    found = {name: _manifest(table, work.task.job) for name, table in tables.items()}
    if not all(found.values()):
        return None
    parts = {name: _part(tables[name], manifest or {}, work) for name, manifest in found.items()}
    if not project.tables:
        return parts[""]
    return {
        "summary": {
            "schema": Releases.SCHEMA,
            "project": project.name,
            "tables": {name: part["summary"] for name, part in parts.items()},
            "joined": [],
        },
        "manifest": {"tables": {name: part["manifest"] for name, part in parts.items()}},
        "private": {name: part["private"] for name, part in parts.items()},
        "notes": [],
    }


def _manifest(project: Project, job: str) -> dict[str, Any] | None:
    """The manifest of a table that this job has published."""
    output = project.output
    sink = output.sink()
    if output.database is None or sink.manifest_table is None:
        return None
    try:
        found = manifest_in(Source(database=output.database, table=str(sink.manifest_table), names="exact"))
    except InputError as error:
        if error.code == "no-manifest":
            return None
        raise
    return found if found.get("project", {}).get("job") == job else None


def _part(project: Project, manifest: dict[str, Any], work: Work) -> dict[str, Any]:
    before = "" if work.task.document is None or "tables" not in work.task.document else prefix(project)
    folder, files = work.task.folder, {}
    kept: dict[str, Any] = {"manifest": None}
    if not project.light:
        kept["evaluation"] = as_json(velado.evaluate(None, None, project=project, progress=work.progress))
    files["figures"] = save(folder, release_file_name(FIGURES, before), kept)
    files["rows"] = copy_rows(project, folder / release_file_name(ROWS, before))
    return {"summary": _summary(project, manifest), "manifest": manifest, "private": files, "notes": []}


def _summary(project: Project, manifest: dict[str, Any]) -> dict[str, Any]:
    """What a run says of a release, from its manifest."""
    place = {"output": manifest["output"]["name"], "manifest": None}
    if project.light:
        treated = {name: c["operation"] for name, c in manifest["columns"].items() if "operation" in c}
        return {
            "schema": LightRelease.SCHEMA,
            "project": project.name,
            "protection": "operations",
            "verified": manifest["verified"],
            "rows": manifest["input"]["rows"],
            "released": manifest["input"]["rows"],
            "operations": treated,
            "unchanged": [n for n in manifest["columns"] if n not in treated],
            "models": [],
            **place,
        }
    measured = {key: value for key, value in manifest["evaluation"].items() if key != "schema"}
    # How long the search took, and how many nodes there were, nobody knows any more.
    search = {"nodes": 0, "evaluated": None, "seconds": 0.0, **manifest["search"]}
    return {
        "schema": Release.SCHEMA,
        "project": project.name,
        "levels": manifest["recoding"]["levels"],
        **measured,
        "search": search,
        **place,
    }
