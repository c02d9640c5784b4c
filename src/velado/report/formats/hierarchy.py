"""A hierarchy drawn to a file."""

from __future__ import annotations

from pathlib import Path

from velado.errors import InputError
from velado.hierarchies import Hierarchy
from velado.i18n import language as language_of
from velado.report.charts.drawing import SUFFIXES
from velado.report.charts.tree import tree
from velado.sentences import Sentence
from velado.tables.publication.publish import publish_files


def save_hierarchy_chart(hierarchy: Hierarchy, output: str | Path, *, language: str = "en") -> Path:
    """Draw a hierarchy as a tree (SVG, PNG or PDF, by the suffix); up to about 100 values in full, more are cut and counted."""
    output = Path(output)
    if output.suffix.lower() not in SUFFIXES:
        raise InputError("unknown-format", Sentence("a chart is written as {suffixes}", suffixes=list(SUFFIXES)), file=output)
    with publish_files([output]) as (place,):
        tree(hierarchy, language_of(language)).save(place)
    return output
