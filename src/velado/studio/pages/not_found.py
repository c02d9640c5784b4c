"""Addresses that no page has."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from velado.service.errors import NotFound
from velado.service.web.call import call_of
from velado.service.web.problems import answer
from velado.studio.request import PageRoute, error_page

router = APIRouter(route_class=PageRoute)


@router.get("/{rest:path}")
def nowhere(request: Request, rest: str) -> Response:
    """There is no such page; who has not signed in is led there first."""
    if rest.startswith("api/"):
        return answer(request, NotFound())
    with call_of(request, ""):
        return error_page(request, NotFound())
