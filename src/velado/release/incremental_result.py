"""New rows that were published beside an earlier release: the result and its figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from velado.errors import Note
from velado.evaluation import public_verdicts
from velado.evaluation.exposure import Exposure
from velado.evaluation.joint_exposure import JointExposure
from velado.evaluation.privacy import class_size
from velado.models import Verdict, smallest_class
from velado.release.documents import ReleaseLocation
from velado.release.incremental_judge import Arriving, Together
from velado.release.manifest import Manifests
from velado.release.plan import Planned
from velado.release.result import Evidenced, notes_of, where_published
from velado.release.verify import Verified
from velado.results import IF_SET, Discreet, encode, parts
from velado.sentences import Sentence
from velado.tables import Published


@dataclass(frozen=True, kw_only=True, repr=False)
class Measures(Discreet):
    """The figures of new rows, and of these and the ``earlier`` records together: classes, sizes, models.

    Of ``rows`` new ones ``unplaced`` had values or combinations that the recoding did not know, ``unseen`` are up to five such values of
    each column. ``smallest_new`` is the smallest class among the new rows alone. What everybody may know depends on
    suppressed rows by their number only; ``unseen`` is the owner's.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("project",)
    project: str
    levels: dict[str, int]
    rows: int
    released: int
    suppressed: int
    unplaced: int
    earlier: int
    classes: int
    class_size: dict[str, float]
    smallest_new: int
    models: tuple[Verdict, ...]
    published: tuple[Exposure, ...] = ()
    exposure: JointExposure | None = None
    unseen: dict[str, list[str]] = field(default_factory=dict, metadata=IF_SET)

    @classmethod
    def of(cls, planned: Planned, arriving: Arriving, together: Together, verified: Verified) -> Measures:
        """As they were verified."""
        models, suppressed = planned.project.models, arriving.rows - together.released_records
        return cls(
            project=planned.project.name,
            levels={} if planned.recoding is None else planned.recoding.levels,
            rows=arriving.rows,
            released=together.released_records,
            suppressed=suppressed,
            unplaced=arriving.unplaced,
            earlier=together.public.records - together.released_records,
            classes=together.public.rows,
            class_size=class_size(together.public.counts),
            smallest_new=int(together.new.counts.min()),
            models=tuple(public_verdicts(models, verified.verdicts, suppressed)),
            published=verified.exposures,
            exposure=verified.joint,
            unseen=arriving.unseen,
        )

    def public_figures(self) -> dict[str, Any]:
        """What the public manifest tells."""
        return {
            "released": self.released,
            "suppressed": self.suppressed,
            "together": {
                "records": self.earlier + self.released,
                "classes": self.classes,
                "class_size": self.class_size,
                "models": encode(self.models),
                "published": encode(self.published),
                "exposure": encode(self.exposure),
            },
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class ArrivedDocument(ReleaseLocation, Measures):
    """The JSON of new rows: their figures, and where they are."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Arrived(Evidenced, Measures):
    """New rows of an earlier release: recoded as it was, and verified together with it.

    ``table`` holds them where no output was given. One that was read from JSON (`from_dict`) has no table and no manifests.
    """

    SCHEMA: ClassVar[str] = "velado-arrived-1"
    DOCUMENT: ClassVar[Any] = ArrivedDocument

    def document(self) -> ArrivedDocument:
        """The JSON of ``velado apply``."""
        return ArrivedDocument(**parts(self, Measures), output=self.output, manifest=self.manifest_path, notes=self.notes)

    @classmethod
    def from_document(cls, document: ArrivedDocument) -> Arrived:
        """What the JSON tells."""
        return cls(**parts(document, Measures), **document.where())

    def summary(self) -> dict[str, Any]:
        """How many rows came, and what they are together with the earlier ones."""
        figures = {name: getattr(self, name) for name in ("rows", "released", "suppressed", "earlier", "classes")}
        return {"project": self.project, **figures, "models": tuple(v.name for v in self.models)}


def make_result(planned: Planned, verified: Verified, measures: Measures, manifests: Manifests, published: Published) -> Arrived:
    """The result of new rows that are published."""
    k = smallest_class(planned.project.models)
    notes = (*_small(measures, k), *notes_of(planned, verified))
    return Arrived(**parts(measures), notes=notes, **where_published(planned, manifests, published))


def _small(measures: Measures, k: int) -> tuple[Note, ...]:
    """Whoever knows that somebody came with the new rows looks among these alone."""
    if measures.smallest_new >= k:
        return ()
    return (
        Note(
            "small-among-new",
            Sentence(
                "classes have {k:,} records or more together with the earlier release, but one has {smallest:,} new ones "
                "only: whoever knows that a person is among the new rows finds them there; --alone asks the models of "
                "the new rows by themselves, too",
                k=k,
                smallest=measures.smallest_new,
            ),
        ),
    )
