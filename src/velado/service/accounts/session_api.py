"""Sign in and out, who am I."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from velado.service.access.caller import Caller
from velado.service.accounts import oidc, operations, sessions, sign_in
from velado.service.accounts.operations import NewPassword, Password, Profile, Who, describe_account
from velado.service.service import Service
from velado.service.settings import Settings
from velado.service.web.call import Call, Called, address_of, check_origin, clear_cookie, cookie_name, cookie_of, set_cookie
from velado.service.web.schemas import Body

router = APIRouter(prefix="/session", tags=["session"])

Given = Annotated[str, Field(max_length=500)]
Answered = Annotated[str | None, Query(max_length=4000)]


class Credentials(Body):
    """Name and password."""

    name: Annotated[str, Field(max_length=200)]
    password: Password


class LinkUse(Body):
    """The token of a link; ``password`` is the new one, where the link is for a forgotten one."""

    token: Given
    password: Password | None = None


@router.get("")
def who_am_i(call: Called) -> Who:
    """Who am I?"""
    return operations.read_account(call, _csrf(call))


@router.post("", status_code=201)
def create(body: Credentials, request: Request, response: Response) -> Who:
    """Sign in with name and password."""
    check_origin(request)
    service: Service = request.app.state.service
    done = sign_in.by_password(service, body.name, body.password, address_of(request), cookie_of(request))
    return _signed_in(done, service.settings, response)


@router.post("/link", status_code=201)
def use_link(body: LinkUse, request: Request, response: Response) -> Who:
    """Sign in by a link that works once."""
    check_origin(request)
    service: Service = request.app.state.service
    done = sign_in.by_link(service, body.token, address_of(request), body.password, cookie_of(request))
    return _signed_in(done, service.settings, response)


@router.put("")
def change(body: Profile, call: Called) -> Who:
    """Change the own language or full name."""
    return operations.change_profile(call, body, _csrf(call))


@router.put("/password")
def change_password(body: NewPassword, call: Called, response: Response) -> Who:
    """Change the own password; all other sessions end, and this one begins anew."""
    return _signed_in(operations.change_password(call, body, address_of(call.request)), call.service.settings, response)


@router.delete("", status_code=204)
def delete(call: Called, response: Response) -> None:
    """Sign out."""
    operations.sign_out(call, call.cookie or "")
    clear_cookie(response, call.service.settings)


@router.get("/oidc", status_code=303, response_class=RedirectResponse)
def begin_oidc(request: Request, following: Annotated[str, Query(alias="next", max_length=500)] = "/") -> RedirectResponse:
    """Go to the provider to sign in; `next` is the page of this service that follows."""
    service: Service = request.app.state.service
    begun = oidc.begin(service, _callback_address(request), following)
    response = RedirectResponse(begun.address, 303)
    _keep(response, service.settings, begun.cookie, 60 * oidc.MINUTES)
    return response


@router.get("/oidc/callback", status_code=303, response_class=RedirectResponse)
def end_oidc(
    request: Request, state: Answered = None, code: Answered = None, error: Answered = None, iss: Answered = None
) -> RedirectResponse:
    """Come back from the provider, signed in."""
    service: Service = request.app.state.service
    answer = {"state": state, "code": code, "error": error, "iss": iss}
    cookie = request.cookies.get(_oidc_cookie(service.settings))
    done, following = oidc.finish(service, _callback_address(request), answer, cookie, cookie_of(request))
    response = RedirectResponse(following, 303)
    _keep(response, service.settings, "", 0)
    set_cookie(response, service.settings, done.opened.cookie)
    return response


def _callback_address(request: Request) -> str:
    """Our address to which the provider leads; the Host was checked."""
    settings: Settings = request.app.state.service.settings
    base = settings.url.rstrip("/") or f"http://{request.headers['host']}"
    return f"{base}/api/v1/session/oidc/callback"


def _oidc_cookie(settings: Settings) -> str:
    return f"{cookie_name(settings)}-oidc"


def _keep(response: Response, settings: Settings, cookie: str, seconds: int) -> None:
    response.set_cookie(
        _oidc_cookie(settings), cookie, max_age=seconds, path="/", secure=settings.secure, httponly=True, samesite="lax"
    )


def _csrf(call: Call) -> str | None:
    return None if call.cookie is None else sessions.csrf_of(call.cookie)


def _signed_in(done: sign_in.SignedIn, settings: Settings, response: Response) -> Who:
    set_cookie(response, settings, done.opened.cookie)
    response.headers["Location"] = "/api/v1/session"
    user = done.user
    return describe_account(user, Caller(user.id, user.name, tuple(user.roles), user.language), done.opened.csrf)
