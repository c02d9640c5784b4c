"""Everything that describes itself: models, methods, operations, hierarchies, attacks, planners, samples."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Response
from pydantic import BaseModel

from velado.choices import KINDS, catalog, kind_of
from velado.project.schema import project_schema
from velado.sentences import Sentence
from velado.service.errors import NotFound
from velado.service.sources.schemas import SAMPLES
from velado.service.web.call import Call, Called
from velado.service.web.etags import is_unchanged

router = APIRouter(tags=["catalog"])
IfNoneMatch = Annotated[str | None, Header(description="The ETag of what is known already")]
Language = Annotated[Literal["en", "es", "pt"] | None, Query(description="Else that of who asks")]
UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "Not changed"}}


class Sample(BaseModel):
    """A built-in table of invented people."""

    name: str
    title: str
    rows: int


class SamplesAnswer(BaseModel):
    """All built-in tables."""

    items: list[Sample]


ABOUT: dict[str, tuple[Sentence, int]] = {
    "hospital": (Sentence("Patients of a hospital, with diagnosis and cost"), 5000),
    "caoba": (Sentence("Customers of a bank, with income, education and town"), 493_399),
    "covid_ceara": (Sentence("People of Ceará who were tested for COVID-19, with date of birth and race"), 10_000),
}


@router.get("/catalog", response_model=dict[str, list[dict[str, Any]]], responses=UNCHANGED)
def read_catalog(call: Called, language: Language = None, if_none_match: IfNoneMatch = None) -> Response:
    """Everything that can be chosen, by kind, in the language asked for."""
    return _respond(call, "catalog")


@router.get("/catalog/{kind}", response_model=list[dict[str, Any]], responses=UNCHANGED)
def read_kind(call: Called, kind: str, language: Language = None, if_none_match: IfNoneMatch = None) -> Response:
    """Everything of one kind."""
    call.caller.require("catalog.read")
    if kind not in KINDS:
        raise NotFound()
    return _respond(call, f"kind:{kind}")


@router.get("/schema", response_model=dict[str, Any], responses=UNCHANGED)
def read_schema(
    call: Called,
    part: Annotated[str, Query(max_length=100, description="Such as models, or models.k-anonymity")] = "",
    language: Language = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The JSON Schema of the project file."""
    return _respond(call, f"schema:{part}")


@router.get("/samples", response_model=SamplesAnswer, responses=UNCHANGED)
def list_samples(call: Called, language: Language = None, if_none_match: IfNoneMatch = None) -> Response:
    """The built-in tables, from which sources can be made."""
    return _respond(call, "samples")


def _respond(call: Call, what: str) -> Response:
    """An answer that is the same until another version of the program runs."""
    call.caller.require("catalog.read")
    body, tag = _body_and_tag(what, call.language)
    headers = {"ETag": tag, "Cache-Control": "private, max-age=300", "Vary": "Accept-Language, Authorization, Cookie"}
    if is_unchanged(call.request, tag):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def _body_and_tag(what: str, language: str) -> tuple[bytes, str]:
    kind, _, name = what.partition(":")
    return _whole(kind, language) if not name else _part(kind, name, language)


@cache
def _whole(kind: str, language: str) -> tuple[bytes, str]:
    made: dict[str, Callable[[str], Any]] = {"catalog": catalog, "schema": project_schema, "samples": _samples}
    return _encode(made[kind](language))


def _part(kind: str, name: str, language: str) -> tuple[bytes, str]:
    return _encode(kind_of(name).entries(language) if kind == "kind" else project_schema(language, name))


def _encode(made: Any) -> tuple[bytes, str]:
    body = json.dumps(made, ensure_ascii=False, default=str).encode()
    return body, f'"{hashlib.sha256(body).hexdigest()[:24]}"'


def _samples(language: str) -> dict[str, Any]:
    return {"items": [{"name": name, "title": ABOUT[name][0].into(language), "rows": ABOUT[name][1]} for name in SAMPLES]}
