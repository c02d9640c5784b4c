"""Signing in and out, the start page, language and theme."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from velado.errors import VeladoError
from velado.service.accounts import sign_in
from velado.service.service import Service
from velado.service.web import problems
from velado.service.web.call import address_of, check_origin, cookie_of
from velado.service.web.resources import projects, session
from velado.studio.visit import CHOSEN, LANGUAGES, THEMES, Form, PageRoute, Visiting, anybody, form_of, inside, page
from velado.studio.words import Words

router = APIRouter(route_class=PageRoute)
YEAR = 365 * 24 * 3600
Sent = Annotated[Form, Depends(form_of)]
Anybody = Annotated[Words, Depends(anybody)]


@router.get("/")
def start(visit: Visiting) -> Response:
    """What can be done here, and recent work."""
    recent = projects.list_projects(visit.call, limit=6).items
    return visit.render("start.html", recent=recent)


@router.get("/sign-in")
def sign_in_page(request: Request, words: Anybody, next: str = "/") -> Response:
    """Name and password, or the company's provider."""
    service: Service = request.app.state.service
    return page(
        request, words, "sign_in.html", next=inside(next), problem=None, provider=bool(service.settings.oidc_issuer)
    )


@router.post("/sign-in")
def signed_in(request: Request, words: Anybody, form: Sent) -> Response:
    """Sign in, and go on where one wanted to go."""
    check_origin(request)
    service: Service = request.app.state.service
    onwards = inside(form.text("next", "/"))
    try:
        done = sign_in.by_password(
            service, form.text("name"), dict(form.fields).get("password", ""), address_of(request), cookie_of(request)
        )
    except VeladoError as error:
        shown = problems.ProblemPart(**problems.part(error, words.code))
        provider = bool(service.settings.oidc_issuer)
        return page(
            request, words, "sign_in.html", problems.status_of(error), next=onwards, problem=shown, provider=provider
        )
    answer = RedirectResponse(onwards, 303)
    session.set_cookie(answer, service.settings, done.opened.cookie)
    return answer


@router.post("/sign-out")
def sign_out(visit: Visiting) -> Response:
    """End the session."""
    answer = visit.go("/sign-in")
    session.delete(visit.call, answer)
    return answer


@router.post("/look")
def look(request: Request, form: Sent) -> Response:
    """Language, theme, and whether parameters for experts are shown: for the browser, and for the user who has signed in."""
    check_origin(request)
    back = RedirectResponse(inside(form.text("back", "/")), 303)
    kept = {"max_age": YEAR, "samesite": "lax", "path": "/", "httponly": True}
    if form.text("theme") in THEMES:
        back.set_cookie("velado-theme", form.text("theme"), **kept)  # type: ignore[arg-type]
    if form.text("simple") in ("0", "1"):
        back.set_cookie("velado-simple", form.text("simple"), **kept)  # type: ignore[arg-type]
    if form.text("language") in LANGUAGES:
        back.set_cookie(CHOSEN, form.text("language"), **kept)  # type: ignore[arg-type]
        if form.text("csrf"):
            from velado.studio.visit import visit

            mine = visit(request, form)
            session.change(session.Profile(language=form.text("language")), mine.call)  # type: ignore[arg-type]
    return back
