"""The page 'As file': the project file, and the Python and the commands that do the same."""

from __future__ import annotations

import json
import pprint
import shlex
from typing import Any

from fastapi import APIRouter, Response

from velado.service.errors import Invalid
from velado.service.projects import operations as projects
from velado.service.projects.document import Document
from velado.service.projects.exchange import from_text, plain_name, to_text
from velado.studio.project_page import Working
from velado.studio.request import PageRoute

router = APIRouter(route_class=PageRoute)
WIDE = 110
ARGUMENTS = ("columns", "models", "method", "rest", "person", "household")


@router.get("/projects/{id}/file")
def as_file(work: Working) -> Response:
    """YAML, Python, commands; and the document itself, to be edited as a text."""
    file = f"{plain_name(work.project.name)}.yaml"
    return work.show(
        "file.html",
        "",
        yaml=projects.read_file(work.call, work.id).text,
        python=python(json.loads(projects.read_file(work.call, work.id, "json").text), file),
        commands=commands(file),
        document=to_text(work.document.as_dict()),
    )


@router.post("/projects/{id}/file")
def save_text(work: Working) -> Response:
    """The document as it was edited."""
    document = from_text(work.form.text("document"))
    if not isinstance(document, dict):
        raise Invalid("bad-document", "a project is a mapping, as in a project file")
    said = work.say("The project is as the text says.")
    return work.save(lambda whole: whole.replace(document), work.address("file"), said, whole=True)


def commands(file: str) -> str:
    """The commands that do the same as the pages."""
    name = shlex.quote(file)
    return "\n".join(
        f"velado {what}" for what in (f"validate {name}", f"estimate {name}", f"run {name}", f"explore {name}", f"report {name}")
    )


def python(project: dict[str, Any], file: str) -> str:
    """The Python that does the same: with the document in it where it describes one table, else from the file."""
    if "tables" in project or "source" not in project:
        return f"import velado\n\nreleases = velado.run({file!r})\n"
    document = Document(project)
    source, output = document.source, document.output
    plain = set(source) == {"path"}
    given = {"columns": {}, "models": [], "method": document.method.name}
    given |= {key: project[key] for key in ARGUMENTS if key in project}
    path = output.pop("path", None)
    if not plain or output or path is None or "protection" in project or "variants" in project:
        return f"import velado\n\nproject = {_format_python(project, 0)}\nrelease = velado.run(project)\n"
    arguments = "".join(f"    {key}={_format_python(value, 8)},\n" for key, value in given.items())
    return f"import velado\n\nrelease = velado.anonymize(\n    {source['path']!r},\n{arguments}    output={path!r},\n)\n"


def _format_python(value: Any, indent: int) -> str:
    """A value as Python, broken into lines that belong to an indented place."""
    return pprint.pformat(value, width=WIDE - indent, sort_dicts=False).replace("\n", "\n" + " " * indent)
