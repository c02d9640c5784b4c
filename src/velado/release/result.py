"""Verified releases: their outputs, recodings, evaluations and manifests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from velado.errors import Note
from velado.evaluation import Evaluation, Pair
from velado.methods import Found, Search
from velado.recoding import Recoding
from velado.release.column_exposure import model_notes
from velado.release.documents import LightDocument, ReleaseDocument
from velado.release.joins import Joined
from velado.release.manifest import Manifests
from velado.release.measure import Measured
from velado.release.plan import Planned
from velado.release.refusal import published_notes
from velado.release.treatments import describe_operations
from velado.release.verify import Verified, variants_notes
from velado.results import Result, parts
from velado.sentences import Sentence
from velado.tables import Published, in_kind_of


@dataclass(frozen=True, kw_only=True, repr=False)
class Evidenced(Result):
    """Where a release is, and what proves it. ``private_manifest`` stays with the owner."""

    manifest: dict[str, Any] = field(default_factory=dict)
    output: Path | str | None = None
    manifest_path: Path | str | None = None
    table: Any = None
    notes: tuple[Note, ...] = ()
    private_manifest: dict[str, Any] = field(default_factory=dict)
    private_path: Path | None = None


@dataclass(frozen=True, repr=False)
class Release(Evidenced):
    """What a run returns. ``table`` holds the released rows where no output path was given, in the kind in which the
    original came in: pandas, Polars, else Arrow.

    ``evaluation`` is measured against the whole input and stays with the owner, as ``private_manifest`` does;
    ``public_evaluation`` is what everybody may know: it depends on suppressed records by their number only. ``levels`` are
    those of the quasi-identifiers of a full-domain recoding; ``minimal`` lists all minimal ones where they were asked for.
    ``pair`` is the original beside what became of it, as it was verified.

    A release that was made part by part keeps neither its recoding nor its classes. One that was read from JSON
    (`from_dict`) holds what everybody may know: it has no recoding, classes, table or manifests, and both evaluations are the
    public one.
    """

    SCHEMA: ClassVar[str] = "velado-release-1"
    DOCUMENT: ClassVar[Any] = ReleaseDocument
    project: str
    recoding: Recoding | None
    evaluation: Evaluation
    public_evaluation: Evaluation
    search: Search
    found: Found | None
    levels: dict[str, int] = field(default_factory=dict)
    minimal: tuple[tuple[int, ...], ...] = ()
    pair: Pair | None = field(default=None, compare=False)

    def document(self) -> ReleaseDocument:
        """The JSON of ``velado run``: what everybody may know."""
        public = self.public_evaluation
        # How much work it was depends on everybody.
        search = replace(self.search, evaluated=None) if public.suppressed else self.search
        return ReleaseDocument(
            **(parts(public) | {"published": public.published or ()}),
            project=self.project,
            levels=self.levels,
            search=search,
            output=self.output,
            manifest=self.manifest_path,
            notes=self.notes,
            minimal=self.minimal,
        )

    @classmethod
    def from_document(cls, document: ReleaseDocument) -> Release:
        """What everybody may know of a release."""
        public = Evaluation(**parts(document, Evaluation))
        return cls(
            document.project, None, public, public, document.search, None, document.levels, document.minimal, **document.where()
        )

    def summary(self) -> dict[str, Any]:
        """The main figures that everybody may know."""
        levels = {"levels": self.levels} if self.levels else {}
        return {"project": self.project, **self.public_evaluation.summary(), **levels, "notes": len(self.notes)}


@dataclass(frozen=True, repr=False)
class LightRelease(Evidenced):
    """What a run of ``protection: operations`` returns: operations were applied, no privacy model was checked.

    ``operations`` are those of the treated columns, ``unchanged`` the columns that were published as they are. One that was
    read from JSON (`from_dict`) has no table and no manifests.
    """

    SCHEMA: ClassVar[str] = "velado-light-release-1"
    DOCUMENT: ClassVar[Any] = LightDocument
    project: str
    rows: int
    operations: dict[str, Any]
    unchanged: tuple[str, ...]

    def document(self) -> LightDocument:
        """The JSON of ``velado run``."""
        return LightDocument(
            project=self.project,
            rows=self.rows,
            released=self.rows,
            operations=self.operations,
            unchanged=self.unchanged,
            output=self.output,
            manifest=self.manifest_path,
            notes=self.notes,
        )

    @classmethod
    def from_document(cls, document: LightDocument) -> LightRelease:
        """What everybody may know of a light release."""
        return cls(document.project, document.rows, document.operations, document.unchanged, **document.where())

    def summary(self) -> dict[str, Any]:
        """How many records, and what became of the columns."""
        changed = {"treated": tuple(self.operations), "unchanged": self.unchanged}
        return {"project": self.project, "rows": self.rows, **changed, "models": "none checked"}


@dataclass(frozen=True, repr=False)
class Releases(Result):
    """What a run of several tables returns: a release per table, and how its joinable attributes match."""

    SCHEMA: ClassVar[str] = "velado-releases-1"
    project: str
    tables: dict[str, Release | LightRelease]
    joined: tuple[Joined, ...] = ()

    def __getitem__(self, name: str) -> Release | LightRelease:
        return self.tables[name]

    def summary(self) -> dict[str, Any]:
        """The tables with the records that each has now."""
        rows = {name: r.rows if isinstance(r, LightRelease) else r.public_evaluation.released for name, r in self.tables.items()}
        return {"project": self.project, **{f"released of {name}": n for name, n in rows.items()}}


def release_of(planned: Planned, verified: Verified, measured: Measured, manifests: Manifests, published: Published) -> Release:
    """The result of a run that is published."""
    assert planned.found is not None
    return Release(
        planned.project.name,
        planned.recoding,
        measured.whole,
        measured.public,
        planned.found.search,
        found=planned.found,
        pair=verified.pair,
        levels={} if planned.recoding is None else planned.recoding.levels,
        minimal=planned.found.minimal,
        notes=notes_of(planned, verified),
        **where_published(planned, manifests, published),
    )


def release_in_parts(
    planned: Planned, search: Search, verified: Verified, measured: Measured, manifests: Manifests, published: Published
) -> Release:
    """The result of a run that was made part by part: neither its recoding nor its classes are kept."""
    return Release(
        planned.project.name,
        None,
        measured.whole,
        measured.public,
        search,
        found=None,
        notes=notes_of(planned, verified),
        **where_published(planned, manifests, published),
    )


def light_release(planned: Planned, verified: Verified, manifests: Manifests, published: Published) -> LightRelease:
    """The result of a run that applied operations only."""
    treated = {t.column for t in planned.treatments}
    return LightRelease(
        planned.project.name,
        planned.rows,
        describe_operations(planned.treatments, planned.project.folder),
        tuple(name for name in planned.header if name not in treated),
        notes=notes_of(planned, verified),
        **where_published(planned, manifests, published),
    )


def notes_of(planned: Planned, verified: Verified) -> tuple[Note, ...]:
    """What a user should know of the published columns, the models, the operations and the spellings."""
    models = () if planned.project.light else model_notes(planned.fitted.schema, planned.project.models)
    operations = (note for t in planned.treatments for note in t.operation.notes(t.column))
    return (
        *published_notes(verified.exposures),
        *models,
        *operations,
        *variants_notes(verified.variants),
        *_suppression_notes(planned, verified.pair),
    )


MUCH = 0.05
"""Above this share of the records suppression is told, also to those who never asked how much may be suppressed."""


def _suppression_notes(planned: Planned, pair: Pair | None) -> tuple[Note, ...]:
    """How many records were suppressed, if they are many and nobody said how many may be."""
    limit = getattr(planned.project.method, "suppression", None)
    if pair is None or limit != 1.0 or pair.suppressed_records <= MUCH * pair.records:
        return ()
    message = Sentence(
        "{suppressed:,} of {records:,} records ({share:.0%}) are suppressed; mondrian suppresses none, and "
        "lattice {{suppression: 0.05}} at most 5 %",
        suppressed=pair.suppressed_records,
        records=pair.records,
        share=pair.suppressed_records / pair.records,
    )
    return (Note("much-suppressed", message),)


def where_published(planned: Planned, manifests: Manifests, published: Published) -> dict[str, Any]:
    """Where a release is, and its evidence, as results have it."""
    return {
        "manifest": manifests.public,
        "private_manifest": manifests.private,
        "output": published.path,
        "manifest_path": published.manifest,
        "private_path": published.private_manifest,
        "table": in_kind_of(planned.project.source.data, published.table),
    }
