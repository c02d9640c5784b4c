"""The kinds of jobs: what each is about, who may submit it, its parameters, and what is done with its result.

The web process reads this list; the work itself is in ``work``, which only the process of a job imports. A job about a release
has the document of the job that made it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel
from sqlalchemy.orm import Session as Db

from velado.service.jobs import parameters as of
from velado.service.store.tables import Job, Release, Source

About = Literal["project", "source", "release", "connection", "nothing"]
Finish = Callable[[Db, Job, Mapping[str, Any]], None]


@dataclass(frozen=True)
class Kind:
    """A kind of job. ``action`` must be allowed in the project (or, about nothing, in the instance).

    ``work`` is the module of ``velado.service.jobs.work`` whose ``perform`` does it (``simple``: several kinds, by a table); ``finish`` takes the result over into
    the store, in the transaction that ends the job. ``quick``: a question, which a
    warm process answers. ``brief``: a job for which a worker always has a place, since somebody waits for it. ``probing`` are parameters by which a caller asks about values of their own
    choice: whoever may not read records would find any value by asking again and again, so they are refused to them.
    """

    name: str
    about: About
    action: str
    parameters: type[BaseModel]
    work: str
    quick: bool = False
    brief: bool = False
    finish: Finish | None = None
    probing: tuple[str, ...] = ()


def _save_inspection(db: Db, job: Job, result: Mapping[str, Any]) -> None:
    """A source is ready, with what was found in it."""
    source = db.get(Source, job.source_id) if job.source_id else None
    if source is None or source.state == "deleted":
        return
    source.rows, source.columns = result["rows"], list(result["columns"])
    source.profile, source.suggestion = dict(result["profile"]), result["suggestion"]
    source.copied, source.state = bool(result["copied"]), "ready"
    # It stands in the source, and goes with it.
    job.result = {key: result[key] for key in ("rows", "columns", "copied")}


def _summary(result: Mapping[str, Any]) -> dict[str, Any]:
    """What everybody may know of a release, its notes in every language."""
    summary, notes = dict(result["summary"]), list(result.get("notes") or ())
    if isinstance(summary.get("tables"), Mapping):
        summary["tables"] = {
            name: _summary({"summary": part, "notes": [note for note in notes if note.get("table") == name]})
            for name, part in summary["tables"].items()
        }
    elif notes:
        summary["notes"] = [{key: one for key, one in note.items() if key != "table"} for note in notes]
    return summary


def _save_release(db: Db, job: Job, result: Mapping[str, Any]) -> None:
    """There is a release. Its id stands in the result of the job."""
    if job.project_id is None:
        return
    release = Release(
        project_id=job.project_id,
        job_id=job.id,
        user_id=job.user_id,
        version=job.version or 1,
        summary=_summary(result),
        manifest=dict(result["manifest"]),
        place=dict(result["place"]),
    )
    db.add(release)
    db.flush()
    job.release_id = release.id
    job.result = {**result, "release": release.id}


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("inspect", "source", "records.read", of.Nothing, "inspect", brief=True, finish=_save_inspection),
        Kind("estimate", "project", "jobs.analyse", of.Nothing, "simple", brief=True),
        Kind("run", "project", "jobs.release", of.Run, "run", finish=_save_release),
        Kind("explore", "project", "jobs.analyse", of.Explore, "explore"),
        Kind("evaluate", "release", "release.private", of.Evaluate, "simple"),
        Kind("compare", "project", "jobs.analyse", of.Compare, "simple"),
        Kind("balance", "project", "jobs.analyse", of.Balance, "simple"),
        Kind("attack", "release", "jobs.analyse", of.Attack, "simple", probing=("identity", "factor")),
        Kind("report", "release", "jobs.release", of.Report, "simple"),
        Kind("check", "source", "jobs.analyse", of.Check, "simple"),
        Kind("fuzzify", "source", "jobs.analyse", of.Fuzzify, "fuzzify"),
        Kind("appointments", "source", "records.read", of.Appointments, "appointments"),
        Kind("study", "nothing", "studies.run", of.Study, "study"),
        Kind("checks", "project", "profile.read", of.Nothing, "simple", quick=True),
        Kind("hierarchy", "project", "profile.read", of.Hierarchy, "hierarchy", quick=True, probing=("description", "format")),
        Kind("singled-out", "project", "profile.read", of.SingledOut, "singled_out", quick=True),
        Kind("node", "project", "results.read", of.Node, "node", quick=True),
        Kind("rows", "source", "records.read", of.Rows, "simple", quick=True),
        Kind("tables", "connection", "connections.create", of.OnConnection, "simple", quick=True),
        Kind("test", "connection", "connections.create", of.OnConnection, "simple", quick=True),
    )
}
"""All kinds, those that take longer first."""
BRIEF = tuple(kind.name for kind in KINDS.values() if kind.brief)
