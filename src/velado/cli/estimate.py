"""``velado estimate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from velado import estimate
from velado.cli.language import translate_plain
from velado.cli.terminal import JSON, figure, print_json, progress, table
from velado.sentences import Sentence


def command(project: Annotated[Path, typer.Argument(help="Project file (YAML or JSON).")], json: JSON = False) -> None:
    """Say beforehand how many distinct rows a project has, what memory they need, and how it will be solved."""
    with progress() as report:
        result = estimate(project, report)
    if json:
        print_json(result.as_dict())
        return
    lines = [
        (Sentence("records"), figure(result.rows)),
        (Sentence("distinct quasi-identifier rows, about"), figure(result.distinct)),
        (Sentence("memory that they need, about"), _size(result.needed)),
        (Sentence("memory that may be used"), _size(result.memory)),
        (Sentence("method"), translate_plain("{method}, {how}", method=result.method, how=Sentence(result.how))),
    ]
    if result.thesis_levels is not None:
        levels = translate_plain("{levels:.2f}", levels=result.thesis_levels)
        lines.append((Sentence("formula (6) of the Anonylitics thesis: levels"), levels))
    if result.thesis_size is not None:
        lines.append((Sentence("formula (7): size of the data times levels"), _size(result.thesis_size)))
    table("Estimate", lines)


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return translate_plain("{size:,.1f} {unit}", size=count / size, unit=unit)
    return translate_plain("{n} bytes", n=count)
