"""What is sent and answered about projects and their versions."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from pydantic import BaseModel, Field

from velado.service.web.schemas import Body, Id, Name

LONGEST_TEXT = 8_000_000


class Verdict(BaseModel):
    """How the last run of a project ended. ``code`` says why it failed; ``exposed``: by what others know or could know, people of
    its release are in groups smaller than k, as the project allows or accepts."""

    job: str
    state: str
    finished: datetime | None
    code: str | None = None
    release: str | None = None
    release_state: str | None = None
    exposed: bool = False


class ProjectFacts(BaseModel):
    """What is told of a project everywhere."""

    id: str
    name: str
    version: int
    created: datetime
    changed: datetime
    roles: list[str]


class ProjectEntry(ProjectFacts):
    """A project in a list. ``roles`` are those of who asks."""

    last: Verdict | None = None


class ProjectNote(BaseModel):
    """What its maker should know of a project that comes from elsewhere; ``path`` is a place in what was sent, ``value`` what stands there."""

    path: str
    kind: str
    message: str
    value: str = ""


class ProjectAnswer(ProjectFacts):
    """A project. ``actions`` are what who asks may do in it; ``notes`` are told once, when it is made.

    ``masked``: values that who asks may not see are left out of the document, those that hierarchies and substitutions list.
    """

    actions: list[str]
    document: dict[str, Any]
    masked: bool = False
    notes: list[ProjectNote] = Field(default_factory=list)


class NewProject(Body):
    """A project from at most one of these; from none of them it is empty.

    ``document``: as the service keeps it. ``yaml``: the text of a project file, YAML or JSON. ``anonylitics``: the JSON text of
    an Anonylitics project. ``copy_of``: the id of a project. ``source``: the id of a source; the document is what was
    suggested for it.
    """

    name: Name | None = None
    document: dict[str, Any] | None = None
    yaml: str | None = Field(None, max_length=LONGEST_TEXT)
    anonylitics: str | None = Field(None, max_length=LONGEST_TEXT)
    copy_of: Id | None = None
    source: Id | None = None


class ChangedProject(Body):
    """A new version of a project."""

    document: dict[str, Any]
    name: Name | None = None


class VersionEntry(BaseModel):
    """A version: who made it, when, and which change it took back."""

    number: int
    created: datetime
    user: str | None
    undoes: int | None


class VersionAnswer(VersionEntry):
    """A project as it was; ``masked`` as in the project."""

    document: dict[str, Any]
    masked: bool = False


class ProjectFile(NamedTuple):
    """The project file for people of a version of a project; ``name`` is that of the project."""

    name: str
    version: int
    text: str
