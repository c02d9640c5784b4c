"""Seventh step: what a verified release costs and achieves, for everybody and for its owner."""

from __future__ import annotations

from dataclasses import dataclass, replace

from velado.evaluation import Evaluation, evaluate, public, public_verdicts
from velado.progress import Progress
from velado.release.plan import Planned
from velado.release.verify import Verified


@dataclass(frozen=True)
class Measured:
    """A release measured for everybody, and against the whole input."""

    public: Evaluation
    whole: Evaluation


def measure(planned: Planned, verified: Verified, progress: Progress) -> Measured:
    """Nothing that everybody may know depends on suppressed people but their number."""
    pair, models = verified.pair, planned.project.models
    assert pair is not None
    whole = evaluate(pair, models, verified.verdicts, progress=progress.part(0, 0.5))
    known = whole
    if pair.suppressed_records:
        verdicts = public_verdicts(models, verified.verdicts, pair.suppressed_records)
        known = evaluate(public(pair), models, verdicts, progress=progress.part(0.5, 1))
    return with_published(Measured(known, whole), verified)


def with_published(measured: Measured, verified: Verified) -> Measured:
    """With what was found of the published columns, among released records."""
    found, joint = verified.exposures, verified.joint
    return Measured(
        replace(measured.public, published=found, exposure=None if joint is None else joint.public()),
        replace(measured.whole, published=found, exposure=joint),
    )
