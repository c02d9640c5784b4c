"""What a document may name: sources, uploads and connections that who writes it may use; nothing becomes reachable by
naming it.

A source of somebody else is shared through the projects of which its owner is a member, and nowhere else: who is taken out
of them, or takes the owner out, has it no more.

A document that is changed may keep what it names already, since whoever put it there was allowed to: else nobody but the
owner of a hierarchy's file could edit a shared project. A connection is kept only with its table, so that nobody writes
elsewhere with the password of somebody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import Session as Db

from velado.project.references import What, walk
from velado.sentences import Sentence
from velado.service.access.caller import SAMPLE, Caller
from velado.service.access.permissions import LEARNER, STEWARD
from velado.service.errors import Invalid
from velado.service.projects.document_checks import outputs, references
from velado.service.store.tables import Connection, GroupMember, Member, Project, Source, Upload

Document = Mapping[str, Any]


def check_use(db: Db, caller: Caller, document: Document, before: Document | None = None) -> None:
    """Raise, with every path, unless the caller may use all that a checked document names; ``before`` is what it replaces."""
    Usable(db, caller, before).check(document)


class Usable:
    """What a caller may name in a document that takes the place of ``before``."""

    def __init__(self, db: Db, caller: Caller, before: Document | None = None) -> None:
        self._db, self._caller = db, caller
        self._kept = references(before or {})
        self._written = outputs(before or {})

    def check(self, document: Document) -> None:
        """Raise, with every path, unless all that a checked document names may be used."""
        walk(document, self._check)

    def wrong(self, what: What, value: Any) -> Invalid | None:
        """Why a thing may not be named at its place."""
        if what == "source" and not self._source(str(value["source"])):
            return self._unknown(Sentence("source"), str(value["source"]), Sentence("GET /api/v1/sources lists yours."))
        if what == "file" and not self._upload(value.partition(":")[2]):
            return self._unknown(Sentence("upload"), str(value), Sentence("Send the file as an upload of your own."))
        if what == "output" and "connection" in value and value not in self._written:
            id = str(value["connection"])
            if not self._connection(id):
                return self._unknown(Sentence("connection"), id, Sentence("GET /api/v1/connections lists yours."))
        return None

    def _check(self, what: What, value: Any) -> Any:
        error = self.wrong(what, value)
        if error is not None:
            raise error
        return value

    def _unknown(self, kind: Sentence, name: str, hint: Sentence) -> Invalid:
        message = Sentence("there is no {kind} '{name}', or it is not yours", kind=kind, name=name)
        samples = Sentence("You may work on the samples only.")
        return Invalid("unknown-reference", message, hint=hint if STEWARD in self._caller.roles else samples)

    def _source(self, id: str) -> bool:
        if id in self._kept["sources"]:
            # Also one that is gone: a draft can be saved, and its checks say what it lacks.
            return True
        source = self._db.get(Source, id)
        if source is None or source.state == "deleted":
            return False
        sample = source.kind == SAMPLE
        if STEWARD not in self._caller.roles and not (sample and LEARNER in self._caller.roles):
            return False
        return source.user_id == self._caller.id or self._is_shared_sample(source)

    def _is_shared_sample(self, source: Source) -> bool:
        """Whether the caller reads a sample of somebody else; any other table is named by its owner only.

        Else who was let into one project could take the table along into another.
        """
        if source.kind != SAMPLE:
            return False
        projects = naming(self._db, self._caller, source)
        return any("records.read" in self._caller.actions_by_role(self._db, project.id) for project in projects)

    def _upload(self, id: str) -> bool:
        if id in self._kept["uploads"]:
            return True
        upload = self._db.get(Upload, id)
        return upload is not None and upload.user_id == self._caller.id and STEWARD in self._caller.roles

    def _connection(self, id: str) -> bool:
        connection = self._db.get(Connection, id)
        return connection is not None and connection.user_id == self._caller.id and STEWARD in self._caller.roles


def naming(db: Db, caller: Caller, source: Source) -> Iterator[Project]:
    """The projects of the caller through which a source is shared: their document names it, and its owner is a member."""
    query = select(Project).where(Project.id.in_(member_projects(caller)))
    if source.kind != SAMPLE:
        query = query.where(Project.id.in_(_of(source.user_id)))
    for project in db.scalars(query):
        if source.id in references(project.document)["sources"]:
            yield project


def is_usable_in(db: Db, source: Source, project_id: str) -> bool:
    """Whether the owner of a source is a member of a project, so that it may be used there; samples tell of nobody."""
    found = _of(source.user_id).where(Member.project_id == project_id).limit(1)
    return source.kind == SAMPLE or db.scalar(found) is not None


def only_samples(db: Db, document: Document) -> bool:
    """Whether a document names nothing but samples, so that nobody's records are in what is made of it."""
    named = references(document)
    if named["uploads"] or named["connections"]:
        return False
    samples = select(Source.id).where(Source.id.in_(named["sources"]), Source.kind == SAMPLE)
    return set(db.scalars(samples)) == named["sources"]


def member_projects(caller: Caller) -> Any:
    """The ids of the projects of which the caller, or a group of the caller's, is a member."""
    return _of(caller.id)


def _of(user_id: str) -> Select[str]:
    groups = select(GroupMember.group_id).where(GroupMember.user_id == user_id)
    return select(Member.project_id).where(or_(Member.user_id == user_id, Member.group_id.in_(groups)))


def roles_in(db: Db, caller: Caller, projects: Iterable[str]) -> dict[str, frozenset[str]]:
    """The roles of the caller in several projects, asked for at once."""
    groups = select(GroupMember.group_id).where(GroupMember.user_id == caller.id)
    own = or_(Member.user_id == caller.id, Member.group_id.in_(groups))
    found: dict[str, frozenset[str]] = {}
    for id, role in db.execute(select(Member.project_id, Member.role).where(Member.project_id.in_(list(projects)), own)):
        found[id] = found.get(id, frozenset()) | {role}
    return found
