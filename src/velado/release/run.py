"""Run a project: read, count, search, recode, write, verify, evaluate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from velado.methods import Lattice, Method, Progress, silent
from velado.models import PrivacyModel
from velado.project.document import Output, Project
from velado.release.light import Light
from velado.release.memory import estimate_table
from velado.release.modelled import Counted, check_described
from velado.release.parts import InParts
from velado.release.people import person_column
from velado.release.publishing import Prepared, check_paths
from velado.release.result import Release
from velado.release.several import run_tables
from velado.release.treatments import check_ready, treatments
from velado.schema import Column, Schema
from velado.tables import DuckDBTable, open_table
from velado.tables.duckdb.table import MEMORY
from velado.tables.publication.publish import published


def anonymize(
    data: Any,
    columns: Sequence[Column],
    models: Sequence[PrivacyModel],
    method: Method | None = None,
    *,
    output: str | Path | Output | None = None,
    rest: str | None = None,
    person: str | None = None,
    household: str | None = None,
    progress: Progress = silent,
) -> Release:
    """Anonymize a file or a pandas, Polars or Arrow table.

    ``person`` or ``household`` names the column whose equal values are the rows of one person or household.
    Without ``output`` the released rows are in ``release.table`` (Arrow), verified all the same.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["31", "38", "52", "57"], "ill": ["a", "b", "a", "b"]})
    >>> columns = [Column("age", "quasi-identifier", hierarchy={"intervals": [10, 100]}), Column("ill", "sensitive")]
    >>> anonymize(people, columns, [KAnonymity(2)]).levels
    {'age': 1}
    """
    written = output if isinstance(output, Output) else Output(path=None if output is None else Path(output))
    project = Project(data, tuple(columns), tuple(models), method or Lattice(), written, rest, person, household)
    return run(project, progress)


def run(project: Project | str | Path, progress: Progress = silent) -> Any:
    """Run a project or a project file; nothing is written unless the release is verified.

    Returns a `Release`; for ``anonymization: light`` a `LightRelease`; for several tables `Releases`.
    """
    if not isinstance(project, Project):
        project = Project.load(project)
    if project.tables:
        return run_tables(project, progress)
    check_paths({"": project})
    check_ready(project)
    beside = None if project.output.path is None else project.output.path.parent
    with open_table(project.source, project.folder, beside) as table:
        if project.light:
            prepared: Prepared = Light.of(project, table, progress)
        else:
            prepared = _in_parts(project, table) or _in_memory(project, table, progress)
        if project.output.path is None:
            return prepared.in_memory(progress)
        with published(prepared.paths, prepared.private) as temporary:
            return prepared.on_disk(temporary, progress)


def _in_memory(project: Project, table: DuckDBTable, progress: Progress) -> Prepared:
    counted = Counted.of(project, table, progress)
    return counted.prepared(counted.search(progress))


def _in_parts(project: Project, table: DuckDBTable) -> Prepared | None:
    """The release of a table that is too large for the memory that its method may use; if it is not, the engine gets more."""
    if project.output.path is None or "memory" not in project.method.parameters:
        return None
    schema = Schema(project.columns).fitted(table.header, project.rest, table.source.name)
    check_described(project, schema)
    person = person_column(project, table)
    expected = estimate_table(project, table, schema)
    if expected.how == "in memory":
        table.limit(max(MEMORY, (expected.memory - expected.needed) // 2))
        return None
    return InParts.of(project, table, treatments(table, schema, project.folder), schema, expected, person)
