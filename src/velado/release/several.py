"""Run a project of several tables: all releases appear together, or none."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.methods import Progress
from velado.project.attributes import shared_columns
from velado.project.document import Project
from velado.release.align import Shared, align, with_shared_hierarchies
from velado.release.joins import Joined, Key, check_plans, verify_joins
from velado.release.light import Light
from velado.release.modelled import Counted
from velado.release.publishing import Prepared, check_paths
from velado.release.result import Releases
from velado.release.treatments import check_ready
from velado.tables import DuckDBTable, open_table
from velado.tables.publication.publish import published


def run_tables(project: Project, progress: Progress) -> Releases:
    """Prepare every table, write and verify every release and how they match, then publish them all."""
    projects = project.tables
    in_memory = _in_memory(projects)
    check_paths(projects)
    for described in projects.values():
        check_ready(described)
    shared = shared_columns(projects)
    with ExitStack() as stack:
        tables = {
            name: stack.enter_context(open_table(p.source, p.folder, p.output.path and p.output.path.parent))
            for name, p in projects.items()
        }
        prepared = _prepared(project, tables, shared, progress)
        keys = {a: [Key(table, c, prepared[table]) for table, c in places] for a, places in shared.items()}
        for attribute, places in keys.items():
            check_plans(places, attribute, attribute in project.joinable)
        if in_memory:
            releases = {name: p.in_memory(progress) for name, p in prepared.items()}
            written = {name: (release.table, False) for name, release in releases.items()}
            return Releases(project.name, releases, _joined(project, keys, written))
        paths = [path for p in prepared.values() for path in p.paths]
        private = [path for p in prepared.values() for path in p.private]
        with published(paths, private) as temporary:
            left = iter(temporary)
            places_of = {name: [next(left) for _ in p.paths] for name, p in prepared.items()}
            releases = {name: p.on_disk(places_of[name], progress) for name, p in prepared.items()}
            sources = {name: _written(p, places_of[name][-1]) for name, p in prepared.items()}
            return Releases(project.name, releases, _joined(project, keys, sources))


def _in_memory(projects: Mapping[str, Project]) -> bool:
    """Whether no table has an output path; an error if only some have."""
    lacking = [name for name, p in projects.items() if p.output.path is None]
    if lacking and len(lacking) < len(projects):
        raise InputError(
            "no-output", f"the table '{lacking[0]}' says no output path", hint="output: {path: release.csv}"
        )
    return bool(lacking)


def _prepared(
    project: Project, tables: Mapping[str, DuckDBTable], shared: Shared, progress: Progress
) -> dict[str, Prepared]:
    """Every table ready to be written; quasi-identifiers that tables share at the same level."""
    projects = project.tables
    modelled = [name for name, p in projects.items() if not p.light]
    recoded = {
        a: [(table, c) for table, c in places if table in modelled and c.role == "quasi-identifier"]
        for a, places in shared.items()
    }
    recoded = {a: places for a, places in recoded.items() if places}
    columns = with_shared_hierarchies(projects, tables, recoded)
    counted = {name: Counted.of(projects[name], tables[name], progress, columns[name]) for name in modelled}
    found = align(counted, recoded, progress)
    for attribute, places in recoded.items():
        if attribute in project.joinable and any(found[table].levels is None for table, _ in places):
            raise InputError(
                "not-joinable", f"'{attribute}' is to be joinable, but the method recodes it class by class",
                column=places[0][1].name, hint="Use a method with levels, such as lattice.",
            )  # fmt: skip
    ready = {name: c.prepared(found[name]) for name, c in counted.items()}
    return {name: ready.get(name) or Light.of(p, tables[name], progress) for name, p in projects.items()}


def _joined(project: Project, keys: Mapping[str, list[Key]], written: Mapping[str, Any]) -> tuple[Joined, ...]:
    return tuple(j for attribute in project.joinable for j in verify_joins(keys[attribute], written, attribute))


def _written(prepared: Prepared, path: Path) -> tuple[Any, bool]:
    """A release as it is read back, and whether its texts are guarded."""
    source = prepared.target(path)
    return source, prepared.project.output.guard and source.kind() in ("csv", "xlsx")
