"""The JSON of releases: what everybody may know of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from velado.errors import Note
from velado.evaluation import Evaluation
from velado.evaluation.exposure import Exposure
from velado.methods import Search
from velado.models import Verdict
from velado.release.manifest import LIGHT
from velado.results import IF_SET, Discreet


@dataclass(frozen=True, kw_only=True, repr=False)
class ReleaseLocation(Discreet):
    """Where a release is, in JSON: the table, its public manifest, and what a user should know of it."""

    output: Path | str | None
    manifest: Path | str | None
    notes: tuple[Note, ...] = field(default=(), metadata=IF_SET)

    def where(self) -> dict[str, Any]:
        """As a release has it; the manifest itself is in its file."""
        return {"output": self.output, "manifest_path": self.manifest, "notes": self.notes}


@dataclass(frozen=True, kw_only=True, repr=False)
class Recoded(Discreet):
    """What the JSON of a release begins with."""

    project: str
    levels: dict[str, int]


@dataclass(frozen=True, kw_only=True, repr=False)
class ReleaseDocument(ReleaseLocation, Evaluation, Recoded):
    """The JSON of a release: its public evaluation, how it was found, and where it is."""

    search: Search
    published: tuple[Exposure, ...] | None = ()
    minimal: tuple[tuple[int, ...], ...] = field(default=(), metadata=IF_SET)


@dataclass(frozen=True, kw_only=True, repr=False)
class LightDocument(ReleaseLocation):
    """The JSON of a light release."""

    project: str
    protection: Literal["operations"] = "operations"
    verified: str = LIGHT
    rows: int
    released: int
    operations: dict[str, Any]
    unchanged: tuple[str, ...]
    models: tuple[Verdict, ...] = ()
