"""Releases that are refused because what they publish singles people out: why, and the ways out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from velado.errors import InputError, Note
from velado.evaluation.exposure import LEAST, NEVER, Exposure, refused_columns
from velado.evaluation.joint_exposure import JointExposure
from velado.sentences import Sentence, join_sentences


def refuse(
    exposures: Sequence[Exposure],
    joint: JointExposure | None,
    file: str,
    enough: Callable[[Exposure], int | float | None] = lambda _: None,
) -> None:
    """Refuse identifiers in disguise, all of them at once, and columns that single people out only together.

    ``enough`` says to what a column can be rounded so that it does not.
    """
    found = {e.column: list(e.dangers) for e in refused_columns(exposures)}
    reasons = [Sentence("column '{column}': {reason}", column=e.column, reason=reason(e)) for e in refused_columns(exposures)]
    if not found and joint is not None and joint.people >= LEAST and joint.is_refused:
        judged = [e for e in exposures if e.known != NEVER and not e.accepted]
        found = {e.column: ["joint"] for e in judged}
        reasons = [
            Sentence(
                "columns {columns}: together, and with the released quasi-identifiers, they leave {below:,} of {people:,} in groups "
                "smaller than {k}",
                columns=_quote_names(list(found)),
                below=joint.judged,
                people=joint.people,
                k=joint.k,
            )
        ]
    if not found:
        return
    first = next(iter(found))
    # Where columns tell only together, a rounding of one of them alone promises nothing.
    steps = {e.column: enough(e) for e in exposures if e.column in found and e.dangers}
    roundings = {name: step for name, step in steps.items() if step is not None}
    raise InputError(
        "identifier-in-disguise",
        join_sentences(Sentence("\n"), [Sentence("what would be published singles people out:"), *reasons]),
        file=file,
        column=first,
        fields={"columns": found, **_counts(exposures, found, joint), **({"rounding": roundings} if roundings else {})},
        hint=_ways_out(exposures, found, roundings),
    )


def _counts(exposures: Sequence[Exposure], found: Mapping[str, Sequence[str]], joint: JointExposure | None) -> dict[str, object]:
    """What the reasons count: by it, small counts are kept from who may not read records."""
    people = {
        e.column: {"alone": e.singled_out, "few": e.few, "alone_together": e.singled_out_together, "few_together": e.few_together}
        for e in exposures
        if e.column in found
    }
    return {"people": people, **({} if joint is None else {"count": joint.judged})}


def _ways_out(exposures: Sequence[Exposure], found: Mapping[str, Sequence[str]], enough: Mapping[str, int | float]) -> Sentence:
    """Lines to paste into the project file; ``enough``: to what columns of numbers can be rounded so that people hide."""
    by_name = {e.column: e for e in exposures}
    lines = []
    for name, dangers in found.items():
        role = by_name[name].role or "insensitive"
        ways = [Sentence("{role: quasi-identifier} if others know it")]
        if "content" in dangers:
            ways = [Sentence("{role: identifier} if it names people")]
        elif "copy" not in dangers:
            ways.append(Sentence("{{role: {role}, known: never}} if only the person and you know it", role=role))
        if name in enough:
            ways.append(Sentence("{{role: {role}, operation: {{round: {to}}}}}, which is enough", role=role, to=enough[name]))
        ways.append(Sentence("{{role: {role}, exposure: accepted}} if you answer for it", role=role))
        lines.append(Sentence("  {column}: {ways}", column=name, ways=join_sentences(Sentence(", or "), ways)))
    last = "Or leave it out, or state the share of the people that may be exposed ('allowance: 0.01')."
    return join_sentences(
        Sentence("\n"), [Sentence("Nothing was written. In the project file, under 'columns':"), *lines, Sentence(last)]
    )


def rounding_that_is_enough(
    numbers: np.ndarray, classes: np.ndarray, records: np.ndarray, k: int, allowed: float
) -> int | float | None:
    """The smallest of 1, 2, 5, 10, 20 … to which numbers can be rounded so that few records are in groups smaller than k by
    their class and number; None if that leaves fewer than three numbers.

    >>> numbers, records = np.array([101.0, 104, 398, 402, 907]), np.array([3, 3, 4, 1, 7])
    >>> rounding_that_is_enough(numbers, np.array([0, 0, 1, 1, 2]), records, 5, 0)
    10
    """
    span = float(numbers.max() - numbers.min()) if len(numbers) else 0.0
    if not 0 < span < math.inf:
        return None
    for power in range(math.floor(math.log10(span)) - 6, math.floor(math.log10(span)) + 1):
        for digit in (1, 2, 5):
            step = digit * 10.0**power
            rounded = np.unique(np.rint(numbers / step), return_inverse=True)[1]
            if rounded.max() < 2:
                return None
            sizes = np.bincount(classes * (int(rounded.max()) + 1) + rounded, weights=records)
            if sizes[sizes < k].sum() <= allowed:
                return int(step) if step >= 1 else float(f"{step:.{-power}f}")
    return None


def _all(e: Exposure) -> Sentence:
    if e.people:
        return Sentence("{people:,} people", people=e.records)
    return Sentence("{records:,} records", records=e.records)


def _quote_names(columns: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in columns)


def reason(e: Exposure) -> Sentence:
    """Why a column is an identifier in disguise, in figures and names of columns; no figure is said twice."""
    dangers = [d for d in e.dangers if d != "together" or "alone" not in e.dangers or e.few_together > e.few]
    if len(dangers) > 1 and dangers[-1] == "copy":
        dangers[-1] = "copy, counted"
    return join_sentences(Sentence(", and "), [REASONS[danger](e) for danger in dangers])


REASONS: dict[str, Callable[[Exposure], Sentence]] = {
    "content": lambda e: Sentence("it looks like {content}", content=Sentence(e.content or "")),
    "alone": lambda e: Sentence(
        "{few:,} of {all} have a value that fewer than {size} share ({alone:,} are alone with theirs)",
        few=e.few,
        all=_all(e),
        size=e.k,
        alone=e.singled_out,
    ),
    "together": lambda e: Sentence(
        "with the released quasi-identifiers it leaves {few:,} of {all} in groups smaller than {k} ({alone:,} are alone)",
        few=e.few_together,
        all=_all(e),
        k=e.k,
        alone=e.singled_out_together,
    ),
    "copy, counted": lambda e: Sentence("it is nearly a copy of {columns}", columns=_quote_names(e.copies)),
    "copy": lambda e: Sentence(
        "it is nearly a copy of {columns}, and as a quasi-identifier it leaves {few:,} of {all} in groups smaller than {k}",
        columns=_quote_names(e.copies),
        few=e.few_together,
        all=_all(e),
        k=e.k,
    ),
}


def published_notes(exposures: Sequence[Exposure]) -> tuple[Note, ...]:
    """What a user should know of the columns that are published."""
    notes = [
        Note(
            "singles-out",
            Sentence(
                "exposure accepted, although {reason}" if e.accepted else "published as it is, although {reason}", reason=reason(e)
            ),
            e.column,
        )
        for e in exposures
        if e.dangers
    ]
    notes += [
        Note(
            "near-copy",
            Sentence("nearly a copy of {columns}: whoever knows one knows the other", columns=_quote_names(e.copies)),
            e.column,
        )
        for e in exposures
        if e.copies and "copy" not in e.dangers
    ]
    return tuple(notes)
