"""The way of new rows: open, count, place, judge with the earlier release, write, verify, publish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from velado.errors import InputError, short_repr
from velado.methods.suppression import SUPPRESSION, Suppression
from velado.progress import Progress
from velado.project import AnyProject, Output, Project, output_of
from velado.project.people import person_column
from velado.project.rules import check_ready
from velado.project.saved import project_in
from velado.recoding import Recoding
from velado.release.column_exposure import group_size, passing
from velado.release.extend_recoding import extend_recoding
from velado.release.fit import fit
from velado.release.incremental_judge import (
    Arriving,
    Together,
    check_applicable,
    count_arriving,
    count_earlier,
    judge_together,
    refuse_unseen,
)
from velado.release.incremental_result import Arrived, Measures, make_result
from velado.release.joint_exposure_of_new_rows import expose_together
from velado.release.manifest import Made, applied_manifests
from velado.release.plan import Planned
from velado.release.read_back import contents_of
from velado.release.refusal import refuse
from velado.release.treatments import treated_plan, treatments
from velado.release.verify import Expected, Verified, verify_written
from velado.release.write import write
from velado.sentences import Sentence
from velado.tables import Session, Sink, Slot, Source, Stage, Table, check_sinks, open_stage, open_table
from velado.tables.source import is_spark

UNSEEN = ("refuse", "suppress", "place")
"""What becomes of new rows with values that the recoding does not know."""


def apply(
    recoding: Recoding | str | Path,
    data: Any,
    *,
    release: Any = None,
    project: AnyProject | None = None,
    output: str | Path | Mapping[str, Any] | Output | None = None,
    suppression: Suppression | None = None,
    unseen: str = "refuse",
    alone: bool = False,
    progress: Progress | None = None,
) -> Arrived:
    """Recode new rows as an earlier release was, and check the models on old and new rows together.

    ``recoding``: the file that ``output: {recoding: FILE}`` saved, or the object. ``release``: what was published before, or
    a list of such tables; the project's output if not given. ``project``: roles, operations and models; a saved recoding
    knows its own. New rows in classes that would break a model are suppressed, at most ``suppression`` of them (default: as
    the method of the project, 0 if it says nothing). ``unseen``: refuse or suppress rows with values that the recoding does
    not know, or place them by the hierarchies of the project, where these say of every value where it belongs. ``alone``: the new rows by themselves must satisfy the models, too. ``output``: as for `velado.anonymize`.

    >>> import pyarrow as pa
    >>> from velado import KAnonymity, Project, Column, run
    >>> people = pa.table({"age": ["31", "38", "52", "57"], "ill": ["a", "b", "a", "b"]})
    >>> age = Column("age", "quasi-identifier", hierarchy={"intervals": [10]})
    >>> project = Project(people, (age, Column("ill", "sensitive")), (KAnonymity(2),))
    >>> release = run(project)
    >>> new = pa.table({"age": ["38"], "ill": ["c"]})
    >>> arrived = apply(release.recoding, new, release=release.table, project=project)
    >>> arrived.table.to_pylist(), arrived.classes, arrived.models[0].achieved
    ([{'age': '30-39', 'ill': 'c'}], 2, 2)
    """
    _check(unseen, suppression)
    file = None if isinstance(recoding, Recoding) else recoding
    recoding = recoding if isinstance(recoding, Recoding) else Recoding.load(recoding)
    described = _project(recoding, data, project)
    check_applicable(described, recoding)
    # New rows in a DataFrame of Spark stay there.
    target = _target({"spark": "session"} if output is None and is_spark(data) else output)
    earlier, guard = _releases(release, described), described.output.guard
    described = replace(described, source=Source.of(data), output=target)
    _check_places(described, target.sink(), earlier, file)
    limit = getattr(described.method, "suppression", 0.0) if suppression is None else suppression
    follow = (progress or Progress()).through(open=1, fit=1, count=4, write=4, verify=3, publish=1)
    session = Session(follow("open"), scratch=target.scratch, sinks=(target.sink(),))
    with open_table(described.source, session=session) as table, _open_releases(earlier, table, session) as before:
        check_sinks(session.sinks, session)
        fitted = fit(described, table, follow("fit"))
        person_column(described, table)
        counting = follow("count")
        treated = treatments(table, fitted.schema, described.folder)
        placing = extend_recoding(recoding, fitted) if unseen == "place" else recoding
        arriving = count_arriving(fitted, placing)
        if unseen != "suppress":
            refuse_unseen(arriving, placing, table.name)
        counting.at(0.5)
        counted = [count_earlier(one, fitted, placing, guard) for one in before]
        together = judge_together(fitted, placing, arriving, counted, limit, alone)
        planned = _plan(Planned(fitted, treated, treated_plan(()), arriving.rows), placing, arriving, together)
        with open_stage([planned.sink], session) as stage:
            (slot,) = stage.slots
            write(planned, slot, follow("write"))
            verified = _verify(planned, arriving, together, stage, slot, follow("verify"))
            verified = _look(planned, verified, before, stage, slot)
            for one in before:
                one.check_unchanged()
            made = Made.of(planned, slot, follow("publish"))
            measures = Measures.of(planned, arriving, together, verified)
            manifests = applied_manifests(made, recoding, measures.public_figures(), [(t.source, t.fingerprint()) for t in before])
            (published,) = stage.publish([manifests.evidence()])
            return make_result(planned, verified, measures, manifests, published)


def _check(unseen: str, suppression: Suppression | None) -> None:
    if unseen not in UNSEEN:
        raise InputError(
            "bad-option", Sentence("'unseen' must be refuse, suppress or place, got {given}", given=short_repr(unseen))
        )
    problem = None if suppression is None else SUPPRESSION.problem(suppression)
    if problem is not None:
        raise InputError(
            "bad-option", Sentence("'suppression' {problem}, got {given}", problem=problem, given=short_repr(suppression))
        )


def _project(recoding: Recoding, data: Any, project: AnyProject | None) -> Project:
    """What the release was made by: as it is given, or as it was saved with the recoding."""
    if project is not None:
        return Project.of(project)
    if recoding.project is None:
        raise InputError(
            "no-project",
            "the recoding does not hold its project, so roles and models are not known",
            hint="Give the project of the release: --project PROJECT.yaml.",
        )
    return project_in(recoding.project, Source.of(data))


def _target(output: str | Path | Mapping[str, Any] | Output | None) -> Output:
    target = output_of(output)
    if target.recoding is not None:
        raise InputError(
            "bad-output", "output: 'recoding' is for runs; new rows take the recoding that is there", hint="Leave it out."
        )
    return target


def _releases(release: Any, project: Project) -> list[Source]:
    if release is None:
        return [project.release_source()]
    several = release if isinstance(release, (list, tuple)) else [release]
    if not several:
        raise InputError("no-release", "name the earlier release: old and new rows are judged together")
    return [Source.of(one) for one in several]


def _check_places(project: Project, sink: Sink, earlier: Sequence[Source], recoding: str | Path | None) -> None:
    """Nothing that is written may replace what is read."""
    check_ready({"": project})
    read = [*earlier, *([] if recoding is None else [Source(path=Path(recoding), format="csv")])]
    for source in read:
        if any(one.replaces(source) for one in (sink, *(Sink(path=path) for path in sink.files.values()))):
            raise InputError(
                "output-is-input",
                "the output would replace the earlier release, or the recoding",
                file=source.name,
                hint="Choose another path.",
            )


@contextmanager
def _open_releases(earlier: Sequence[Source], table: Table, session: Session) -> Iterator[list[Table]]:
    """The earlier releases; formats that do not tell types are read as the new rows are."""
    with ExitStack() as stack:
        yield [stack.enter_context(open_table(replace(source, fields=table.columns), session=session)) for source in earlier]


def _plan(planned: Planned, recoding: Recoding, arriving: Arriving, together: Together) -> Planned:
    """What an engine does to the new rows: the recoding with the classes that are kept, and the operations."""
    chosen = recoding.releasing(together.classes)
    typed = [c.name for c in chosen.columns if c.of_type(planned.table.field(c.name))]
    star = planned.project.output.suppressed == "asterisks" and together.released_records < arriving.rows
    # Rows that were not placed may show other values of sensitive columns.
    sensitive = () if arriving.unplaced else together.whole.sensitive
    plan = replace(chosen.plan("asterisks" if star else "drop", sensitive, typed), starred=(), dropped=())
    return replace(planned, plan=treated_plan(planned.treatments, plan), recoding=chosen)


def _verify(planned: Planned, arriving: Arriving, together: Together, stage: Stage, slot: Slot, progress: Progress) -> Verified:
    """Read the new rows back and judge them together with the earlier release, or raise `VerificationError`."""
    suppressed = arriving.rows - together.released_records
    expected = Expected(
        header=planned.header,
        treatments=planned.treatments,
        original=together.whole,
        models=planned.project.models,
        released=together.public.records,
        starred=suppressed if planned.plan.selection.star else 0,
        guarded=slot.sink.is_guarded,
        contents=contents_of(together.public),
        beside=together.earlier,
        complete=not suppressed,
    )
    return verify_written(stage, slot, expected, planned.table.memory, progress)


def _look(planned: Planned, verified: Verified, before: Sequence[Table], stage: Stage, slot: Slot) -> Verified:
    """The other published columns of all that is public then; identifiers in disguise are refused."""
    columns = [c for c in passing(planned.fitted.schema) if c.name in planned.header]
    assert planned.recoding is not None
    quasi = [c.name for c in planned.recoding.columns]
    with stage.read_back(slot, planned.table.memory) as written:
        k, allowance = group_size(planned.project.models), planned.project.allowance
        exposures, joint = expose_together([*before, written], quasi, columns, k, allowance)
    refuse(exposures, joint, planned.table.name)
    return replace(verified, exposures=exposures, joint=joint)
