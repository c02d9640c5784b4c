"""What takes how much room: uploads, copies of tables, and what jobs wrote, by user. Nothing about contents."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session as Db

from velado.service.files import Files
from velado.service.store.tables import Job, Source, Upload


class Usage(NamedTuple):
    """Bytes of a user's things by kind; ``user`` is None where nobody owns them any more."""

    user: str | None
    uploads: int = 0
    copies: int = 0
    jobs: int = 0

    @property
    def bytes(self) -> int:
        """All of them."""
        return self.uploads + self.copies + self.jobs


def of_user(db: Db, files: Files, user_id: str) -> int:
    """Bytes that a user takes, uploads as announced."""
    announced = db.scalar(select(func.sum(Upload.bytes)).where(Upload.user_id == user_id)) or 0
    copies = sum(
        size(files.copy(id)) for id in db.scalars(select(Source.id).where(Source.user_id == user_id, Source.copied))
    )
    mine = set(db.scalars(select(Job.id).where(Job.user_id == user_id)))
    return int(announced) + copies + sum(size(path) for job, _, path in files.attempts() if job in mine)


def promised(db: Db, files: Files) -> int:
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
