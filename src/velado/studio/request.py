"""One request of a page: who asks, in which language, what the form says, and how the answer is rendered."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from velado.errors import InternalError, VeladoError
from velado.results import Discreet
from velado.sentences import Sentence
from velado.service.accounts import sessions
from velado.service.errors import NotFound, Refused, Unauthenticated
from velado.service.jobs import operations as jobs
from velado.service.unit_of_work import Reach, Unasked
from velado.service.web import problems, validation
from velado.service.web.call import Call, call_of, cookie_of
from velado.service.web.languages import language_of
from velado.studio import assets
from velado.studio.views.document_diff import describe_value
from velado.studio.words import LANGUAGES, NATIVE, Words

log = logging.getLogger("velado.service")
THEMES = ("auto", "light", "dark")
CHOSEN = "velado-language"
"""The cookie of the language that a browser was told to speak before anybody signed in."""
ASKED = ["GET", "POST"]
"""Methods of a page that a worker must answer: a GET shows what was answered before, or the button that asks by a POST."""
SAID = "velado-said"
"""The cookie that carries one sentence over a redirection."""


class Form:
    """The fields of a form that was sent. A field that is not there is empty."""

    def __init__(self, fields: Iterable[tuple[str, str]]) -> None:
        self.fields = list(fields)

    def text(self, name: str, default: str = "") -> str:
        """The last value of a field, without blanks around it."""
        return next((value.strip() for key, value in reversed(self.fields) if key == name), default)

    def all(self, name: str) -> list[str]:
        """All values of a field."""
        return [value for key, value in self.fields if key == name]

    def under(self, prefix: str) -> dict[str, str]:
        """Fields ``prefix.name`` by name: what a generated form sends."""
        return {key.removeprefix(f"{prefix}."): value for key, value in self.fields if key.startswith(f"{prefix}.")}

    def __contains__(self, name: str) -> bool:
        return any(key == name for key, _ in self.fields)


@dataclass(frozen=True, repr=False)
class PageRequest(Discreet):
    """A page that somebody looks at, or a form that they sent."""

    call: Call
    words: Words
    form: Form

    @property
    def request(self) -> Request:
        """The request itself."""
        return self.call.request

    def say(self, template: str, /, **places: Any) -> str:
        """A sentence in the language of who looks."""
        return self.words(template, **places)

    def may(self, action: str) -> bool:
        """Whether an action of the instance is allowed."""
        return self.call.caller.may(action)

    def render(self, template: str, status: int = 200, **shown: Any) -> HTMLResponse:
        """A page."""
        common = {
            "visit": self,
            "me": self.call.caller,
            "csrf": sessions.csrf_of(self.call.cookie or ""),
            "said": said_in(self.request),
            "running": jobs.count_unfinished(self.call),
            "simple": self.request.cookies.get("velado-simple", "1") == "1",
        }
        return page(self.request, self.words, template, status, **{**common, **shown})

    def go(self, address: str, said: str = "") -> RedirectResponse:
        """To another page, after something was done; ``said`` is told there once."""
        answer = RedirectResponse(address, 303)
        if said:
            # Secrets are never said: the cookie is read by the next page only, and gone then.
            answer.set_cookie(SAID, quote(said), max_age=30, httponly=True, samesite="strict", path="/")
        return answer

    def submit(self, kind: str, **about: Any) -> str:
        """Put a job into the queue; its id. ``parameters`` beside ``project``, ``source``, ``release`` or ``connection``."""
        return jobs.submit(self.call, jobs.NewJob(kind=kind, **about)).id


def said_in(request: Request) -> str:
    """What the page before had to say."""
    from urllib.parse import unquote

    return unquote(request.cookies.get(SAID, ""))


def page(request: Request, words: Words, template: str, status: int = 200, **shown: Any) -> HTMLResponse:
    """A page for anybody."""
    theme = request.cookies.get("velado-theme", "auto")
    common = {
        "_": words,
        "words": words,
        "request": request,
        "languages": NATIVE,
        "theme": theme if theme in THEMES else "auto",
        "said": "",
        "address": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        # The same numbers every time that a page is made, so that what is open in it stays open.
        "fresh": count(1).__next__,
    }
    body = templates().get_template(template).render(**{**common, **shown})
    answer = HTMLResponse(body, status, {"Cache-Control": "no-store", "Vary": "Cookie, Accept-Language"})
    if SAID in request.cookies and status < 400:
        answer.delete_cookie(SAID, path="/")
    return answer


@cache
def templates() -> Environment:
    """The templates of all pages."""
    made = Environment(
        loader=PackageLoader("velado.studio", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
    )
    made.globals |= {"asset": assets.address, "VEGA": assets.VEGA}
    made.filters |= {"block": block, "digest": digest, "query": with_query, "describe_value": describe_value}
    return made


def block(data: Any) -> Markup:
    """Data for a script of a page, as the content of ``<script type="application/json">``."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, default=str)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def own_address(address: str) -> str:
    """An address of ours: a form leads nobody elsewhere."""
    plain = address.startswith("/") and not address.startswith(("//", "/\\")) and "\\" not in address
    return address if plain and address.isprintable() else "/"


