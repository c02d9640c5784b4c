"""A published experiment, reproduced."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.results import encode
from velado.sentences import Sentence
from velado.service.jobs import parameters as of
from velado.service.jobs.hide_paths import discreet
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import parse_parameters, translate_all
from velado.service.settings import load
from velado.studies import study

FIGURES = 5000
"""Compared figures that the result lists; files have all of them."""


def perform(work: Work) -> dict[str, Any]:
    """Published and obtained figures side by side; the files of the study are in the folder ``study``."""
    wanted = parse_parameters(work, of.Study)
    folder, data = work.task.folder / "study", load().study_folder
    reproduce, options = study(wanted.name), wanted.model_dump(include={"rows", "seed"}, exclude_none=True)
    strange = [name for name in options if name not in signature(reproduce).parameters]
    if strange:
        raise InputError("bad-parameter", Sentence("this study has no parameter '{name}'", name=strange[0]))
    try:
        found = reproduce(Path(data) if data else work.task.folder / "none", folder, work.progress, **options)
    except InputError as error:
        if error.code == "missing-data":
            raise InputError(
                "missing-data",
                "the data of this study are not there",
                hint="An administrator says where they are (setting study_folder).",
            ) from None
        raise discreet(error, work.task.folder) from None
    listed = [c for c in found.compared if c.agrees is False] + [c for c in found.compared if c.agrees is not False]
    return {
        "study": wanted.name,
        "title": translate_all(found.title),
        "figures": [_figure(c) for c in listed[:FIGURES]],
        "compared": sum(c.agrees is not None for c in found.compared),
        "differing": len(found.differences),
        "notes": [translate_all(note) for note in found.notes],
        "files": [file.relative_to(folder).as_posix() for file in found.files],
    }


def _figure(c: Any) -> dict[str, Any]:
    said = {"configuration": translate_all(c.configuration), "figure": translate_all(c.figure)}
    return {
        **said,
        "published": encode(c.published),
        "obtained": encode(c.obtained),
        "agrees": c.agrees,
        **({"why": translate_all(c.why)} if c.why else {}),
    }
