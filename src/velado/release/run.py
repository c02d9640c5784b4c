"""The way of a run: open, fit, count, search, plan, write, verify, measure, publish."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from velado.progress import Progress
from velado.project import AnyProject, Output, Project, output_of
from velado.project.arguments import AnyMethod, Columns, Models, columns_of, method_of, models_of
from velado.project.rules import check_ready
from velado.release.column_exposure import check_published
from velado.release.count import count
from velado.release.fit import Fitted, fit
from velado.release.manifest import Made, light_manifests, manifests_of
from velado.release.measure import measure
from velado.release.memory import too_large
from velado.release.parts import run_in_parts
from velado.release.plan import plan_models, plan_operations
from velado.release.result import LightRelease, Release, Releases, light_release, release_of
from velado.release.run_tables import run_tables
from velado.release.search import search
from velado.release.verify import verify
from velado.release.write import write
from velado.tables import Session, check_sinks, open_stage, open_table
from velado.tables.source import is_spark


def anonymize(
    data: Any,
    columns: Columns,
    models: Models,
    method: AnyMethod | None = None,
    *,
    output: str | Path | Mapping[str, Any] | Output | None = None,
    rest: str | None = None,
    person: str | None = None,
    household: str | None = None,
    allowance: float = 0.0,
    progress: Progress | None = None,
) -> Release:
    """Anonymize a file, a table of a database, or a pandas, Polars, Arrow or Spark table.

    ``columns``: a mapping of names to roles, or to options as in a project file; or a list of `Column`s. ``models`` and
    ``method``: objects, or mappings as in a project file; a method also by its name. ``person`` or ``household`` names the
    column whose equal values are the rows of one person or household. ``allowance``: the share of the people who may be in
    groups smaller than k by all published columns that others know or could know.
    ``output``: a path, an address with a table (``postgresql://user@host/db#people_anonymous``), or a mapping as in a project
    file. Without it the released rows are in ``release.table``, of the kind that came in, verified all the same.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["31", "38", "52", "57"], "ill": ["a", "b", "a", "b"]})
    >>> age = {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 100]}}
    >>> anonymize(people, {"age": age, "ill": "sensitive"}, {"k-anonymity": {"k": 2}}).levels
    {'age': 1}
    """
    place = {"spark": "session"} if output is None and is_spark(data) else output
    project = Project(
        data, columns_of(columns), models_of(models), method_of(method), output_of(place), rest, person, household, allowance
    )
    release = run(project, progress)
    assert isinstance(release, Release)
    return release


def run(project: AnyProject, progress: Progress | None = None) -> Release | LightRelease | Releases:
    """Run a project, a project file or the mapping of one; nothing is written unless the release is verified.

    Returns a `Release`; for ``protection: operations`` a `LightRelease`; for several tables `Releases`.
    """
    project = Project.of(project)
    progress = progress or Progress()
    check_ready(project.tables or {"": project})
    if project.tables:
        return run_tables(project, progress)
    follow = progress.through(open=1, fit=1, count=3, search=10, write=4, verify=3, measure=2, publish=1)
    session = Session(follow("open"), scratch=project.output.scratch, sinks=(project.output.sink(),))
    with open_table(project.source, session=session) as table:
        check_sinks(session.sinks, session)
        fitted = fit(project, table, follow("fit"))
        if project.light:
            return _run_light(fitted, session, progress)
        if expected := too_large(fitted):
            return run_in_parts(fitted, expected, session, progress)
        counted = count(fitted, follow("count"))
        found = search(counted, follow("search"))
        planned = plan_models(counted, found)
        with open_stage([planned.sink], session) as stage:
            (slot,) = stage.slots
            write(planned, slot, follow("write"))
            verified = verify(planned, stage, slot, follow("verify"))
            verified = check_published(planned, verified)
            measured = measure(planned, verified, follow("measure"))
            made = Made.of(planned, slot, follow("publish"))
            manifests = manifests_of(made, found.search, planned.recoding, measured)
            (published,) = stage.publish([manifests.evidence(planned.saved_recoding)])
            return release_of(planned, verified, measured, manifests, published)


def _run_light(fitted: Fitted, session: Session, progress: Progress) -> LightRelease:
    """Only the operations of the columns, and no model."""
    follow = progress.through(fit=1, treat=4, write=3, verify=3, publish=1)
    follow("treat")
    planned = plan_operations(fitted)
    with open_stage([planned.sink], session) as stage:
        (slot,) = stage.slots
        write(planned, slot, follow("write"))
        verified = verify(planned, stage, slot, follow("verify"))
        manifests = light_manifests(Made.of(planned, slot, follow("publish")))
        (published,) = stage.publish([manifests.evidence()])
        return light_release(planned, verified, manifests, published)
