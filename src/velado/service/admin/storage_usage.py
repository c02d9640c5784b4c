"""What takes how much room: uploads, copies of tables, what jobs wrote, documents, by user. Nothing about contents."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session as Db

from velado.sentences import Sentence
from velado.service.access.permissions import STEWARD
from velado.service.errors import TooLarge, Unavailable
from velado.service.files import Files
from velado.service.settings import Settings
from velado.service.store.tables import Job, Source, Upload, User, Version


class Usage(NamedTuple):
    """Bytes of a user's things by kind; ``user`` is None where nobody owns them any more."""

    user: str | None
    uploads: int = 0
    copies: int = 0
    jobs: int = 0
    documents: int = 0

    @property
    def bytes(self) -> int:
        """All of them."""
        return self.uploads + self.copies + self.jobs + self.documents


def of_user(db: Db, files: Files, user_id: str) -> int:
    """Bytes that a user takes, uploads as announced."""
    announced = db.scalar(select(func.sum(Upload.bytes)).where(Upload.user_id == user_id)) or 0
    copies = sum(size(files.copy(id)) for id in db.scalars(select(Source.id).where(Source.user_id == user_id, Source.copied)))
    mine = set(db.scalars(select(Job.id).where(Job.user_id == user_id)))
    return int(announced) + copies + sum(size(path) for job, _, path in files.attempts() if job in mine)


def stored_bytes(db: Db, user_id: str) -> int:
    """Bytes of the store that a user takes: versions of projects, and documents and results of jobs."""
    return sum(int(db.scalar(select(func.sum(kind.bytes)).where(kind.user_id == user_id)) or 0) for kind in (Version, Job))


def check_stored(db: Db, settings: Settings, user: User | None) -> None:
    """Raise if the versions and jobs of a user, with those of this transaction, take too much, or the disk is nearly full."""
    if user is not None:
        db.flush()
        check_room(settings, user.roles, stored_bytes(db, user.id), Files.free_in(settings.folder))


def check_room(settings: Settings, roles: Collection[str], taken: int, free: int) -> None:
    """Raise if a user with these roles takes more bytes than allowed, or fewer stay free on the disk than must."""
    limit = settings.user_bytes if STEWARD in roles else min(settings.user_bytes, settings.learner_bytes)
    if taken > limit:
        message = Sentence("your files and projects would take more than {limit:,} bytes", limit=limit)
        hint = "Delete sources, jobs, releases and projects that you do not need."
        raise TooLarge("no-room-left", message, hint=hint, fields={"limit": limit})
    if free < settings.free_bytes:
        raise nearly_full()


def nearly_full() -> Unavailable:
    """Nothing more is written, so that what runs can end."""
    return Unavailable("disk-nearly-full", "the disk of the service is nearly full", hint="Ask an administrator.")


def announced_bytes(db: Db, files: Files) -> int:
    """Bytes that are announced and have not arrived yet."""
    waiting = db.execute(select(Upload.id, Upload.bytes).where(Upload.state == "receiving"))
    return sum(max(0, row.bytes - size(files.upload(row.id))) for row in waiting)


def by_user(db: Db, files: Files) -> list[Usage]:
    """What everybody takes, as it is on the disk."""
    found: dict[str | None, dict[str, int]] = {}
    owners: dict[str, dict[str, Any]] = {
        "uploads": {row.id: row.user_id for row in db.execute(select(Upload.id, Upload.user_id))},
        "copies": {row.id: row.user_id for row in db.execute(select(Source.id, Source.user_id))},
        "jobs": {row.id: row.user_id for row in db.execute(select(Job.id, Job.user_id))},
    }
    for kind, id, path in everything(files):
        kinds = found.setdefault(owners[kind].get(id), {})
        kinds[kind] = kinds.get(kind, 0) + size(path)
    for table in (Version, Job):
        for user, bytes in db.execute(select(table.user_id, func.sum(table.bytes)).group_by(table.user_id)):
            if bytes:
                kinds = found.setdefault(user, {})
                kinds["documents"] = kinds.get("documents", 0) + int(bytes)
    return sorted((Usage(user, **kinds) for user, kinds in found.items()), key=lambda u: (-u.bytes, u.user or ""))


def everything(files: Files) -> Iterator[tuple[str, str, Path]]:
    """All files of uploads, copies and jobs: kind, id of the thing, path."""
    for path in files.uploads():
        yield "uploads", path.name, path
    for path in files.copies():
        yield "copies", path.name.partition(".")[0], path
    for job, _, path in files.attempts():
        yield "jobs", job, path


def size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder; 0 if it is gone meanwhile."""
    try:
        if not path.is_dir() or path.is_symlink():
            return path.lstat().st_size
        with os.scandir(path) as entries:
            return sum(size(Path(entry.path)) for entry in entries)
    except OSError:
        return 0
