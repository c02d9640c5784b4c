"""Writes ``rest.md`` from the OpenAPI document: ``python docs/reference/write_rest.py``. A test compares."""

from pathlib import Path

from velado.service.web.app import description
from velado.service.web.reference import Field, Operation, reference

PAGE = Path(__file__).with_name("rest.md")
HEAD = """# REST interface

All addresses begin with `/api/v1`. A running service has this reference at `/api/v1/docs` and its machine-readable form \
(OpenAPI 3.1) at `/api/v1/openapi.json`; [how to use it](../how-to/rest.md) has a whole life of a project. This page is \
written by `docs/reference/write_rest.py`.

- Who asks is said by the session's cookie, or by a token: `Authorization: Bearer velado_…`.
- A request of a browser's session that changes something repeats the session's token in `X-CSRF-Token`.
- Messages are in the language of `?language=`, of the user, or of `Accept-Language`.
- Lists are pages: `items`, and `next`, which is `after` of the next page.
- What is refused is `application/problem+json` with `code`, `message`, `hint`, `fields`, and `others` where several things are \
wrong at once ([codes](errors.md)). What exists but is not yours is answered like what does not exist: 404.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for resource in reference(description()):
        parts.append(f"\n## {resource.name}\n")
        parts += [_operation(o) for o in resource.operations]
    return "".join(parts)


def _operation(o: Operation) -> str:
    text = f"\n### {o.method} {o.path.removeprefix('/api/v1')}\n\n{_prose(o.summary, o.meaning)}\n"
    if o.parameters:
        text += "\n" + _table("parameter", o.parameters)
    if o.body_media:
        text += f"\nBody: `{'`, `'.join(o.body_media)}`\n" + ("\n" + _table("key", o.body) if o.body else "")
    for a in o.answers:
        text += f"\nAnswers {a.status}" + (f": `{'`, `'.join(a.media)}`\n" if a.media else ".\n")
    return text + ("\n" + _table("key", o.fields) if o.fields else "")


def _prose(summary: str, meaning: str) -> str:
    begin = summary if summary.endswith("?") else f"{summary}."
    return "\n\n".join(" ".join(part.split()) for part in (begin, *filter(None, meaning.split("\n\n"))))


def _table(first: str, fields: tuple[Field, ...]) -> str:
    lines = [f"| {first} | kind | meaning |\n|---|---|---|\n"]
    for f in fields:
        name = "· " * f.depth + f"`{f.name}`" + (" (required)" if f.required else "")
        lines.append(f"| {name} | {_cell(f.kind)} | {_cell(f.meaning)} |\n")
    return "".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
