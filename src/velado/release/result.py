"""Verified releases: their outputs, recodings, evaluations and manifests."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from velado.errors import Note
from velado.evaluation import Evaluation
from velado.evaluation.evaluation import finite
from velado.methods import Found, Search
from velado.recoding import Recoding
from velado.release.manifest import LIGHT, Manifests
from velado.release.measure import Measured
from velado.release.plan import Planned
from velado.release.published import model_notes, published_notes
from velado.release.treatments import described
from velado.release.verify import Verified, twins_notes
from velado.tables import Published, Source, in_kind_of


@dataclass(frozen=True, kw_only=True)
class Evidenced:
    """Where a release is, and what proves it. ``private_manifest`` stays with the owner."""

    manifest: dict[str, Any]
    output: Path | None = None
    manifest_path: Path | None = None
    table: Any = None
    notes: tuple[Note, ...] = ()
    private_manifest: dict[str, Any] = field(default_factory=dict, repr=False)
    private_path: Path | None = None


@dataclass(frozen=True)
class Release(Evidenced):
    """What a run returns. ``table`` holds the released rows where no output path was given, in the kind in which the
    original came in: pandas, Polars, else Arrow.

    ``evaluation`` is measured against the whole input and stays with the owner, as ``private_manifest`` does;
    ``public_evaluation`` is what everybody may know: it depends on suppressed records by their number only.

    A release that was made part by part keeps neither its recoding nor its classes.
    """

    project: str
    recoding: Recoding | None
    evaluation: Evaluation
    public_evaluation: Evaluation
    search: Search
    found: Found | None

    @property
    def levels(self) -> dict[str, int]:
        """Level of each quasi-identifier."""
        return {} if self.recoding is None else self.recoding.levels

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``velado run``: what everybody may know."""
        e = self.public_evaluation
        search = {
            k: v
            for k, v in asdict(self.search).items()
            if k in ("nodes", "evaluated", "proven_optimal", "gap", "seconds")
        }
        if e.suppressed:
            # How much work it was depends on everybody.
            search["evaluated"] = None
        shown: dict[str, Any] = {
            "project": self.project,
            "rows": e.rows,
            "released": e.released,
            "suppressed": e.suppressed,
            "levels": self.levels,
            "classes": e.classes,
            "class_size": e.class_size,
            "utility": asdict(e.utility),
            "risk": asdict(e.risk),
            "models": [v.as_dict() for v in e.models],
            "published": [x.as_dict() for x in e.published or ()],
            "search": search,
            "output": None if self.output is None else str(self.output),
            "manifest": None if self.manifest_path is None else str(self.manifest_path),
        }
        if self.notes:
            shown["notes"] = [note.as_dict() for note in self.notes]
        if e.people is not None:
            shown["people"] = e.people
        if self.found is not None and self.found.minimal:
            shown["minimal"] = [list(v) for v in self.found.minimal]
        if e.fuzzy is not None:
            shown["fuzzy"] = finite(asdict(e.fuzzy))
        return shown


@dataclass(frozen=True)
class LightRelease(Evidenced):
    """What a run of ``anonymization: light`` returns: operations were applied, no privacy model was checked.

    ``operations`` are those of the treated columns, ``unchanged`` the columns that were published as they are.
    """

    project: str
    rows: int
    operations: dict[str, Any]
    unchanged: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``velado run``."""
        shown = {
            "project": self.project,
            "anonymization": "light",
            "verified": LIGHT,
            "rows": self.rows,
            "released": self.rows,
            "operations": self.operations,
            "unchanged": list(self.unchanged),
            "models": [],
            "output": None if self.output is None else str(self.output),
            "manifest": None if self.manifest_path is None else str(self.manifest_path),
        }
        return {**shown, "notes": [note.as_dict() for note in self.notes]} if self.notes else shown


@dataclass(frozen=True)
class Releases:
    """What a run of several tables returns: a release per table, and how its joinable attributes match."""

    project: str
    tables: dict[str, Release | LightRelease]
    joined: tuple[Any, ...] = ()

    def __getitem__(self, name: str) -> Release | LightRelease:
        return self.tables[name]

    def as_dict(self) -> dict[str, Any]:
        """The JSON of ``velado run``."""
        return {
            "project": self.project,
            "tables": {name: release.as_dict() for name, release in self.tables.items()},
            "joined": [j.as_dict() for j in self.joined],
        }


def release_of(
    planned: Planned, verified: Verified, measured: Measured, manifests: Manifests, published: Published
) -> Release:
    """The result of a run that is published."""
    assert planned.found is not None
    return Release(
        planned.project.name,
        planned.recoding,
        measured.whole,
        measured.public,
        planned.found.search,
        found=planned.found,
        notes=notes_of(planned, verified),
        **_where(planned, manifests, published),
    )


def release_in_parts(
    planned: Planned,
    search: Search,
    verified: Verified,
    measured: Measured,
    manifests: Manifests,
    published: Published,
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
        **_where(planned, manifests, published),
    )


def light_release(planned: Planned, verified: Verified, manifests: Manifests, published: Published) -> LightRelease:
    """The result of a run that applied operations only."""
    treated = {t.column for t in planned.treatments}
    return LightRelease(
        planned.project.name,
        planned.rows,
        described(planned.treatments, planned.project.folder),
        tuple(name for name in planned.header if name not in treated),
        notes=notes_of(planned, verified),
        **_where(planned, manifests, published),
    )


def notes_of(planned: Planned, verified: Verified) -> tuple[Note, ...]:
    """What a user should know of the published columns, the models, the operations and the spellings."""
    models = () if planned.project.light else model_notes(planned.fitted.schema, planned.project.models)
    operations = (note for t in planned.treatments for note in t.operation.notes(t.column))
    return (*published_notes(verified.exposures), *models, *operations, *twins_notes(verified.twins))


def _where(planned: Planned, manifests: Manifests, published: Published) -> dict[str, Any]:
    return {
        "manifest": manifests.public,
        "private_manifest": manifests.private,
        "output": published.path,
        "manifest_path": published.manifest,
        "private_path": published.private_manifest,
        "table": in_kind_of(Source.of(planned.project.source).data, published.table),
    }
