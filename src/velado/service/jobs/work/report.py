"""The report of a release, in some formats and languages."""

from __future__ import annotations

from typing import Any

import velado
from velado.service.documents.opening import entered
from velado.service.jobs import parameters as of
from velado.service.jobs.task import Work
from velado.service.jobs.work.shared import given, one_table, released_project


def perform(work: Work) -> dict[str, Any]:
    """Write the files; the result names them."""
    wanted = given(work, of.Report)
    with entered(work) as room:
        project = one_table(released_project(room, work), wanted.table)
        files = []
        languages = list(dict.fromkeys(wanted.languages))
        for number, language in enumerate(languages):
            base = work.task.folder / f"report.{language}.html"
            written = velado.write_report(
                project, base, language=language, formats=list(dict.fromkeys(wanted.formats)), grid=wanted.grid,
                progress=work.progress.of(number, len(languages)),
            )  # fmt: skip
            files += [
                {"name": p.name, "format": p.suffix[1:], "language": language, "bytes": p.stat().st_size}
                for p in written
            ]
    return {"files": files}
