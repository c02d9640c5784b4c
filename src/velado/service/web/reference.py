"""The reference of the REST interface, read out of its OpenAPI document: for the page at ``/api/v1/docs`` and for the docs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

METHODS = ("get", "head", "post", "put", "patch", "delete")
DEEPEST = 4


@dataclass(frozen=True)
class Field:
    """A parameter, a header, or a key of a body; ``depth`` says how deep it lies in the body."""

    name: str
    kind: str
    required: bool
    meaning: str
    depth: int = 0


@dataclass(frozen=True)
class Answer:
    """A status and what is sent with it."""

    status: str
    meaning: str
    media: tuple[str, ...]


@dataclass(frozen=True)
class Operation:
    """A method at an address."""

    method: str
    path: str
    summary: str
    meaning: str
    parameters: tuple[Field, ...]
    body_media: tuple[str, ...]
    body: tuple[Field, ...]
    answers: tuple[Answer, ...]
    fields: tuple[Field, ...]

    @property
    def anchor(self) -> str:
        """Its place on the page."""
        return self.method + self.path.replace("/", "-").replace("{", "").replace("}", "")


@dataclass(frozen=True)
class Resource:
    """A resource and its operations."""

    name: str
    operations: tuple[Operation, ...]


def reference(document: Mapping[str, Any]) -> list[Resource]:
    """All resources in the order of the document."""
    found: dict[str, list[Operation]] = {}
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                tag = (item[method].get("tags") or ["velado"])[0]
                found.setdefault(tag, []).append(_operation(document, method, path, item[method]))
    return [Resource(name, tuple(operations)) for name, operations in found.items()]


def _operation(document: Mapping[str, Any], method: str, path: str, said: Mapping[str, Any]) -> Operation:
    parameters = tuple(
        Field(p["name"], _kind(document, p.get("schema", {})), p.get("required", False), _with_place(p))
        for p in said.get("parameters", ())
    )
    content = said.get("requestBody", {}).get("content", {})
    answers: list[Answer] = []
    fields: tuple[Field, ...] = ()
    for status, answer in said.get("responses", {}).items():
        if not status.startswith(("2", "3")):
            continue
        media = answer.get("content", {})
        answers.append(Answer(status, answer.get("description") or HTTPStatus(int(status)).phrase, tuple(media)))
        if "application/json" in media and not fields:
            fields = tuple(_fields(document, media["application/json"].get("schema", {})))
    body = content.get("application/json", {}).get("schema", {})
    return Operation(
        method.upper(),
        path,
        said.get("summary", ""),
        said.get("description", ""),
        parameters,
        tuple(content),
        tuple(_fields(document, body)),
        tuple(answers),
        fields,
    )


def _with_place(parameter: Mapping[str, Any]) -> str:
    meaning = parameter.get("description", "") or parameter.get("schema", {}).get("description", "")
    where = {"path": "in the address", "query": "in the query", "header": "header", "cookie": "cookie"}
    return f"{where[parameter['in']]}{': ' if meaning else ''}{meaning}"


def _resolve_ref(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _fields(document: Mapping[str, Any], schema: Mapping[str, Any], depth: int = 0) -> Iterator[Field]:
    """The keys of an object and those of the objects in it."""
    schema = _resolve_ref(document, schema)
    if schema.get("type") == "array":
        schema = _resolve_ref(document, schema.get("items", {}))
    required = schema.get("required", ())
    for name, inner in schema.get("properties", {}).items():
        kind = _kind(document, inner)
        meaning = inner.get("description", "") or _resolve_ref(document, inner).get("description", "")
        yield Field(name, kind, name in required, " ".join(meaning.split("\n\n")[0].split()), depth)
        if depth + 1 < DEEPEST:
            for choice in _objects(document, inner):
                yield from _fields(document, choice, depth + 1)


def _objects(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    schema = _resolve_ref(document, schema)
    for choice in schema.get("anyOf", (schema,)):
        choice = _resolve_ref(document, choice)
        inner = _resolve_ref(document, choice.get("items", {})) if choice.get("type") == "array" else choice
        if "properties" in inner:
            yield inner


def _kind(document: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """What stands in a place, in a few words."""
    schema = _resolve_ref(document, schema)
    if "anyOf" in schema:
        kinds = dict.fromkeys(_kind(document, choice) for choice in schema["anyOf"])
        return " or ".join(kinds)
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    kind = schema.get("type", "anything")
    if kind == "array":
        return "list of " + _kind(document, schema.get("items", {}))
    return {"object": "mapping" if "properties" not in schema else "object", "string": "text"}.get(kind, str(kind))
