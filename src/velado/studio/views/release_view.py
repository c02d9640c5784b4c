"""A release as the pages about it see it: which one, which table of it, for everybody or for its owner, and what was measured since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from velado.errors import VeladoError
from velado.i18n import Language
from velado.models import MODELS, Verdict, title_of
from velado.report.chapters.subject import digits_of
from velado.report.chapters.summary import achieved_in_words, required_in_words
from velado.report.charts import Chart
from velado.sentences import Sentence
from velado.service.access.redaction.rules import FEWER
from velado.service.errors import NotFound
from velado.service.jobs import operations as jobs
from velado.service.jobs.answers import JobAnswer
from velado.service.projects import operations as projects
from velado.service.projects.document import Document
from velado.service.releases import operations as releases
from velado.service.releases.schemas import DistributionsAnswer, ReleaseChoice, ReleaseEntry
from velado.service.web.problems import ProblemPart
from velado.service.web.problems import part as problem_part
from velado.studio.project_page import ProjectPage
from velado.studio.views.exposure_view import Exposed, exposed_of
from velado.studio.words import Words, glossary

WHOLE = "suppressed"
"""The part of an address that asks for the figures of the owner."""
EVALUATE = "evaluate"
USUAL = ("privacy", "aggregates", "ks", "queries")
"""What an evaluation measures that is told nothing else."""
KEPT = 50
"""Jobs among which measurements of a release are looked for."""


@dataclass(frozen=True)
class Model:
    """A privacy model as it was required and reached."""

    name: str
    title: str
    meaning: str
    column: str | None
    required: str
    achieved: str
    satisfied: bool
    exact: bool
    term: str


class Seen:
    """The release that a page is about."""

    def __init__(self, work: ProjectPage, release: ReleaseEntry) -> None:
        self.work, self.release = work, release
        self.tables = list(release.summary.get("tables") or {})
        self.table = self._table()
        self.may = work.can("release.private")
        self.whole = self.may and work.request.query_params.get(WHOLE) == "1"
        self.public = release.part(self.table)
        self.light = self.public.get("protection") == "operations"
        own = self._own() if self.whole and not self.light else {}
        self.figures: dict[str, Any] = {**self.public, **own}

    def _table(self) -> str | None:
        """The table of the release: that of the page, else the one that is asked for, else the first."""
        asked = self.work.request.query_params.get("part") or self.work.table
        if not self.tables:
            return None
        return asked if asked in self.tables else self.tables[0]

    def _own(self) -> dict[str, Any]:
        try:
            return releases.read_private(self.work.call, self.release.id, self.table, "evaluation")
        except NotFound:
            return {}

    @property
    def others(self) -> list[ReleaseChoice]:
        """All releases of the project, the newest first."""
        return releases.list_choices(self.work.call, self.work.id)

    @property
    def own_tabs(self) -> bool:
        """Whether the release has other tables than the project has now."""
        return len(self.tables) > 1 and self.tables != self.work.tables

    @property
    def has_suppression(self) -> bool:
        """Whether records were suppressed: else there is one view only."""
        return bool(self.public.get("suppressed"))

    @cached_property
    def document(self) -> Document:
        """What the project said of the table when the release was made."""
        whole = Document(projects.read_version(self.work.call, self.work.id, self.release.version).document)
        return whole.table(self.table if self.table in whole.tables else None)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """How it was made; for the owner with all of the search."""
        found = releases.read_manifest(self.work.call, self.release.id, self.table)
        if self.whole:
            try:
                own = releases.read_private(self.work.call, self.release.id, self.table, "manifest")
            except NotFound:
                return found
            found["search"] = {**found.get("search", {}), **(own.get("search") or {})}
        return found

    @cached_property
    def shape(self) -> DistributionsAnswer | None:
        """How records and values are distributed; None where it is not known, or not told yet."""
        return self._shape[0]

    @cached_property
    def shape_problem(self) -> ProblemPart | None:
        """Why that is not told, as a problem of the service; None where there is nothing to tell."""
        return self._shape[1]

    @cached_property
    def _shape(self) -> tuple[DistributionsAnswer | None, ProblemPart | None]:
        try:
            return releases.read_distributions(self.work.call, self.release.id, self.table, private=self.whole), None
        except NotFound:
            return None, None
        except VeladoError as error:
            return None, problem_of(error, self.work)

    def models(self) -> list[Model]:
        """The verdicts."""
        return [model_in_words(verdict, self.work.words) for verdict in self.figures.get("models") or ()]

    @cached_property
    def exposure(self) -> Exposed | None:
        """How far everything that is published singles people out."""
        return exposed_of(self.figures, self.work.words)

    def sizes(self, side: str) -> tuple[np.ndarray, np.ndarray]:
        """Class sizes and how many classes have each; of ``before`` or ``after``."""
        assert self.shape is not None
        found = np.array(getattr(self.shape.sizes, side), dtype=np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def each_size(self, side: str) -> np.ndarray:
        """The size of every class."""
        return np.repeat(*self.sizes(side))

    def address(self, step: str, **query: Any) -> str:
        """A page about the same release, table and view."""
        from velado.studio.request import with_query

        kept: dict[str, Any] = {"release": self.work.request.query_params.get("release")}
        kept |= {WHOLE: "1" if self.whole else None, "part": self.table if self.own_tabs else None}
        return with_query(self.work.address(step), **{**kept, **query})

    # What was measured since

    @cached_property
    def measurements(self) -> list[JobAnswer]:
        """The evaluations of this table of the release, the newest first."""
        if not self.work.can("jobs.read"):
            return []
        found = jobs.list_jobs(self.work.call, project=self.work.id, kind=EVALUATE, limit=KEPT).items
        return [job for job in found if job.release == self.release.id and _about(job).get("table") == self.table]

    def pending_jobs(self, of: Iterable[str]) -> list[JobAnswer]:
        """An evaluation of some parts that waits or runs, and those that failed, until their part is measured again."""
        wanted = set(of)
        about = [job for job in self.measurements if wanted & _parts(job)]
        failed = {job.id: job for part in of if (job := self._newest(part)) is not None and job.state == "failed"}
        return [*[job for job in about if job.state in ("queued", "running")][:1], *failed.values()]

    def has_failed(self, part: str) -> bool:
        """Whether a part could not be measured when it was last asked for."""
        newest = self._newest(part)
        return newest is not None and newest.state == "failed"

    def _newest(self, part: str) -> JobAnswer | None:
        return next((job for job in self.measurements if part in _parts(job) and job.state != "cancelled"), None)

    def newest_result(self, part: str) -> tuple[JobAnswer, Any] | None:
        """What the newest evaluation that has a part says of it, and that evaluation."""
        done = (job for job in self.measurements if job.state == "done" and part in _parts(job))
        job = next(done, None)
        if job is None or not self.work.can("results.read"):
            return None
        found = self._result(job.id).get(part)
        return None if found is None else (job, found)

    def _result(self, id: str) -> dict[str, Any]:
        kept: dict[str, dict[str, Any]] = self.__dict__.setdefault("_results", {})
        if id not in kept:
            kept[id] = jobs.read_result(self.work.call, id)
        return kept[id]

    @property
    def measurable(self) -> bool:
        """Whether who looks may have it measured."""
        return self.may and self.release.state != "withdrawn" and not self.light

    def measure(self, **parameters: Any) -> str:
        """Begin an evaluation; the id of its job."""
        wanted = {key: value for key, value in {**parameters, "table": self.table}.items() if value is not None}
        return self.work.submit(EVALUATE, release=self.release.id, parameters=wanted)


def open_release(work: ProjectPage) -> Seen | None:
    """The release that is asked for, or the newest; None if there is none."""
    found = work.release()
    return None if found is None else Seen(work, found)


def problem_of(error: VeladoError, work: ProjectPage) -> ProblemPart:
    """What was refused, to be shown in place."""
    return ProblemPart(**problem_part(error, work.words.code))


def _about(job: JobAnswer) -> Mapping[str, Any]:
    return job.parameters or {}


def _parts(job: JobAnswer) -> set[str]:
    """The parts of an evaluation that a job was asked for."""
    asked = _about(job)
    measures = asked.get("measures")
    found = set(USUAL if measures is None else measures)
    told = {
        "target": ("learning",),
        "population": ("journalist",),
        "weights": ("individual",),
        "fraction": ("individual", "uniqueness"),
    }
    for name, parts in told.items():
        if asked.get(name) is not None:
            found |= set(parts)
    return found | ({"before", "after"} if "privacy" in found else set())


def model_in_words(verdict: Mapping[str, Any], words: Words) -> Model:
    """A verdict as a page tells it."""
    name, required = str(verdict["name"]), dict(verdict["required"])
    reached, exact = verdict.get("achieved"), bool(verdict.get("exact", True))
    judged = Verdict(name, required, _numbers(reached), bool(verdict["satisfied"]), exact)
    column = required.get("column")
    model = MODELS.get(name)
    return Model(
        name,
        title_of(name).into(words.code),
        "" if model is None else words(model.declaration.meaning),
        None if column is None else str(column),
        required_in_words(judged, words.language),
        words(FEWER) if FEWER in _reached_values(reached) else achieved_in_words(judged, words.language),
        judged.satisfied,
        exact,
        name if name in glossary() else "privacy-model",
    )


def _reached_values(reached: Any) -> list[Any]:
    return list(reached.values()) if isinstance(reached, Mapping) else [reached]


def _numbers(reached: Any) -> Any:
    """What was reached, without what is only told to be small."""
    if isinstance(reached, Mapping):
        return {key: value for key, value in reached.items() if not isinstance(value, str)}
    return None if isinstance(reached, str) else reached


def parse_integer(text: str) -> int | str | None:
    """A whole number as it was typed, None if nothing was; what is no number is refused where it is used."""
    return int(text) if text.isdecimal() else text or None


def fill_width(chart: Chart) -> Chart:
    """A chart as wide as its place in the page."""
    return Chart({**chart.spec, "width": "container"}, chart.language)


def figure(number: float | str | None, language: Language, digits: int = 4) -> str:
    """A number as reports write it: large ones with fewer decimals; a text such as "fewer than 3" stays."""
    if isinstance(number, str):
        return Sentence(number).into(language.code)
    return language.number(number, digits_of(number, digits))