def digest(data: Any) -> str:
    """A few signs that are others as soon as the data are: the version of what a script draws."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()[:16]


def with_query(address: str, **changed: Any) -> str:
    """An address with some parts of its query changed; None takes one away, a list stands for several of a name."""
    path, _, query = address.partition("?")
    kept = [(key, value) for key, value in parse_qsl(query, keep_blank_values=True) if key not in changed]
    kept += [(key, value) for key, value in changed.items() if value is not None]
    told = urlencode(kept, doseq=True)
    return f"{path}?{told}" if told else path


async def form_of(request: Request) -> Form:
    """What a form sends: fields, urlencoded; files go to ``/api/v1/uploads``."""
    if request.method != "POST":
        return Form(())
    body = await request.body()
    try:
        return Form(parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=20_000))
    except ValueError:
        raise Refused("bad-request", Sentence("the form is not readable")) from None


def visit(request: Request, form: Annotated[Form, Depends(form_of)]) -> Iterator[PageRequest]:
    """The dependency of pages for who has signed in."""
    with call_of(request, form.text("csrf"), Reach.READS) as call:
        call.close()
        yield PageRequest(call, Words(call.language), form)


Visiting = Annotated[PageRequest, Depends(visit)]


def visitor_words(request: Request) -> Words:
    """The words for who may not have signed in."""
    return Words(language_of(request, request.cookies.get(CHOSEN, ""), request.app.state.service.settings.language))


class PageRoute(APIRoute):
    """A route whose errors are pages, too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with what goes wrong told to people."""
        usual = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await usual(request)
            except (RequestValidationError, ValidationError) as error:
                return error_page(request, validation.invalid(error.errors()))
            except HTTPException as error:
                return error_page(request, NotFound(), error.status_code)
            except VeladoError as error:
                return error_page(request, error)
            except Unasked:
                return _question_page(request)
            except Exception as error:
                told = InternalError.of(error)
                log.error("%s", told)
                return error_page(request, told)

        return handler


def error_page(request: Request, error: VeladoError, status: int | None = None) -> Response:
    """What went wrong, as a page; who has not signed in is led there."""
    if isinstance(error, Unauthenticated):
        onwards = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        wanted = onwards if request.method == "GET" else ""
        return RedirectResponse("/sign-in" + (f"?{urlencode({'next': wanted})}" if wanted not in ("", "/") else ""), 303)
    status = status or problems.status_of(error)
    words = _words_of(request)
    parts = [problems.ProblemPart(**problems.part(one, words.code)) for one in (error, *error.others)]
    internal = isinstance(error, InternalError)
    shown = {"problems": parts, "code": status, "internal": internal, "said": ""}
    if internal:
        return page(request, words, "problem.html", status, **shown)
    try:
        # Who is known finds the way on as on every other page.
        with call_of(request, "") as call:
            return PageRequest(call, Words(call.language), Form(())).render("problem.html", status, **shown)
    except VeladoError:
        return page(request, words, "problem.html", status, **shown)


def _question_page(request: Request) -> Response:
    """A page that asks a worker only when it is told to: a script tells it at once, others press the button."""
    with call_of(request, "", Reach.READS) as call:
        return PageRequest(call, Words(call.language), Form(())).render("question.html")


def _words_of(request: Request) -> Words:
    """The language of somebody whose request failed: as they chose it, if they are known."""
    service, cookie = request.app.state.service, cookie_of(request)
    chosen = request.cookies.get(CHOSEN, "")
    if cookie:
        with service.store.reading() as db:
            known = sessions.find(db, cookie, service.store.live(db))
            chosen = known[1].language if known else chosen
    return Words(language_of(request, chosen, service.settings.language))


__all__ = [
    "LANGUAGES",
    "THEMES",
    "Form",
    "PageRequest",
    "PageRoute",
    "Visiting",
    "block",
    "error_page",
    "form_of",
    "page",
    "templates",
    "visitor_words",
]
