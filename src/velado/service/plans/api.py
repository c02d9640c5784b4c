"""Routes of plans of appointments."""

from __future__ import annotations

from fastapi import APIRouter, Response

from velado.service.comparisons.kept_results import ResultAnswer, ResultEntry
from velado.service.plans import operations as plans
from velado.service.web import downloads
from velado.service.web.call import Called
from velado.service.web.schemas import After, Limit, Listed

router = APIRouter(tags=["results"])


@router.get("/plans")
def list_plans(call: Called, limit: Limit = 100, after: After = None) -> Listed[ResultEntry]:
    """The plans of appointments of who asks, the newest first."""
    return plans.list_plans(call, limit, after)


@router.get("/plans/{id}")
def read_plan(call: Called, id: str) -> ResultAnswer:
    """A plan of appointments: its figures, without the people."""
    return plans.read_plan(call, id)


@router.get("/plans/{id}/appointments", response_class=Response, responses=downloads.answers("text/csv"))
def download_plan(call: Called, id: str) -> Response:
    """Who has which appointment, as a file."""
    path = plans.download_plan(call, id)
    return downloads.stream(path, path.name)
