"""A published experiment, reproduced."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.results import encoded
from velado.sentences import Sentence
from velado.service.documents.discretion import discreet
from velado.service.jobs import parameters as of
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import given, spoken
from velado.service.settings import load
from velado.studies import study

FIGURES = 5000
"""Compared figures that the result lists; files have all of them."""


def perform(work: Work) -> dict[str, Any]:
    """Published and obtained figures side by side; the files of the study are in the folder ``study``."""
    wanted = given(work, of.Study)
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
                "missing-data", "the data of this study are not there",
                hint="An administrator says where they are (setting study_folder).",
            ) from None  # fmt: skip
        raise discreet(error, work.task.folder) from None
    listed = [c for c in found.compared if c.agrees is False] + [c for c in found.compared if c.agrees is not False]
    return {
        "study": wanted.name,
        "title": spoken(found.title),
        "figures": [_figure(c) for c in listed[:FIGURES]],
        "compared": sum(c.agrees is not None for c in found.compared),
        "differing": len(found.differing),
        "notes": [spoken(note) for note in found.notes],
        "files": [file.relative_to(folder).as_posix() for file in found.files],
    }


def _figure(c: Any) -> dict[str, Any]:
    said = {"configuration": spoken(c.configuration), "figure": spoken(c.figure)}
    return {**said, "published": encoded(c.published), "obtained": encoded(c.obtained), "agrees": c.agrees,
            **({"why": spoken(c.why)} if c.why else {})}  # fmt: skip
