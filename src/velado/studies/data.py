"""The data of the studies, which do not come with the package."""

from __future__ import annotations

from pathlib import Path

from velado.errors import InputError
from velado.sentences import Sentence


def check_there(path: Path, what: str) -> None:
    """Say where data should be that are not there."""
    if not path.exists():
        raise InputError(
            "missing-data",
            Sentence("{what} are not there", what=what),
            file=path,
            hint="Say where with --data FOLDER or the environment variable VELADO_DATA.",
        )
