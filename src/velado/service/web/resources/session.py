"""Sign in and out, who am I."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, Field

from velado.sentences import Sentence
from velado.service.accounts import oidc, passwords, sessions, sign_in, throttle, users
from velado.service.accounts.caller import Caller
from velado.service.errors import Refused
from velado.service.permissions import instance_actions, scoped
from velado.service.service import Service
from velado.service.settings import Settings
from velado.service.store.tables import User
from velado.service.web.call import Called, address_of, check_origin, cookie_name, cookie_of
from velado.service.web.shapes import Body

router = APIRouter(prefix="/session", tags=["session"])

Language = Literal["", "en", "es", "pt"]
Password = Annotated[str, Field(max_length=passwords.MOST)]
Given = Annotated[str, Field(max_length=500)]
Answered = Annotated[str | None, Query(max_length=4000)]


class SignIn(Body):
    """Name and password."""

    name: Annotated[str, Field(max_length=200)]
    password: Password


class LinkUse(Body):
    """The token of a link; ``password`` is the new one, where the link is for a forgotten one."""

    token: Given
    password: Password | None = None


class NewPassword(Body):
    """Another password, and the one until now."""

    old: Password
    new: Password


class Profile(Body):
    """What people say of themselves."""

    language: Language | None = None
    full_name: Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")] | None = None


class Who(BaseModel):
    """Who asks, and what they may do. ``csrf`` goes into the header X-CSRF-Token of requests that change something."""

    id: str
    name: str
    full_name: str
    language: str
    roles: list[str]
    actions: list[str]
    local: bool = Field(description="Whether there is a password; else one signs in through a provider or by links")
    csrf: str | None = None
    token: str | None = Field(None, description="The id of the token that asks")
    since: datetime | None = Field(None, description="When the user signed in last")


class WrongPassword(Refused):
    """The password until now is another one."""

    status = 403

    def __init__(self) -> None:
        super().__init__("wrong-password", Sentence("the old password is wrong"), fields={"path": "old"})


@router.get("")
def who_am_i(call: Called) -> Who:
    """Who am I?"""
    with call.reading() as db:
        user = call.user(db)
    return _who(user, call.caller, None if call.cookie is None else sessions.csrf_of(call.cookie))


@router.post("", status_code=201)
def create(body: SignIn, request: Request, response: Response) -> Who:
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
    call.require_session()
    with call.writing() as db:
        user = call.user(db)
        for name, value in body.model_dump(exclude_none=True).items():
            setattr(user, name, value)
        call.audit(db, "user.profile", user.id)
    return _who(user, call.caller, sessions.csrf_of(call.cookie or ""))


@router.put("/password")
def change_password(body: NewPassword, call: Called, response: Response) -> Who:
    """Change the own password; all other sessions end, and this one begins anew."""
    call.require_session()
    service, caller = call.service, call.caller
    with call.writing() as db:
        counted = throttle.count(db, call.settings(db), caller.name, address_of(call.request))
    with call.reading() as db:
        stored = call.user(db).password
    if not passwords.verify(stored, body.old):
        with call.writing() as db:
            call.audit(db, "user.password.failed", caller.id)
        raise WrongPassword()
    with call.writing() as db:
        user = call.user(db)
        users.set_password(db, user, body.new, own=True)
        throttle.succeeded(db, counted, caller.name)
        call.audit(db, "user.password", user.id)
        done = sign_in.open_for(db, service, user, None, by="password")
    return _signed_in(done, service.settings, response)


@router.delete("", status_code=204)
def delete(call: Called, response: Response) -> None:
    """Sign out."""
    call.require_session()
    with call.writing() as db:
        sessions.close(db, call.cookie or "")
        call.audit(db, "session.closed", call.caller.id)
    settings = call.service.settings
    response.delete_cookie(cookie_name(settings), secure=settings.secure, httponly=True, samesite="lax")


@router.get("/oidc", status_code=303, response_class=RedirectResponse)
def begin_oidc(
    request: Request, following: Annotated[str, Query(alias="next", max_length=500)] = "/"
) -> RedirectResponse:
    """Go to the provider to sign in; `next` is the page of this service that follows."""
    service: Service = request.app.state.service
    begun = oidc.begin(service, _back(request), following)
    response = RedirectResponse(begun.address, 303)
    _keep(response, service.settings, begun.cookie, 60 * oidc.MINUTES)
    return response


@router.get("/oidc/callback", status_code=303, response_class=RedirectResponse)
def end_oidc(
    request: Request,
    state: Answered = None,
    code: Answered = None,
    error: Answered = None,
    iss: Answered = None,
) -> RedirectResponse:
    """Come back from the provider, signed in."""
    service: Service = request.app.state.service
    answer = {"state": state, "code": code, "error": error, "iss": iss}
    cookie = request.cookies.get(_oidc_cookie(service.settings))
    done, following = oidc.finish(service, _back(request), answer, cookie, cookie_of(request))
    response = RedirectResponse(following, 303)
    _keep(response, service.settings, "", 0)
    set_cookie(response, service.settings, done.opened.cookie)
    return response


def _back(request: Request) -> str:
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


def set_cookie(response: Response, settings: Settings, cookie: str) -> None:
    """Give the browser its session. Lax: a return from a provider, which is a link of another site, must find it."""
    response.set_cookie(cookie_name(settings), cookie, path="/", secure=settings.secure, httponly=True, samesite="lax")


def _signed_in(done: sign_in.SignedIn, settings: Settings, response: Response) -> Who:
    set_cookie(response, settings, done.opened.cookie)
    response.headers["Location"] = "/api/v1/session"
    user = done.user
    return _who(user, Caller(user.id, user.name, tuple(user.roles), user.language), done.opened.csrf)


def _who(user: User, caller: Caller, csrf: str | None) -> Who:
    return Who(
        id=user.id, name=user.name, full_name=user.full_name, language=user.language, roles=user.roles,
        actions=sorted(instance_actions(caller.roles) & scoped(caller.scopes)), local=user.password is not None,
        csrf=csrf, token=caller.token, since=user.seen,
    )  # fmt: skip
