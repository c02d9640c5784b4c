"""The own account: language, theme, password, tokens; and the page that a link for a forgotten password leads to."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from velado.errors import VeladoError
from velado.service.accounts import sign_in
from velado.service.errors import Invalid
from velado.service.permissions import SCOPES
from velado.service.service import Service
from velado.service.web import problems
from velado.service.web.call import address_of, check_origin, cookie_of
from velado.service.web.resources import session, tokens
from velado.studio.visit import THEMES, Form, PageRoute, Visit, Visiting, anybody, form_of, page
from velado.studio.words import Words

router = APIRouter(route_class=PageRoute)


@router.get("/account")
def account(visit: Visiting) -> Response:
    """Who am I, and what is set for me."""
    return _shown(visit)


@router.post("/account/profile")
def profile(visit: Visiting) -> Response:
    """The name as others see it."""
    session.change(session.Profile(full_name=visit.form.text("full_name")), visit.call)
    return visit.go("/account", visit.say("Saved."))


@router.post("/account/password")
def password(visit: Visiting) -> Response:
    """Another password; all other sessions end."""
    given = dict(visit.form.fields)
    if given.get("new", "") != given.get("again", ""):
        raise Invalid("passwords-differ", "the two new passwords are not the same", hint="Type it twice, the same way.")
    answer = visit.go("/account", visit.say("The password is changed; you are signed out everywhere else."))
    body = session.NewPassword(old=given.get("old", ""), new=given.get("new", ""))
    session.change_password(body, visit.call, answer)
    return answer


@router.post("/account/tokens")
def make_token(visit: Visiting) -> Response:
    """A token, shown this once: therefore the page itself is the answer."""
    days = visit.form.text("days", "90")
    given = {"name": visit.form.text("name"), "scopes": visit.form.all("scope"), "days": days}
    made = tokens.create(tokens.NewToken.model_validate(given), visit.call, Response())
    return _shown(visit, made=made)


@router.post("/account/tokens/{id}/revoke")
def revoke(visit: Visiting, id: str) -> Response:
    """End a token at once."""
    tokens.delete(id, visit.call)
    return visit.go("/account", visit.say("The token is revoked."))


@router.get("/password/{token}")
def new_password(request: Request, words: Annotated[Words, Depends(anybody)], token: str) -> Response:
    """Where a link for a forgotten password leads."""
    return page(request, words, "password.html", token=token, problem=None)


@router.post("/password/{token}")
def set_password(
    request: Request, words: Annotated[Words, Depends(anybody)], form: Annotated[Form, Depends(form_of)], token: str
) -> Response:
    """Set the password, and sign in."""
    check_origin(request)
    service: Service = request.app.state.service
    given = dict(form.fields).get("password", "")
    try:
        done = sign_in.by_link(service, token, address_of(request), given, cookie_of(request))
    except VeladoError as error:
        shown = problems.ProblemPart(**problems.part(error, words.code))
        return page(request, words, "password.html", problems.status_of(error), token=token, problem=shown)
    answer = RedirectResponse("/", 303)
    session.set_cookie(answer, service.settings, done.opened.cookie)
    return answer


def _shown(visit: Visit, **more: Any) -> Response:
    who, listed = session.who_am_i(visit.call), tokens.list_tokens(visit.call).items
    return visit.render(
        "account.html", who=who, tokens=listed, scopes=tuple(SCOPES), themes=THEMES, **({"made": None} | more)
    )
