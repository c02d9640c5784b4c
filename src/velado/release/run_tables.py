"""Run a project of several tables: all releases appear together, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace

from velado.errors import InputError
from velado.progress import Progress
from velado.project import Project
from velado.project.attributes import shared_columns
from velado.release.align import Shared, align, with_shared_hierarchies
from velado.release.column_exposure import check_published
from velado.release.count import count
from velado.release.fit import fit
from velado.release.joins import Key, check_plans, verify_joins
from velado.release.manifest import Made, light_manifests, manifests_of
from velado.release.measure import measure
from velado.release.plan import Planned, plan_models, plan_operations
from velado.release.result import LightRelease, Release, Releases, light_release, release_of
from velado.release.verify import verify
from velado.release.write import write
from velado.sentences import Sentence
from velado.tables import Session, Table, check_sinks, open_stage, open_table


def run_tables(project: Project, progress: Progress) -> Releases:
    """Every step for every table: write and verify all releases and how they match, then publish them at once."""
    projects, names = project.tables, list(project.tables)
    _check_sinks(projects)
    shared = shared_columns(projects)
    follow = progress.through(open=1, fit=1, count=3, search=10, write=4, verify=3, measure=2, publish=1)
    with ExitStack() as stack:
        session = Session(follow("open"), sinks=tuple(p.output.sink() for p in projects.values()))
        tables = {
            name: stack.enter_context(open_table(p.source, session=replace(session, scratch=p.output.scratch)))
            for name, p in projects.items()
        }
        check_sinks(session.sinks, session)
        planned = _plan_tables(project, tables, shared, follow)
        keys = {a: [Key(table, c, planned[table]) for table, c in places] for a, places in shared.items()}
        for attribute, places in keys.items():
            check_plans(places, attribute, attribute in project.joinable)
        with open_stage([planned[name].sink for name in names], session) as stage:
            slots = dict(zip(names, stage.slots, strict=True))
            step = follow("write")
            for i, name in enumerate(names):
                write(planned[name], slots[name], step.of(i, len(names)))
            step = follow("verify")
            verified = {n: verify(planned[n], stage, slots[n], step.of(i, len(names))) for i, n in enumerate(names)}
            verified = {
                n: found if planned[n].found is None else check_published(planned[n], found) for n, found in verified.items()
            }
            joined = tuple(j for attribute in project.joinable for j in verify_joins(keys[attribute], stage, slots, attribute))
            step = follow("measure")
            measured = {
                n: measure(planned[n], verified[n], step.of(i, len(names)))
                for i, n in enumerate(names)
                if planned[n].found is not None
            }
            manifests = {}
            publishing = follow("publish")
            for name, p in planned.items():
                made = Made.of(p, slots[name], publishing)
                manifests[name] = (
                    light_manifests(made) if p.found is None else manifests_of(made, p.found.search, p.recoding, measured[name])
                )
            published = stage.publish([manifests[n].evidence(planned[n].saved_recoding) for n in names])
        releases: dict[str, Release | LightRelease] = {}
        for name, place in zip(names, published, strict=True):
            p = planned[name]
            releases[name] = (
                light_release(p, verified[name], manifests[name], place)
                if p.found is None
                else release_of(p, verified[name], measured[name], manifests[name], place)
            )
        return Releases(project.name, releases, joined)


def _check_sinks(projects: Mapping[str, Project]) -> None:
    """All tables have an output, or none has."""
    lacking = [name for name, p in projects.items() if p.output.in_memory]
    if lacking and len(lacking) < len(projects):
        raise InputError(
            "no-output", Sentence("the table '{table}' says no output path", table=lacking[0]), hint="output: {path: release.csv}"
        )


def _plan_tables(
    project: Project, tables: Mapping[str, Table], shared: Shared, follow: Callable[[str], Progress]
) -> dict[str, Planned]:
    """Every table ready to be written; quasi-identifiers that tables share at the same level."""
    projects = project.tables
    modelled = [name for name, p in projects.items() if not p.light]
    recoded = {
        a: [(table, c) for table, c in places if table in modelled and c.role == "quasi-identifier"] for a, places in shared.items()
    }
    recoded = {a: places for a, places in recoded.items() if places}
    step = follow("fit")
    columns = with_shared_hierarchies(projects, tables, recoded)
    fitted = {name: fit(p, tables[name], step, columns[name]) for name, p in projects.items()}
    step = follow("count")
    counted = {name: count(fitted[name], step.of(i, len(modelled))) for i, name in enumerate(modelled)}
    found = align(counted, recoded, follow("search"))
    for attribute, places in recoded.items():
        if attribute in project.joinable and any(found[table].levels is None for table, _ in places):
            raise InputError(
                "not-joinable",
                Sentence("'{attribute}' is to be joinable, but the method recodes it class by class", attribute=attribute),
                column=places[0][1].name,
                hint="Use a method with levels, such as lattice.",
            )
    ready = {name: plan_models(c, found[name]) for name, c in counted.items()}
    return {name: ready.get(name) or plan_operations(fitted[name]) for name in projects}
