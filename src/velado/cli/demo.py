"""``velado demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from velado import Release, run
from velado.cli import kernel_warmup, summary
from velado.cli.language import current
from velado.cli.terminal import JSON, print_json, progress, say
from velado.errors import unwritable
from velado.samples.demo import write_demo


def command(
    folder: Annotated[Path, typer.Option(help="Folder for the sample and the release.")] = Path("velado-demo"), json: JSON = False
) -> None:
    """Anonymize a built-in sample: 5,000 synthetic hospital patients."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        project = write_demo(folder, language=current().code)
    except OSError as error:
        raise unwritable(error, folder) from None
    if not json:
        say("5,000 synthetic hospital patients: names and national ids are removed; birth date, sex, postal code,")
        say("city and marital status are generalized until every patient hides among others; the diagnosis stays.")
        say()
    kernel_warmup.begin("lattice")
    with progress() as report:
        release = run(project, report)
    assert isinstance(release, Release)
    if json:
        print_json(release.as_dict())
        return
    summary.show(release)
    say("Project:  {file}   (edit it, then: velado run {file})", file=project)
