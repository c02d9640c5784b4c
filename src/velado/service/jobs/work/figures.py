"""Figures of a release that are kept beside it: those of its classes, as everybody may know them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from velado.evaluation import ClassFigures, public, released_figures
from velado.project import Project
from velado.release.result import Release
from velado.report.shape import shape_of
from velado.service.jobs.work.shared import copy_texts
from velado.tables import Session, open_table

FIGURES, ROWS, CLASSES, SHAPE = "private.json", "rows.parquet", "classes.parquet", "shape.json"
"""Files that a run leaves beside its release."""
MOST = 5_000_000
GROUP = 10_000
"""Rows that are read at once for a page of them."""


def classes_of(release: Release) -> ClassFigures | None:
    """The classes of a release as its readers see them; None where it was made part by part, or shows none."""
    return None if release.pair is None else released_figures(public(release.pair))


def shape(release: Release) -> dict[str, Any] | None:
    """How records and values are distributed, as everybody may know it and for the owner; None where it shows no classes."""
    if release.pair is None:
        return None
    known = public(release.pair)
    levels = release.levels
    return {
        "public": shape_of(known, release.public_evaluation, levels),
        "whole": shape_of(release.pair, release.evaluation, levels, whole=True),
    }


def save_classes(figures: ClassFigures, path: Path) -> str:
    """Write classes as a Parquet file, the riskiest first; columns as `ClassFigures.header` calls them."""
    import pyarrow as pa
    import pyarrow.parquet

    found = figures.smallest_first().take(slice(0, MOST))
    columns: list[pa.Array] = [pa.array(found.labels(j), pa.string()) for j in range(len(found.columns))]
    columns.append(pa.array(found.sizes))
    if found.people is not None:
        columns.append(pa.array(found.people))
    columns.append(pa.array(found.risk))
    for named in found.sensitive.values():
        columns += [pa.array(array, mask=np.isnan(array) if array.dtype.kind == "f" else None) for array in named.values()]
    # Names may occur twice, as a quasi-identifier may be called "risk".
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    pyarrow.parquet.write_table(pa.Table.from_arrays(columns, _unique(found.header())), path, row_group_size=GROUP)
    return path.name


def _unique(names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        number, made = 1, name
        while made in found:
            number += 1
            made = f"{name} #{number}"
        found.append(made)
    return found


def prefix(project: Project) -> str:
    """What names of files about one table of several begin with."""
    output = project.output
    if output.path is not None:
        return output.path.name
    assert output.manifest is not None
    return output.manifest.name.removesuffix(".private.json")


def release_file_name(name: str, before: str) -> str:
    """The name of a file about a release, or about one table of it; manifests have names of their own."""
    return f"{before}.{name.replace('private', 'figures')}" if before else name


def copy_rows(project: Project, path: Path) -> str:
    """The released rows as texts, to page through; the name of the file."""
    with open_table(project.release_source(), project.folder, Session(scratch=path.parent)) as table:
        copy_texts(table, path, GROUP)
    return path.name
