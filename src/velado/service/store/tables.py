"""The tables of the store. Ids are random; times are in UTC; what is JSON holds no record of anybody."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, ForeignKey, Index, MetaData, TypeDecorator, UniqueConstraint
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

ID_BYTES = 12


def new_id() -> str:
    """The id of a new thing: nobody can guess it."""
    return secrets.token_hex(ID_BYTES)


def now() -> datetime:
    """The time in UTC."""
    return datetime.now(UTC)


class Moment(TypeDecorator[datetime]):
    """A time in UTC, with its zone in Python and without in the store."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Into the store."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Out of the store."""
        return None if value is None else value.replace(tzinfo=UTC)


NAMES = {
    "ix": "ix_%(column_0_N_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """All tables."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {int: BigInteger, datetime: Moment, dict[str, Any]: JSON, list[str]: JSON, list[Any]: JSON}  # noqa: RUF012


class Identified:
    """Things with an id of their own."""

    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    created: Mapped[datetime] = mapped_column(default=now)


# Accounts


class User(Identified, Base):
    """A person who may sign in, with a ``password`` (its hash) or through a provider as ``subject``."""

    __tablename__ = "users"
    name: Mapped[str] = mapped_column(unique=True)
    full_name: Mapped[str] = mapped_column(default="")
    email: Mapped[str] = mapped_column(default="")
    roles: Mapped[list[str]] = mapped_column(default=list)
    password: Mapped[str | None]
    subject: Mapped[str | None] = mapped_column(unique=True)
    language: Mapped[str] = mapped_column(default="")
    active: Mapped[bool] = mapped_column(default=True)
    seen: Mapped[datetime | None]


class Group(Identified, Base):
    """Several users under one name."""

    __tablename__ = "groups"
    name: Mapped[str] = mapped_column(unique=True)


class GroupMember(Base):
    """A user of a group."""

    __tablename__ = "group_members"
    group_id: Mapped[str] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)


class Session(Base):
    """Somebody who has signed in; the store has only the hash of what the browser keeps."""

    __tablename__ = "sessions"
    hash: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    created: Mapped[datetime] = mapped_column(default=now)
    seen: Mapped[datetime] = mapped_column(default=now)


class Token(Identified, Base):
    """A named key for programs, shown once; the store has its hash."""

    __tablename__ = "tokens"
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    hash: Mapped[str] = mapped_column(unique=True)
    scopes: Mapped[list[str]]
    expires: Mapped[datetime]
    used: Mapped[datetime | None]


class SignIn(Base):
    """A sign-in that is under way or was tried: one-time links, states of a provider, failed attempts.

    ``kind``: link, oidc, failure. ``key`` is a hash, ``detail`` what must be known at its end.
    """

    __tablename__ = "sign_ins"
    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    kind: Mapped[str]
    key: Mapped[str]
    detail: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created: Mapped[datetime] = mapped_column(default=now)
    expires: Mapped[datetime]
    __table_args__ = (Index(None, "kind", "key"),)


# Data


class Upload(Identified, Base):
    """A file that was sent in pieces. ``state``: receiving, complete. The file is named after the id."""

    __tablename__ = "uploads"
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    bytes: Mapped[int]
    received: Mapped[int] = mapped_column(default=0)
    state: Mapped[str] = mapped_column(default="receiving")
    sha256: Mapped[str | None]
    used: Mapped[datetime] = mapped_column(default=now)


class Connection(Identified, Base):
    """A database; ``secret`` is its password, sealed. ``address`` has none."""

    __tablename__ = "connections"
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    address: Mapped[str]
    secret: Mapped[str | None]
    used: Mapped[datetime] = mapped_column(default=now)
    __table_args__ = (UniqueConstraint("user_id", "name"),)


class Source(Identified, Base):
    """A table to work on: an upload, a table or query of a connection, or a sample.

    ``state``: new, ready, failed, deleted. ``options`` as in the source of a project file (delimiter, sheet, …). ``profile``
    is what ``inspect`` found, ``suggestion`` what it suggests; ``copied`` whether there is a copy to page through.
    """

    __tablename__ = "sources"
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    name: Mapped[str]
    kind: Mapped[str]
    upload_id: Mapped[str | None] = mapped_column(ForeignKey("uploads.id", ondelete="SET NULL"), index=True)
    connection_id: Mapped[str | None] = mapped_column(ForeignKey("connections.id", ondelete="SET NULL"), index=True)
    place: Mapped[dict[str, Any]] = mapped_column(default=dict)
    options: Mapped[dict[str, Any]] = mapped_column(default=dict)
    state: Mapped[str] = mapped_column(default="new")
    rows: Mapped[int | None]
    columns: Mapped[list[Any]] = mapped_column(default=list)
    profile: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    suggestion: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    copied: Mapped[bool] = mapped_column(default=False)
    used: Mapped[datetime] = mapped_column(default=now)


# Projects


class Project(Identified, Base):
    """A project; ``document`` is its project file, in which sources, files and connections are named by id.

    ``samples_only``: no version of it ever named anything but samples.
    """

    __tablename__ = "projects"
    name: Mapped[str]
    document: Mapped[dict[str, Any]]
    version: Mapped[int] = mapped_column(default=1)
    changed: Mapped[datetime] = mapped_column(default=now)
    samples_only: Mapped[bool] = mapped_column(default=False)
    members: Mapped[list[Member]] = relationship(cascade="all, delete-orphan", passive_deletes=True)


