"""An explored lattice as files: the nodes as CSV or JSON, and drawn."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from velado.errors import InputError, unwritable
from velado.i18n import language as language_of
from velado.progress import Progress
from velado.questions.exploration import AT_ONCE, Exploration
from velado.report.charts.drawing import SUFFIXES
from velado.report.charts.lattice import lattice
from velado.results import encode
from velado.sentences import Sentence
from velado.tables.formats.formulas import guard_formulas
from velado.tables.publication.publish import publish_files


def save_lattice(found: Exploration, output: str | Path, *, language: str = "en", progress: Progress | None = None) -> Path:
    """Draw the lattice (SVG, PNG or PDF, by the suffix): up to 200 nodes with their names, more as a map."""
    drawing = (progress or Progress()).part(0.0, 1.0, "draw")
    output = Path(output)
    if output.suffix.lower() not in SUFFIXES:
        raise InputError("unknown-format", Sentence("a chart is written as {formats}", formats=list(SUFFIXES)), file=output)
    with publish_files([output]) as (place,):
        drawing.at(0.0)
        lattice(found, language_of(language)).save(place)
        drawing.at(1.0)
    return output


def save_nodes(found: Exploration, output: str | Path, nodes: np.ndarray | None = None) -> Path:
    """Write nodes (their numbers, as `Exploration.chosen` gives them; all if none are given) as CSV, piece by piece."""
    output = Path(output)
    chosen = found.node_numbers() if nodes is None else nodes
    try:
        with publish_files([output]) as (place,), open(place, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(guard_formulas(found.header()))
            writer.writerows(found.lines(chosen))
    except OSError as error:
        raise unwritable(error, output) from None
    return output


def write_json(found: Exploration, stream: TextIO, nodes: np.ndarray | None = None) -> None:
    """Write the JSON of an exploration, or of some of its nodes, piece by piece, one node to a line."""
    for text in _json(found, found.node_numbers() if nodes is None else nodes):
        stream.write(text)


def _json(found: Exploration, nodes: np.ndarray) -> Iterator[str]:
    head = json.dumps(found.head(), ensure_ascii=False, indent=2, allow_nan=False)
    yield head.removesuffix("\n}") + ',\n  "nodes": ['
    for first in range(0, len(nodes), AT_ONCE):
        lines = (
            json.dumps(encode(node), ensure_ascii=False, allow_nan=False)
            for node in found.iter_nodes(nodes[first : first + AT_ONCE])
        )
        yield (",\n    " if first else "\n    ") + ",\n    ".join(lines)
    yield "\n  ]\n}\n"
