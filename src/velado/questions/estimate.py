"""How much memory a project needs, before it runs, and how it will be solved."""

from __future__ import annotations

from pathlib import Path

from velado.project import Project
from velado.release.memory import Estimate, estimate_table
from velado.schema import Schema
from velado.tables import open_table

__all__ = ["Estimate", "estimate"]


def estimate(project: Project | str | Path) -> Estimate:
    """Estimate the run of a project without running it."""
    if not isinstance(project, Project):
        project = Project.load(project)
    project.check_modelled()
    with open_table(project.source, project.folder) as table:
        schema = Schema(project.columns).fitted(table.header, project.rest, table.source.name)
        return estimate_table(project, table, schema)