class Version(Base):
    """A project as it was; versions are never changed."""

    __tablename__ = "versions"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    document: Mapped[dict[str, Any]]
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    created: Mapped[datetime] = mapped_column(default=now)
    undoes: Mapped[int | None]
    bytes: Mapped[int] = mapped_column(default=0, server_default="0")


class Member(Base):
    """A user or a group in a project, with a role there."""

    __tablename__ = "members"
    id: Mapped[str] = mapped_column(primary_key=True, default=new_id)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    group_id: Mapped[str | None] = mapped_column(ForeignKey("groups.id", ondelete="CASCADE"), index=True)
    role: Mapped[str]
    __table_args__ = (UniqueConstraint("project_id", "user_id"), UniqueConstraint("project_id", "group_id"))


class Secret(Base):
    """A key of a project's operations, sealed."""

    __tablename__ = "secrets"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    sealed: Mapped[str]
    created: Mapped[datetime] = mapped_column(default=now)


# Work


class Job(Identified, Base):
    """Work that a worker does in a process of its own.

    ``state``: queued, running, done, failed, cancelled. ``lease`` is until when its ``worker`` holds it; ``step`` is where it
    is; ``most`` is the last attempt that it gets. ``result`` is its JSON, further files are in the folder of its last ``attempt``. ``asked``: somebody asked it to end.
    ``quick`` jobs are questions that somebody waits for. ``document`` is the project as it was when the job was submitted; a
    question has it until it is answered. ``bytes`` are those of document and result.
    """

    __tablename__ = "jobs"
    kind: Mapped[str]
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    project_id: Mapped[str | None] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    source_id: Mapped[str | None] = mapped_column(ForeignKey("sources.id", ondelete="CASCADE"), index=True)
    release_id: Mapped[str | None] = mapped_column(index=True)
    version: Mapped[int | None]
    document: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    parameters: Mapped[dict[str, Any]] = mapped_column(default=dict)
    quick: Mapped[bool] = mapped_column(default=False)
    state: Mapped[str] = mapped_column(default="queued")
    attempt: Mapped[int] = mapped_column(default=0)
    most: Mapped[int] = mapped_column(default=2)
    asked: Mapped[bool] = mapped_column(default=False)
    worker: Mapped[str | None]
    lease: Mapped[datetime | None]
    started: Mapped[datetime | None]
    finished: Mapped[datetime | None]
    step: Mapped[dict[str, Any]] = mapped_column(default=dict)
    result: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    error: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    bytes: Mapped[int] = mapped_column(default=0, server_default="0")
    __table_args__ = (Index(None, "state", "created"), Index(None, "user_id", "quick", "started"))


class JobLine(Base):
    """A line of the log of a job: a stage that began, or how it ended."""

    __tablename__ = "job_lines"
    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    created: Mapped[datetime] = mapped_column(default=now)
    event: Mapped[str]
    detail: Mapped[dict[str, Any]] = mapped_column(default=dict)


class Release(Identified, Base):
    """A verified release. ``state``: made, approved, withdrawn. Its files are in the folder of the job that made it.

    ``summary`` is the public JSON of the run, ``manifest`` the public manifest.
    """

    __tablename__ = "releases"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), unique=True)
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    version: Mapped[int]
    state: Mapped[str] = mapped_column(default="made")
    summary: Mapped[dict[str, Any]]
    manifest: Mapped[dict[str, Any]]
    place: Mapped[dict[str, Any]]
    judged_by: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    judged: Mapped[datetime | None]


# Operation


class AuditLine(Base):
    """A line of the audit log: who did what with which thing; ``hash`` chains it to the line before."""

    __tablename__ = "audit"
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    created: Mapped[str]
    actor: Mapped[str]
    action: Mapped[str]
    subject: Mapped[str]
    detail: Mapped[dict[str, Any]]
    hash: Mapped[str]


class AuditHead(Base):
    """How many lines the audit log has, sealed together with the hash of the last: a log that was cut off does not fit."""

    __tablename__ = "audit_head"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, default=1)
    number: Mapped[int]
    seal: Mapped[str]


class ChangedSetting(Base):
    """A setting that an administrator changed."""

    __tablename__ = "settings"
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[Any] = mapped_column(JSON)


class WorkerRow(Base):
    """A worker that is or was alive."""

    __tablename__ = "workers"
    id: Mapped[str] = mapped_column(primary_key=True)
    started: Mapped[datetime] = mapped_column(default=now)
    seen: Mapped[datetime] = mapped_column(default=now)
    detail: Mapped[dict[str, Any]] = mapped_column(default=dict)


__all__ = [
    "AuditHead",
    "AuditLine",
    "Base",
    "ChangedSetting",
    "Connection",
    "Group",
    "GroupMember",
    "Job",
    "JobLine",
    "Member",
    "Project",
    "Release",
    "Secret",
    "Session",
    "SignIn",
    "Source",
    "Token",
    "Upload",
    "User",
    "Version",
    "WorkerRow",
    "new_id",
    "now",
]
