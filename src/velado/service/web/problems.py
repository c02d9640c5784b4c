"""One shape for all that goes wrong: ``application/problem+json`` (RFC 9457) with code, message, hint and fields."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from sqlalchemy.exc import DataError, IntegrityError, OperationalError
from starlette.exceptions import HTTPException

from velado.errors import InternalError, VeladoError
from velado.sentences import Sentence
from velado.service.errors import Conflict, Invalid, NotFound, Refused, Unavailable
from velado.service.web import validation
from velado.service.web.languages import language_of

MEDIA = "application/problem+json"
log = logging.getLogger("velado.service")


class ProblemPart(BaseModel):
    """One thing that is wrong."""

    code: str
    message: str
    hint: str = ""
    column: str | None = None
    fields: dict[str, Any] = Field(default_factory=dict)


class Problem(ProblemPart):
    """What went wrong, and the way out. ``others`` are further things that are wrong at once."""

    type: str = "about:blank"
    title: str
    status: int
    others: list[ProblemPart] = Field(default_factory=list)


STATUSES = (400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 422, 428, 429, 500, 503)
DOCUMENTED: dict[int | str, dict[str, Any]] = {
    status: {"description": HTTPStatus(status).phrase, "content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    for status in STATUSES
}
"""What any resource may answer when it refuses."""


def schemas() -> dict[str, Any]:
    """The shape of problems, for the OpenAPI document."""
    shape = Problem.model_json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
    return {**shape.pop("$defs", {}), "Problem": shape}


def part(error: VeladoError, language: str) -> dict[str, Any]:
    """One error in a language; files are left out, since their places on the server are nobody's business."""
    said = error.as_dict(language)["error"]
    kept = {key: said[key] for key in ("code", "message", "hint", "column", "fields") if key in said}
    if "values" in said:
        kept.setdefault("fields", {})
        kept["fields"] = {**kept["fields"], "values": said["values"]}
    return kept


def problem(error: VeladoError, status: int, language: str) -> dict[str, Any]:
    """The body of an answer."""
    found = Problem(
        **part(error, language),
        title=HTTPStatus(status).phrase,
        status=status,
        others=[ProblemPart(**part(other, language)) for other in error.others],
    )
    return found.model_dump(exclude_defaults=False)


def status_of(error: VeladoError) -> int:
    """The status that an error is answered with."""
    return error.status if isinstance(error, Refused) else 500 if isinstance(error, InternalError) else 422


def answer(request: Request, error: VeladoError, status: int | None = None) -> JSONResponse:
    """The answer that an error gets."""
    status = status or status_of(error)
    language = language_of(request, "", request.app.state.service.settings.language)
    headers = {"Cache-Control": "no-store"}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    headers |= getattr(error, "headers", {})
    return JSONResponse(problem(error, status, language), status, headers, MEDIA)


def install(app: FastAPI) -> None:
    """Make every error of an application a problem."""

    @app.exception_handler(VeladoError)
    def ours(request: Request, error: VeladoError) -> JSONResponse:
        return answer(request, error)

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return answer(request, validation.invalid(error.errors()))

    @app.exception_handler(HTTPException)
    def other(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 404:
            return answer(request, NotFound())
        message = Sentence("the request was refused: {why}", why=HTTPStatus(error.status_code).phrase)
        response = answer(request, Refused("refused", message), error.status_code)
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(OperationalError)
    def store(request: Request, error: OperationalError) -> JSONResponse:
        log.error("the store does not answer: %s", type(error.orig).__name__)
        return answer(request, Unavailable("no-store", "the database of the service does not answer", hint="Try again later."))

    @app.exception_handler(IntegrityError)
    def answer_conflict(request: Request, error: IntegrityError) -> JSONResponse:
        # Two requests at once: both found that it can be done, and the store let one of them.
        return answer(request, Conflict("changed", "it was changed meanwhile", hint="Read it again."))

    @app.exception_handler(DataError)
    def unfit(request: Request, error: DataError) -> JSONResponse:
        return answer(request, Invalid("bad-request", "the request has a value that cannot be kept"))

    @app.exception_handler(Exception)
    def fault(request: Request, error: Exception) -> JSONResponse:
        told = InternalError.of(error)
        log.error("%s", told)
        return answer(request, told)
