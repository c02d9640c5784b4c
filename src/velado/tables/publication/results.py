"""Folders of results: files under names that Velado chose never take the place of somebody else's."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from velado.errors import InputError
from velado.sentences import Sentence
from velado.tables.files import contents, digest_of
from velado.tables.publication.publish import publish_files

LISTING = "velado-files.json"
"""Names and SHA-256 digests of the files in a folder that Velado wrote."""
LARGEST = 10_000_000


@contextmanager
def results(folder: Path, names: Sequence[str], private: Collection[str] = (), force: bool = False) -> Iterator[list[Path]]:
    """Private places for files of a folder, which get their names together at the end, or none of them does.

    A file that is there already is replaced if it is as Velado wrote it, which a listing in the folder tells; any other only
    by ``force``.
    """
    known = _read_listing(folder)
    there = [name for name in (*names, LISTING) if (folder / name).exists()]
    foreign = [n for n in there if known is None or (n != LISTING and not _is_unchanged(folder / n, known.get(n)))]
    if foreign and not force:
        raise InputError(
            "file-exists",
            Sentence(
                "{files:,} file(s) of these names are there already, and are not as Velado wrote them; nothing was written",
                files=len(foreign),
            ),
            file=folder,
            values=foreign,
            hint="Choose another folder with --output, or replace them with --force.",
        )
    with publish_files([folder / name for name in (*names, LISTING)], [folder / name for name in private]) as places:
        *files, listing = places
        yield files
        written = {name: digest_of(place) for name, place in zip(names, files, strict=True)}
        kept = {name: digest for name, digest in (known or {}).items() if (folder / name).exists()}
        listing.write_text(json.dumps({"files": {**kept, **written}}, indent=2) + "\n", encoding="utf-8")


def _read_listing(folder: Path) -> dict[str, str] | None:
    """What the listing of a folder says; nothing if there is none, None if the file is something else."""
    path = folder / LISTING
    if not path.exists():
        return {}
    try:
        found = json.loads(contents(path, LARGEST))["files"]
        return {str(name): str(digest) for name, digest in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, InputError):
        return None


def _is_unchanged(path: Path, digest: str | None) -> bool:
    return digest is not None and path.is_file() and digest_of(path) == digest
