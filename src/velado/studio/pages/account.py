"""The own account: language, theme, password, tokens; and the page that a link for a forgotten password leads to."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from velado.errors import VeladoError
from velado.service.access.permissions import SCOPES
from velado.service.accounts import operations as accounts
from velado.service.accounts import sign_in
from velado.service.errors import Invalid
from velado.service.service import Service
from velado.service.web import problems
from velado.service.web.call import address_of, check_origin, cookie_of, set_cookie
from velado.studio.request import THEMES, Form, PageRequest, PageRoute, Visiting, form_of, page, visitor_words
from velado.studio.words import Words

router = APIRouter(route_class=PageRoute)


@router.get("/account")
def account(visit: Visiting) -> Response:
    """Who am I, and what is set for me."""
    return _render(visit)


@router.post("/account/profile")
def profile(visit: Visiting) -> Response:
    """The name as others see it."""
    accounts.change_profile(visit.call, accounts.Profile(full_name=visit.form.text("full_name")))
    return visit.go("/account", visit.say("Saved."))


@router.post("/account/password")
def password(visit: Visiting) -> Response:
    """Another password; all other sessions end."""
    given = dict(visit.form.fields)
    if given.get("new", "") != given.get("again", ""):
        raise Invalid("passwords-differ", "the two new passwords are not the same", hint="Type it twice, the same way.")
    body = accounts.NewPassword(old=given.get("old", ""), new=given.get("new", ""))
    done = accounts.change_password(visit.call, body, address_of(visit.request))
    answer = visit.go("/account", visit.say("The password is changed; you are signed out everywhere else."))
    set_cookie(answer, visit.call.service.settings, done.opened.cookie)
    return answer


@router.post("/account/tokens")
def make_token(visit: Visiting) -> Response:
    """A token, shown this once: therefore the page itself is the answer."""
    days = visit.form.text("days", "90")
    given = {"name": visit.form.text("name"), "scopes": visit.form.all("scope"), "days": days}
    made = accounts.make_token(visit.call, accounts.NewToken.model_validate(given))
    return _render(visit, made=made)


@router.post("/account/tokens/{id}/revoke")
def revoke(visit: Visiting, id: str) -> Response:
    """End a token at once."""
    accounts.revoke_token(visit.call, id)
    return visit.go("/account", visit.say("The token is revoked."))


@router.get("/password/{token}")
def new_password(request: Request, words: Annotated[Words, Depends(visitor_words)], token: str) -> Response:
    """Where a link for a forgotten password leads."""
    return page(request, words, "password.html", token=token, problem=None)


@router.post("/password/{token}")
def set_password(
    request: Request, words: Annotated[Words, Depends(visitor_words)], form: Annotated[Form, Depends(form_of)], token: str
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
    set_cookie(answer, service.settings, done.opened.cookie)
    return answer


def _render(visit: PageRequest, **more: Any) -> Response:
    who, listed = accounts.read_account(visit.call, None), accounts.list_tokens(visit.call).items
    return visit.render("account.html", who=who, tokens=listed, scopes=tuple(SCOPES), themes=THEMES, **({"made": None} | more))
