"""Health and metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel
from sqlalchemy import func, literal, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session as Db

from velado.service.jobs.queue import ENDED
from velado.service.service import Service
from velado.service.store.tables import Job, Session, Upload, User, WorkerRow, now
from velado.service.web import counters
from velado.service.web.call import Called

router = APIRouter(tags=["operation"])

STATES = ("queued", "running", *ENDED)
MEDIA = "text/plain; version=0.0.4; charset=utf-8"


class Health(BaseModel):
    """Whether the service can answer; nothing else is said."""

    status: Literal["ok", "failing"]


@router.get("/health", responses={503: {"model": Health, "description": "The service cannot answer"}})
def health(request: Request) -> JSONResponse:
    """Whether the service can answer. For everybody."""
    service: Service = request.app.state.service
    try:
        with service.store.reading() as db:
            db.execute(select(literal(1)))
        service.files.free()
    except (SQLAlchemyError, OSError):
        return JSONResponse({"status": "failing"}, 503)
    return JSONResponse({"status": "ok"})


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(call: Called) -> PlainTextResponse:
    """Figures for Prometheus; requests are those of the process that answers."""
    call.caller.require("metrics.read")
    with call.reading() as db:
        figures = [*_of_store(db, call.settings(db).lease_seconds)]
    figures.append(("velado_disk_free_bytes", "gauge", "Bytes that are free on the disk", [({}, call.service.files.free())]))
    return PlainTextResponse("".join(_lines([*figures, *_of_requests()])), media_type=MEDIA)


Figure = tuple[str, str, str, list[tuple[dict[str, Any], float]]]
"""Name, type, help, and values with their labels."""


def _of_store(db: Db, lease: int) -> Iterator[Figure]:
    jobs = dict.fromkeys(STATES, 0)
    jobs |= {row.state: row.number for row in db.execute(select(Job.state, func.count().label("number")).group_by(Job.state))}
    yield "velado_jobs", "gauge", "Jobs by state", [({"state": state}, n) for state, n in jobs.items()]
    oldest = db.scalar(select(func.min(Job.created)).where(Job.state == "queued"))
    age = 0.0 if oldest is None else max(0.0, (now() - oldest).total_seconds())
    yield "velado_queue_age_seconds", "gauge", "Age of the oldest job that waits", [({}, age)]
    alive = WorkerRow.seen > now() - timedelta(seconds=2 * lease)
    for name, help, wanted in (
        ("velado_sessions", "Sessions of browsers", select(func.count()).select_from(Session)),
        ("velado_users", "Users who may sign in", select(func.count()).select_from(User).where(User.active.is_(True))),
        ("velado_upload_bytes", "Bytes that were sent and are kept", select(func.sum(Upload.received))),
        ("velado_workers", "Workers that gave a sign of life lately", select(func.count()).select_from(WorkerRow).where(alive)),
    ):
        yield name, "gauge", help, [({}, float(db.scalar(wanted) or 0))]


def _of_requests() -> Iterator[Figure]:
    counted = counters.route_counts()
    yield "velado_requests_total", "counter", "Requests by route", [(r._asdict(), n) for r, n, _ in counted]
    yield ("velado_request_seconds_total", "counter", "Seconds that requests took", [(r._asdict(), s) for r, _, s in counted])


def _lines(figures: Iterable[Figure]) -> Iterator[str]:
    for name, kind, help, values in figures:
        yield f"# HELP {name} {help}\n# TYPE {name} {kind}\n"
        for labels, value in values:
            shown = ",".join(f'{label}="{_escape(str(said))}"' for label, said in labels.items())
            yield f"{name}{{{shown}}} {value:g}\n" if isinstance(value, float) else f"{name}{{{shown}}} {value}\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
