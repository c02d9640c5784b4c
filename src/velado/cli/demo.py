"""``velado demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from velado import InputError, run
from velado.cli import summary
from velado.cli.terminal import JSON, out, print_json, progress
from velado.samples.demo import write_demo


def command(
    folder: Annotated[Path, typer.Option(help="Folder for the sample and the release.")] = Path("velado-demo"),
    json: JSON = False,
) -> None:
    """Anonymize a built-in sample: 5,000 synthetic hospital patients."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        project = write_demo(folder)
    except OSError as error:
        raise InputError("unwritable-output", f"cannot write the sample: {error.strerror}", file=folder) from None
    if not json:
        out.print(
            "5,000 synthetic hospital patients: names and national ids are removed; birth date, sex, postal code,"
        )
        out.print(
            "city and marital status are generalized until every patient hides among others; the diagnosis stays."
        )
        out.print("(The first run compiles for some seconds; later ones start at once.)")
        out.print()
    with progress() as report:
        release = run(project, report)
    if json:
        print_json(release.as_dict())
        return
    summary.show(release)
    out.print(f"Project:  {project}   (edit it, then: velado run {project})")
