"""How much memory a project needs, before it runs, and how it will be solved."""

from __future__ import annotations

from velado.progress import Progress
from velado.project import AnyProject, Project
from velado.release.memory import Estimate, estimate_table
from velado.schema import Schema
from velado.tables import Session, open_table

__all__ = ["Estimate", "estimate"]


def estimate(project: AnyProject, progress: Progress | None = None) -> Estimate:
    """Estimate the run of a project without running it."""
    project = Project.of(project)
    project.check_modelled()
    follow = (progress or Progress()).through(open=1, count=3)
    with open_table(project.source, session=Session(follow("open"))) as table:
        follow("count")
        schema = Schema(project.columns).fit_header(table.header, project.rest, table.name)
        return estimate_table(project, table, schema)
