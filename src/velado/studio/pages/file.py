"""The page 'As file': the project file, and the Python and the commands that do the same."""

from __future__ import annotations

import pprint
import shlex
from collections.abc import Mapping
from typing import Any

import yaml
from fastapi import APIRouter, Response

from velado.sentences import Sentence
from velado.service.documents import plain_name
from velado.service.errors import Invalid
from velado.service.web.resources import projects
from velado.studio.visit import PageRoute
from velado.studio.work import Working

router = APIRouter(route_class=PageRoute)
WIDE = 110
ARGUMENTS = ("rest", "person", "household")


@router.get("/projects/{id}/file")
def as_file(work: Working) -> Response:
    """YAML, Python, commands; and the document itself, to be edited as a text."""
    text = bytes(projects.read_file(work.call, work.id).body).decode()
    file = f"{plain_name(work.project.name)}.yaml"
    document = yaml.safe_dump(work.document, sort_keys=False, allow_unicode=True)
    return work.show(
        "file.html",
        "",
        yaml=text,
        python=python(yaml.safe_load(text), file),
        commands=commands(file),
        document=document,
    )


@router.post("/projects/{id}/file")
def edited(work: Working) -> Response:
    """The document as it was edited."""
    try:
        document = yaml.safe_load(work.form.text("document"))
    except yaml.YAMLError:
        raise Invalid(
            "bad-document", Sentence("the text is no YAML"), hint="Look at indents, colons and quotes."
        ) from None
    if not isinstance(document, dict):
        raise Invalid("bad-document", "a project is a mapping, as in a project file")

    def change(whole: dict[str, Any]) -> None:
        whole.clear()
        whole.update(document)

    return work.save(change, work.address("file"), work.say("The project is as the text says."), whole=True)


def commands(file: str) -> str:
    """The commands that do the same as the pages."""
    name = shlex.quote(file)
    return "\n".join(
        f"velado {what}" for what in (f"validate {name}", f"estimate {name}", f"run {name}", f"explore {name}", f"report {name}")
    )  # fmt: skip


def python(project: Mapping[str, Any], file: str) -> str:
    """The Python that does the same: with the document in it where it describes one table, else from the file."""
    if "tables" in project or "source" not in project:
        return f"import velado\n\nreleases = velado.run({file!r})\n"
    source, output = dict(project["source"]), dict(project.get("output") or {})
    plain = set(source) == {"path"}
    given = {
        "columns": project.get("columns", {}), "models": project.get("models", []), "method": project.get("method", "lattice"),
    }  # fmt: skip
    given |= {key: project[key] for key in ARGUMENTS if key in project}
    path = output.pop("path", None)
    if not plain or output or path is None or "anonymization" in project or "twins" in project:
        return f"import velado\n\nproject = {_written(project, 0)}\nrelease = velado.run(project)\n"
    arguments = "".join(f"    {key}={_written(value, 8)},\n" for key, value in given.items())
    return (
        f"import velado\n\nrelease = velado.anonymize(\n    {source['path']!r},\n{arguments}    output={path!r},\n)\n"
    )


def _written(value: Any, indent: int) -> str:
    """A value as Python, broken into lines that belong to an indented place."""
    return pprint.pformat(value, width=WIDE - indent, sort_dicts=False).replace("\n", "\n" + " " * indent)
