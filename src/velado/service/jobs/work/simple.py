"""Kinds of jobs whose work is little more than one call: the table `SIMPLE` has them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import velado
from velado.errors import InputError
from velado.questions.tables import list_tables
from velado.results import encode
from velado.service.jobs import failure_messages
from velado.service.jobs import parameters as of
from velado.service.jobs.hide_paths import discreet
from velado.service.jobs.job_room import Room, enter_room
from velado.service.jobs.task import Work
from velado.service.jobs.work.figures import CLASSES, save_classes
from velado.service.jobs.work.shared import as_json, one_table, parse_parameters, released_project, translate_all
from velado.tables import Session, Source, open_table, unknown_column
from velado.tables.source import SIMPLEST

MOST = 5000
"""Tables that are listed."""


def perform(work: Work) -> dict[str, Any]:
    """What the table says of the kind."""
    parameters, answer = SIMPLE[work.task.kind]
    wanted = parse_parameters(work, parameters)
    with enter_room(work) as room:
        return dict(answer(work, room, wanted))


# About a project


def estimate(work: Work, room: Room, wanted: of.Nothing) -> Any:
    """How much memory a run needs, before it is begun."""
    return as_json(velado.estimate(room.project(), work.progress))


def compare(work: Work, room: Room, wanted: of.Compare) -> Any:
    """Many settings of a project side by side: all combinations of a grid."""
    project = one_table(room.project(), wanted.table)
    return as_json(velado.compare(project, wanted.grid, measures=wanted.measures, progress=work.progress))


def balance(work: Work, room: Room, wanted: of.Balance) -> Any:
    """The strongest setting that keeps what the data are needed for."""
    project = one_table(room.project(), wanted.table)
    return as_json(velado.balance(project, wanted.conditions, wanted.grid, progress=work.progress))


def list_problems(work: Work, room: Room, wanted: of.Nothing) -> Any:
    """Every problem of a project with its path in the document; an empty list if it can run."""
    try:
        found = room.project().check()
    except InputError as error:
        found = [error, *error.others]
        error.others = ()
    return {"problems": [failure_messages.describe_error(discreet(error, room.folder)) for error in found]}


# About a release


def evaluate(work: Work, room: Room, wanted: of.Evaluate) -> Any:
    """All measures of a release against the whole original: for its owners."""
    given = wanted.model_dump(exclude={"table", "population"})
    population = None if wanted.population is None else room.resolve_source(wanted.population)
    project = one_table(released_project(room, work), wanted.table)
    return as_json(velado.evaluate(None, None, project=project, population=population, progress=work.progress, **given))


def attack(work: Work, room: Room, wanted: of.Attack) -> Any:
    """What an adversary can do with a release: every attack for which the tables are there."""
    found = velado.attack(
        project=one_table(released_project(room, work), wanted.table),
        external=_other_table(room, wanted.external),
        other=_other_table(room, wanted.other, wanted.table),
        match=wanted.match or None,
        progress=work.progress,
        **wanted.model_dump(exclude={"table", "external", "other", "match"}),
    )
    data: dict[str, Any] = as_json(found)
    for said, tried in zip(data["attacks"], found, strict=True):
        said["remedies"] = [{code: remedy.text(code) for code in translate_all("")} for remedy in tried.prevented_by]
    return data


def _other_table(room: Room, id: str | None, table: str | None = None) -> Source | None:
    return None if id is None else room.other_release(id, table) or room.resolve_source(id)


def report(work: Work, room: Room, wanted: of.Report) -> Any:
    """The report of a release, in some formats and languages; the result names the files."""
    project = one_table(released_project(room, work), wanted.table)
    files = []
    languages = list(dict.fromkeys(wanted.languages))
    for number, language in enumerate(languages):
        written = velado.write_report(
            project,
            work.task.folder / f"report.{language}.html",
            language=language,
            formats=list(dict.fromkeys(wanted.formats)),
            grid=wanted.grid,
            progress=work.progress.of(number, len(languages)),
        )
        files += [{"name": p.name, "format": p.suffix[1:], "language": language, "bytes": p.stat().st_size} for p in written]
    return {"files": files}


# About a source


def check(work: Work, room: Room, wanted: of.Check) -> Any:
    """The privacy of a table as it is: all measures; the figures of its classes are in a file."""
    found = velado.check(
        room.resolve_source(work.task.source),
        models=room.models(wanted.models),
        classes=True,
        progress=work.progress,
        **wanted.model_dump(exclude={"models"}),
    )
    data: dict[str, Any] = as_json(found)
    data.pop("class_figures", None)
    if found.class_figures is not None:
        data["file"] = save_classes(found.class_figures, work.task.folder / CLASSES)
    return data


def read_rows(work: Work, room: Room, wanted: of.Rows) -> Any:
    """A page of rows of a source, where it lives, all cells as texts."""
    with open_table(room.resolve_source(work.task.source), session=Session(work.progress)) as table:
        for name in (*wanted.where, *([wanted.sort] if wanted.sort else [])):
            if name not in table.header:
                raise unknown_column(name, table.header, [name], table.name)
        page = table.page(wanted.offset, wanted.limit, wanted.sort, wanted.where or None, wanted.descending)
        rows = [list(row) for row in zip(*(c.to_pylist() for c in page.columns), strict=True)]
        return {"columns": list(page.column_names), "rows": rows}


# About a connection


def tables(work: Work, room: Room, wanted: of.OnConnection) -> Any:
    """What a database holds: schemas, tables and views, their columns and types, and about how many rows."""
    found = list_tables(room.database(wanted.connection).project_value, work.progress).tables
    listed = [{**encode(table), "full_name": table.full_name} for table in found[:MOST]]
    return {"tables": listed, "left_out": max(0, len(found) - MOST)}


def try_connection(work: Work, room: Room, wanted: of.OnConnection) -> Any:
    """Ask the database the simplest question; what goes wrong says why."""
    address = room.database(wanted.connection)
    with open_table(Source(database=address, query=SIMPLEST), session=Session(work.progress)) as table:
        return {"works": table.rows() == 1, "engine": address.engine}


SIMPLE: Mapping[str, tuple[type[of.Parameters], Callable[[Work, Room, Any], Any]]] = {
    "estimate": (of.Nothing, estimate),
    "compare": (of.Compare, compare),
    "balance": (of.Balance, balance),
    "checks": (of.Nothing, list_problems),
    "evaluate": (of.Evaluate, evaluate),
    "attack": (of.Attack, attack),
    "report": (of.Report, report),
    "check": (of.Check, check),
    "rows": (of.Rows, read_rows),
    "tables": (of.OnConnection, tables),
    "test": (of.OnConnection, try_connection),
}
"""By kind of job: its parameters, and what answers it."""
