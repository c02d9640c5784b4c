"""Pages for people: the way in by a link, the reference of the REST interface, and the files that pages are made of."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

import velado
from velado.service.accounts import sign_in
from velado.service.errors import NotFound
from velado.service.service import Service
from velado.service.web.call import address_of, cookie_of, set_cookie
from velado.service.web.reference import reference

HERE = files("velado.service.web")
ASSETS = {"reference.css": "text/css"}
"""Files that pages load, and what they are; nothing else is served."""

router = APIRouter(include_in_schema=False)


@cache
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("velado.service.web", "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )


@router.get("/link/{token}")
def link(token: str, request: Request) -> RedirectResponse:
    """Sign in by a link that works once: what 'velado studio' opens in the browser."""
    service: Service = request.app.state.service
    done = sign_in.by_link(service, token, address_of(request), before=cookie_of(request))
    response = RedirectResponse("/", 303)
    set_cookie(response, service.settings, done.opened.cookie)
    return response


@router.get("/api/v1/docs")
def docs(request: Request) -> HTMLResponse:
    """The reference of this service, made of its own description."""
    document = request.app.openapi()
    page = (
        _templates()
        .get_template("reference.html")
        .render(resources=reference(document), version=velado.__version__, openapi=request.app.openapi_url)
    )
    return HTMLResponse(page)


@router.get("/assets/{name}")
def asset(name: str) -> Response:
    """A file that pages load."""
    if name not in ASSETS:
        raise NotFound()
    return Response(HERE.joinpath("assets", name).read_bytes(), media_type=ASSETS[name], headers={"Cache-Control": "max-age=3600"})
