"""Signing in and out, the start page, language and theme."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from velado.errors import VeladoError
from velado.service.accounts import operations as accounts
from velado.service.accounts import sign_in
from velado.service.projects import operations as projects
from velado.service.service import Service
from velado.service.web import problems
from velado.service.web.call import address_of, call_of, check_origin, clear_cookie, cookie_of, set_cookie
from velado.studio.request import CHOSEN, LANGUAGES, THEMES, Form, PageRoute, Visiting, form_of, own_address, page, visitor_words
from velado.studio.words import Words

router = APIRouter(route_class=PageRoute)
YEAR = 365 * 24 * 3600
Sent = Annotated[Form, Depends(form_of)]
Anybody = Annotated[Words, Depends(visitor_words)]


@router.get("/")
def start(visit: Visiting) -> Response:
    """What can be done here, and recent work."""
    recent = projects.list_projects(visit.call, limit=6).items
    return visit.render("start.html", recent=recent)


@router.get("/sign-in")
def sign_in_page(request: Request, words: Anybody, next: str = "/") -> Response:
    """Name and password, or the company's provider."""
    service: Service = request.app.state.service
    return page(request, words, "sign_in.html", next=own_address(next), problem=None, provider=bool(service.settings.oidc_issuer))


@router.post("/sign-in")
def signed_in(request: Request, words: Anybody, form: Sent) -> Response:
    """Sign in, and go on where one wanted to go."""
    check_origin(request)
    service: Service = request.app.state.service
    onwards = own_address(form.text("next", "/"))
    try:
        done = sign_in.by_password(
            service, form.text("name"), dict(form.fields).get("password", ""), address_of(request), cookie_of(request)
        )
    except VeladoError as error:
        shown = problems.ProblemPart(**problems.part(error, words.code))
        provider = bool(service.settings.oidc_issuer)
        return page(request, words, "sign_in.html", problems.status_of(error), next=onwards, problem=shown, provider=provider)
    answer = RedirectResponse(onwards, 303)
    set_cookie(answer, service.settings, done.opened.cookie)
    return answer


@router.post("/sign-out")
def sign_out(visit: Visiting) -> Response:
    """End the session."""
    accounts.sign_out(visit.call, visit.call.cookie or "")
    answer = visit.go("/sign-in")
    clear_cookie(answer, visit.call.service.settings)
    return answer


@router.post("/look")
def look(request: Request, form: Sent) -> Response:
    """Language, theme, and whether parameters for experts are shown: for the browser, and for the user who has signed in."""
    check_origin(request)
    back = RedirectResponse(own_address(form.text("back", "/")), 303)
    kept = {"max_age": YEAR, "samesite": "lax", "path": "/", "httponly": True}
    if form.text("theme") in THEMES:
        back.set_cookie("velado-theme", form.text("theme"), **kept)  # type: ignore[arg-type]
    if form.text("simple") in ("0", "1"):
        back.set_cookie("velado-simple", form.text("simple"), **kept)  # type: ignore[arg-type]
    if form.text("language") in LANGUAGES:
        back.set_cookie(CHOSEN, form.text("language"), **kept)  # type: ignore[arg-type]
        if form.text("csrf"):
            with call_of(request, form.text("csrf")) as call:
                accounts.change_profile(call, accounts.Profile(language=form.text("language")))  # type: ignore[arg-type]
    return back
