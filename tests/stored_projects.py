"""Projects with members, jobs and releases, put into the store by hand: no worker runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from fastapi.testclient import TestClient

from velado.service.access.allowed_references import only_samples
from velado.service.service import Service
from velado.service.store.tables import Job, Member, Project, Release, Source, Version, new_id, now

LEVELS = (3, 2)
HEAD: dict[str, Any] = {
    "schema": "velado-exploration-1",
    "project": "trial",
    "columns": ["age", "sex"],
    "levels": list(LEVELS),
    "rows": 100,
    "limit": 5,
    "objective": "loss",
    "person": None,
    "models": [{"name": "k-anonymity", "required": {"k": 3}, "tells": ["k-anonymity"]}],
    "counts": {"optimal": 1, "minimal": 1, "satisfying": 2, "over-limit": 1, "failing": 3},
    "nodes": 6,
    "labels": {"age": [50, 10, 1], "sex": [2, 1]},
    "optimal": {"levels": [1, 1], "suppressed": 2},
    "figures": ["objective"],
    "whole": ["largest"],
    "file": "nodes.arrow",
}
"""What the job of an exploration says; two columns of three and two levels."""
SUPPRESSED = [100, 60, 40, 2, 1, 0]
SMALLEST = [None, 3, 3, 4, 2, 100]
K = [1, 1, 1, 2, 2, 100]
STATUS = [4, 4, 4, 0, 2, 3]


def rows_of(user: TestClient | str) -> str:
    """The id of who a client is."""
    return user if isinstance(user, str) else str(user.user_id)  # type: ignore[attr-defined]


def add(service: Service, *rows: Any) -> Any:
    """Rows of the store."""
    with service.store.writing() as db:
        db.add_all(rows)
        db.flush()
    return rows[0] if len(rows) == 1 else rows


def project(service: Service, members: Mapping[str, str], document: Mapping[str, Any] | None = None) -> str:
    """A project whose members are users with roles; its id."""
    id = new_id()
    kept = dict(document or {"velado": 1})
    with service.store.reading() as db:
        samples = only_samples(db, kept)
    add(service, Project(id=id, name="trial", document=kept, samples_only=samples))
    add(
        service,
        Version(project_id=id, number=1, document=kept),
        *(Member(project_id=id, user_id=u, role=r) for u, r in members.items()),
    )
    return id


def source(service: Service, user: str, kind: str = "upload", **more: Any) -> str:
    """A source that was inspected; its id."""
    id = new_id()
    given = {"state": "ready", "rows": 3, "columns": [{"name": "age", "type": "text"}], "copied": True, **more}
    add(service, Source(id=id, user_id=user, name="patients.csv", kind=kind, **given))
    return id


def job(service: Service, kind: str, project: str | None, user: str, result: Any = None, **more: Any) -> str:
    """A job that is done, with a folder for its files; its id."""
    id = new_id()
    document = {"velado": 1} if project else None
    given = {"state": "done", "attempt": 1, "finished": now(), "version": 1 if project else None, "document": document, **more}
    add(service, Job(id=id, kind=kind, project_id=project, user_id=user, result=result, **given))
    service.files.attempt(id, 1).mkdir()
    return id


def nodes() -> pa.Table:
    """All nodes of the lattice of `HEAD`."""
    vectors = np.unravel_index(np.arange(6), LEVELS)
    return pa.table(
        {
            "level(age)": pa.array(vectors[0].astype(np.int16)),
            "level(sex)": pa.array(vectors[1].astype(np.int16)),
            "height": pa.array([0, 1, 1, 2, 2, 3], pa.int32()),
            "status": pa.array(STATUS, pa.int8()),
            "minimal": pa.array([False, False, False, True, False, False]),
            "objective": [None, None, None, 0.2, 0.4, 0.9],
            "loss": [None, None, None, 0.2, 0.4, 0.9],
            "suppressed": pa.array(SUPPRESSED, pa.int64()),
            "share": [s / 100 for s in SUPPRESSED],
            "classes": pa.array([0, 3, 4, 5, 6, 1], pa.int64()),
            "smallest": pa.array(SMALLEST, pa.int64()),
            "largest": [None, 9.0, 9.0, 9.0, 9.0, 100.0],
            "average": [None, 5.0, 5.0, 6.0, 7.0, 100.0],
            "k": pa.array(K, pa.int64()),
            "highest_risk": [None, 1 / 3, 1 / 3, 0.25, 0.5, 0.01],
            "average_risk": [None, 0.2, 0.2, 0.1, 0.1, 0.01],
            "achieved(k-anonymity)": pa.array(SMALLEST, pa.int64()),
            "reached(k-anonymity)": pa.array(K, pa.int64()),
        }
    )


def exploration(service: Service, project: str, user: str, **more: Any) -> str:
    """An exploration with its file; the id of its job."""
    id = job(service, "explore", project, user, HEAD, **more)
    found = nodes()
    with pa.OSFile(str(service.files.attempt(id, 1) / "nodes.arrow"), "wb") as file, pa.ipc.new_file(file, found.schema) as writer:
        writer.write_table(found)
    return id


SUMMARY = {
    "project": "trial",
    "rows": 100,
    "released": 98,
    "suppressed": 2,
    "notes": [{"code": "x", "message": {"en": "a note", "es": "una nota", "pt": "uma nota"}}],
}
MANIFEST = {"velado-manifest": 2, "output": {"name": "release.csv"}}
DATA = b"age,sex\n30-39,f\n30-39,f\n"
CLASSES = {"age": ["30-39", "40-49"], "sex": ["f", "m"], "records": [2, 7], "risk": [0.5, 1 / 7]}
SHAPE = {
    "records": 100,
    "people": False,
    "sizes": {"before": [[1, 90], [5, 2]], "after": [[2, 1], [7, 14]]},
    "distinct": {"ill": [[2, 15]]},
    "levels": {"age": {"level": 1, "height": 2}},
    "columns": [
        {"column": "age", "role": "quasi-identifier", "shares": [{"label": None, "kind": "other", "before": 1, "after": 1}]}
    ],
    "answers": {
        "age": [{"name": "mode", "before": {"kind": "hidden"}, "after": {"kind": "label", "label": "30-39", "records": 2}}]
    },
    "ks": {"age": {"statistic": 0.1, "p": 0.5, "kept": False, "by": "midpoint", "records": 98}},
}
PLACE = {"kind": "file", "file": "release.csv", "format": "csv", "bytes": len(DATA)}


def release(service: Service, project: str, user: str, place: Mapping[str, Any] = PLACE, **more: Any) -> str:
    """A release with its files; its id."""
    private = {"figures": "private.json", "classes": "classes.parquet", "rows": "rows.parquet", "shape": "shape.json"}
    id = new_id()
    made = job(service, "run", project, user, {"summary": SUMMARY, "private": private, "release": id}, release_id=id)
    folder = service.files.attempt(made, 1)
    (folder / "release.csv").write_bytes(DATA)
    (folder / "private.json").write_text(json.dumps({"evaluation": {"secret": 1}, "manifest": {"private": 1}}))
    (folder / "shape.json").write_text(json.dumps({"public": SHAPE, "whole": {**SHAPE, "records": 102}}))
    pa.parquet.write_table(pa.table(CLASSES), folder / "classes.parquet", row_group_size=1)
    pa.parquet.write_table(pa.table({"age": ["30-39"] * 5, "sex": list("abcde")}), folder / "rows.parquet", row_group_size=2)
    row = Release(
        id=id,
        project_id=project,
        job_id=made,
        user_id=user,
        version=1,
        summary=SUMMARY,
        manifest=MANIFEST,
        place=dict(place),
        **more,
    )
    add(service, row)
    return id


def report(service: Service, project: str, user: str, release: str, names: Sequence[str] = ("report.en.html",)) -> str:
    """The job of a report with its files; its id."""
    files = [{"name": n, "format": n.rpartition(".")[2], "language": n.split(".")[1], "bytes": 10} for n in names]
    id = job(service, "report", project, user, {"files": files}, release_id=release)
    for name in names:
        (service.files.attempt(id, 1) / name).write_text(f"<html>{name}</html>")
    return id
