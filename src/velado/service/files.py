"""The files of the service, by ids only: no name of a user's becomes part of a path.

uploads/ID             what was sent
sources/ID.parquet     a copy of a table to page through
jobs/ID-ATTEMPT/       what an attempt of a job wrote: releases, reports, explorations
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from velado.service.errors import NotFound

ID = re.compile(r"[0-9a-f]{24}")


class Files:
    """Where things are; the folder and all in it is for the user only who runs the service."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("uploads", "sources", "jobs"):
            (folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)

    def upload(self, id: str) -> Path:
        """What was sent."""
        return self.folder / "uploads" / _check_id(id)

    def copy(self, id: str) -> Path:
        """The copy of a source to page through."""
        return self.folder / "sources" / f"{_check_id(id)}.parquet"

    def attempt(self, job: str, attempt: int) -> Path:
        """What an attempt of a job wrote."""
        return self.folder / "jobs" / f"{_check_id(job)}-{int(attempt)}"

    def attempts(self) -> Iterator[tuple[str, int, Path]]:
        """All folders of attempts."""
        for path in (self.folder / "jobs").iterdir():
            job, _, number = path.name.partition("-")
            if ID.fullmatch(job) and number.isdigit():
                yield job, int(number), path

    def uploads(self) -> Iterator[Path]:
        """All files in the folder of uploads."""
        yield from (self.folder / "uploads").iterdir()

    def copies(self) -> Iterator[Path]:
        """All files in the folder of copies."""
        yield from (self.folder / "sources").iterdir()

    def parts_of(self, id: str) -> list[Path]:
        """What is left of copies of a source that were not finished."""
        return list((self.folder / "sources").glob(f"{_check_id(id)}.parquet.*"))

    def free(self) -> int:
        """Bytes that are free on the disk."""
        return self.free_in(self.folder)

    @staticmethod
    def free_in(folder: Path) -> int:
        """Bytes that are free on the disk of a folder."""
        return shutil.disk_usage(folder).free

    @staticmethod
    def remove(path: Path) -> None:
        """Remove a file or a folder, if it is there."""
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _check_id(id: str) -> str:
    if not ID.fullmatch(id):
        raise NotFound()
    return id
