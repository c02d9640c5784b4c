"""Write the report of a release: HTML, PDF and XLSX from one content."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from velado.errors import InputError, suggest
from velado.evaluation import MEASURES, Comparison, Evaluation, Pair, Wanted, judge, public, public_verdicts, released_figures
from velado.evaluation import evaluate as evaluate_pair
from velado.evaluation.exposure import Exposure
from velado.evaluation.joint_exposure import JointExposure
from velado.i18n import Language
from velado.i18n import language as language_of
from velado.progress import Progress
from velado.project import AnyProject, Project
from velado.project.people import person_column
from velado.questions.compare import compare
from velado.questions.evaluate import read_exposures, read_pair
from velado.release.manifest import made_from, manifest_of, read_manifest, starred_rows
from velado.report.chapters import costs
from velado.report.chapters import release as sections
from velado.report.chapters.content import ClassList, Content
from velado.report.chapters.fuzzy import fuzzy
from velado.report.chapters.subject import About, Subject, clean
from velado.report.chapters.summary import verdict
from velado.report.charts.drawing import Drawn, Studio
from velado.report.formats import xlsx as workbook
from velado.report.formats.html import html
from velado.report.formats.pdf import pdf
from velado.schema import Schema
from velado.sentences import Sentence
from velado.tables import Session, Source, open_table
from velado.tables.files import digest_of
from velado.tables.publication.publish import publish_files

FORMATS = ("html", "pdf", "xlsx")
MOST_CLASSES = 1_000_000
"""A sheet has 1,048,576 rows."""
BREATH = 0.1
"""Seconds between two looks at charts that are being drawn."""


def write_report(
    project: AnyProject,
    output: str | Path | None = None,
    *,
    language: str | Language = "en",
    formats: Collection[str] = FORMATS,
    grid: Mapping[str, Sequence[Any]] | None = None,
    attacks: Sequence[Any] = (),
    progress: Progress | None = None,
) -> list[Path]:
    """Write the report of a project's release, which must be there and unchanged; the files written.

    ``output`` is a folder, or a file whose name the other formats take over; beside the release if None,
    or, if that is a table, in the folder of the project. ``grid`` asks
    for a comparison with other settings, as in `compare`. The release is read back and measured anew. No value of the
    original that belongs to a small group is in a report.
    """
    words = language_of(language)
    project = Project.of(project)
    project.check_modelled()
    manifest, private, release = manifests_of(project)
    folder = project.folder if release.path is None or release.table is not None else release.path.parent
    paths = report_paths(Path(output) if output is not None else folder, release.stem, formats)
    _check_paths(project, paths)
    compared = {} if grid is None else {"compare": 6.0}
    begin = (progress or Progress()).through(read=3.0, **compared, measure=4.0, report=3.0)
    reading = begin("read")
    with Studio(pdf="pdf" in formats) as studio:
        whole, about, (exposures, joint) = _read(project, manifest, private, release, reading)
        reading.at(0.9)
        pair = public(whole)
        comparison = None if grid is None else compare(project, grid, measures=(), progress=begin("compare"))
        measuring = begin("measure")
        verdicts = public_verdicts(project.models, judge(whole, project.models), whole.suppressed_records)
        # What the charts show is measured at once; they are drawn while the rest is being measured.
        first = evaluate_pair(pair, project.models, verdicts, Wanted(("privacy",)), measuring.part(0.1, 0.3))
        first = replace(first, published=exposures, exposure=joint.public())
        draft = content_of(Subject(pair, first, about, words, comparison, attacks))
        studio.draw(p.chart for p in draft.pictures)
        evaluation = evaluate_pair(pair, project.models, verdicts, Wanted(MEASURES), measuring.part(0.4, 1.0))
        evaluation = replace(evaluation, published=exposures, exposure=joint.public())
        render(paths, pair, evaluation, about, words, studio, comparison, attacks, begin("report"))
    return paths


def render(
    paths: Sequence[Path],
    pair: Pair,
    evaluation: Evaluation,
    about: About,
    language: str | Language = "en",
    studio: Studio | None = None,
    comparison: Comparison | None = None,
    attacks: Sequence[Any] = (),
    progress: Progress | None = None,
) -> None:
    """Write the report of any pair of tables, in the formats that the suffixes say; all files or none.

    Counts of the original are those of the released people; the ``evaluation`` should be one of the `public` pair, too.
    """
    progress = progress or Progress()
    pair = public(pair)
    subject = Subject(pair, evaluation, about, language_of(language), comparison, attacks)
    content = content_of(subject)
    studio = studio or Studio(pdf=any(p.suffix == ".pdf" for p in paths))
    wanted = {path.suffix.lower(): i for i, path in enumerate(paths)}
    with studio, publish_files(paths) as temporary:
        drawing = studio.draw([p.chart for p in content.pictures]) if wanted.keys() - {".xlsx"} else []
        if ".xlsx" in wanted:
            workbook.report(temporary[wanted[".xlsx"]], content)
        drawn = _collect_drawings(drawing, progress.part(0.3, 0.6, "draw"))
        if ".html" in wanted:
            progress.at(0.6)
            temporary[wanted[".html"]].write_text(html(content, drawn), encoding="utf-8")
        if ".pdf" in wanted:
            progress.at(0.7)
            place = temporary[wanted[".pdf"]]
            place.write_bytes(pdf(content, drawn, place.parent))
        # From here on it is published: there is nothing left to cancel.
        progress.at(1.0)


def _collect_drawings(drawing: Sequence[Future[Drawn]], progress: Progress) -> list[Drawn]:
    for number, future in enumerate(drawing):
        progress.at(number, len(drawing))
        while wait([future], BREATH).not_done:
            progress.check()
    return [future.result() for future in drawing]


def content_of(subject: Subject) -> Content:
    """All that the report says."""
    about, words = subject.about, subject.words
    chapters = (
        sections.published_columns(subject),
        sections.release(subject),
        sections.classes(subject),
        sections.privacy(subject) if subject.evaluation.after else None,
        fuzzy(subject),
        sections.risk(subject),
        costs.utility(subject),
        costs.answers(subject),
        costs.trade_off(subject),
        sections.attacks(subject),
        sections.method(subject),
        sections.glossary(subject),
    )
    return Content(
        language=words,
        name=clean(about.name),
        subtitle="" if about.day is None else words.say("Release of {date}", date=words.date(about.day)),
        verdict=verdict(subject),
        sections=tuple(c for c in chapters if c is not None),
        classes=_classes(subject),
        footer=words.say(
            "Made by Velado {version}. No value of the original that belongs to a small group is shown: values are those of the release. Where records were suppressed, “before” is about the released records alone, so that nothing is told of the others.",
            version=version("velado"),
        ),
        created="" if about.manifest is None else str(about.part("created")),
    )


def _classes(subject: Subject) -> ClassList:
    """The classes with their figures; small classes show their sizes only, unless the models allow them."""
    figures = released_figures(subject.pair)
    largest = figures.take(np.argsort(-figures.sizes, kind="stable")[:MOST_CLASSES])
    small = largest.sizes < subject.limits.listed
    hidden = subject.words.say("not shown (small group)")
    shown = replace(
        largest,
        columns=tuple(clean(c) for c in largest.columns),
        texts=tuple((*(subject.label(x) for x in texts), hidden) for texts in largest.texts),
        codes=np.where(small[:, None], [len(texts) for texts in largest.texts], largest.codes),
        sensitive={
            clean(c): {name: np.where(small, np.nan, array) for name, array in found.items()}
            for c, found in largest.sensitive.items()
        },
    )
    return ClassList(shown, len(figures))


def report_paths(output: Path, stem: str, formats: Collection[str]) -> list[Path]:
    """The files to write: in a folder, or beside the file that was named; a folder that does not exist is made."""
    if not formats:
        raise InputError(
            "unknown-report-format", "say at least one format", hint=Sentence("Choose among: {names}", names=list(FORMATS))
        )
    for name in formats:
        if name not in FORMATS:
            raise InputError(
                "unknown-report-format", Sentence("there is no report format '{name}'", name=name), hint=suggest(name, FORMATS)
            )
    if output.suffix.lower().removeprefix(".") in FORMATS and not output.is_dir():
        base = output.with_suffix("")
        if not base.parent.is_dir():
            raise InputError("unwritable-output", "the output folder does not exist", file=base.parent)
    else:
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                "unwritable-output", Sentence("cannot create the folder: {why}", why=error.strerror), file=output
            ) from None
        base = output / f"{stem}_report"
    return [base.with_name(f"{base.name}.{name}") for name in FORMATS if name in formats]


def _check_paths(project: Project, paths: Sequence[Path]) -> None:
    """A report replaces none of the files that it is made from."""
    release, source = project.output.path, project.source.path
    beside = tuple(project.output.sink().files.values())
    read = {p.resolve() for p in (release, *beside, source, project.file, project.output.recoding) if p is not None}
    for path in paths:
        if path.resolve() in read:
            raise InputError(
                "output-is-input", "the report would replace a file of the project", file=path, hint="Choose another path."
            )


def manifests_of(project: Project) -> tuple[dict[str, Any], dict[str, Any] | None, Source]:
    """Both manifests of a project's release, and the release; an error if one is not there or does not fit.

    The private one of a table is only there if the project names a file for it; of a file elsewhere there is none.
    """
    release, sink = project.release_source(), project.output.sink()
    where = project.file or release.name
    private: dict[str, Any] | None
    if sink.table is None and sink.url is None:
        path = release.check_file()
        manifest, private = manifest_of(project), read_manifest(sink.private_manifest)
        digest = digest_of(path)
        if any(digest != m["output"].get("sha256") for m in (manifest, private)):
            raise _stale(Sentence("the release is not the one that the manifest describes"), path)
    else:
        manifest = manifest_of(project)
        private = None if sink.private_manifest is None else read_manifest(sink.private_manifest)
        if manifest.get("models") != json.loads(json.dumps([{m.name: m.requirements()} for m in project.models])):
            raise _stale(Sentence("the project has changed since the release was made"), where)
    if private is not None and not made_from(private, "project", project.digest()):
        raise _stale(Sentence("the project has changed since the release was made"), where)
    return manifest, private, release


def _read(
    project: Project,
    manifest: Mapping[str, Any],
    private: Mapping[str, Any] | None,
    release: Source,
    progress: Progress | None = None,
) -> tuple[Pair, About, tuple[tuple[Exposure, ...], JointExposure]]:
    session = Session(progress or Progress())
    with open_table(project.source, session=session) as table:
        # A database has no digest: that release and original fit each other shows itself when they are compared.
        digest = None if table.source.database is not None or table.source.table is not None else table.fingerprint()
        if digest is not None and private is not None and not made_from(private, "input", digest):
            raise _stale(Sentence("the input has changed since the release was made"), table.name)
        schema = Schema(project.columns).fit_header(table.header, project.rest, table.name)
        judged = Schema(c for c in project.columns if c.role in ("quasi-identifier", "sensitive"))
        person = person_column(project, table)
        pair = read_pair(
            table,
            project.release_source(table),
            judged,
            project.models,
            project.folder,
            project.method,
            person,
            session,
            starred_rows(project),
        )
        exposures = read_exposures(
            table, project.release_source(table), schema, project.models, pair, person, project.folder, session
        )
    about = About(project.name, manifest["input"]["name"], release.short_name, tuple(schema.values()), manifest)
    return pair, about, exposures


def _stale(message: str, file: Path | str) -> InputError:
    return InputError("stale-release", message, file=file, hint="Run the project again: velado run.")
