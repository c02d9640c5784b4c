"""Studies: published experiments, reproduced, with published and obtained figures side by side."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from velado.errors import InputError, suggest
from velado.sentences import Sentence
from velado.studies import anonylitics, oviedo, ubb, ucm, unilab

STUDIES: dict[str, Callable[..., Any]] = {
    "ubb": ubb.study,
    "unilab": unilab.study,
    "anonylitics": anonylitics.study,
    "oviedo": oviedo.study,
    "ucm": ucm.study,
}


def data_folder(given: Path | None = None) -> Path:
    """Where the studies' data are: as given, or VELADO_DATA, or ../shared/data."""
    return given or Path(os.environ.get("VELADO_DATA", "../shared/data"))


def study(name: str) -> Callable[..., Any]:
    """The study with this name."""
    if name not in STUDIES:
        raise InputError("unknown-study", Sentence("there is no study '{name}'", name=name), hint=suggest(name, STUDIES))
    return STUDIES[name]
