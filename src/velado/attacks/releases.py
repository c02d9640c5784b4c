"""The attack on two releases of one table: linked through what both show unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from velado.attacks.base import MOST_EXPOSED, Attack, Exposed, Prevention
from velado.attacks.label_matching import narrower
from velado.attacks.records import Records
from velado.declarations import declare
from velado.errors import InputError
from velado.evaluation.matching import fitting
from velado.hierarchies import Cover, Hierarchy
from velado.progress import Progress
from velado.results import Discreet
from velado.sentences import Sentence, join_sentences
from velado.values import Text

MOST_ROUNDS = 200


@dataclass(frozen=True, repr=False)
class Cells(Discreet):
    """Records of one release by class and sensitive value, and how many of a value may be lacking in the other."""

    group: np.ndarray
    value: np.ndarray
    count: np.ndarray
    needed: np.ndarray


@dataclass(frozen=True, repr=False)
class Combined(Discreet):
    """Pairs of classes that can have a record in common, and between how many and how many."""

    a: np.ndarray
    b: np.ndarray
    least: np.ndarray
    most: np.ndarray
    linked: tuple[int, int]
    one_class: tuple[int, int]
    value: np.ndarray


@declare(title="comparison of two releases", meaning="The two releases are joined through sensitive values and labels that fit.")
def releases(
    release: Records,
    other: Records,
    covers: Sequence[Cover],
    trees: Sequence[Hierarchy | None],
    population: int = 0,
    file: str | None = None,
    progress: Progress | None = None,
) -> Attack:
    """What two releases of one table tell together, whatever the order of their rows (UBB, table 11).

    *Definition.* A cell is a class with one combination of sensitive values. A record of cell (a, s) of the first
    release can be a record of cell (b, s) of the second if the labels of a and b can stand for the same values in every
    column. Let x(a, b, s) be the unknown number of people who are in both cells. The x of a cell add up to its records,
    except for people whom the other release suppressed: the table has ``population`` records (at least as many
    as the larger release), so it is known how many of each value these can be. From that, bounds of every x
    are tightened until nothing changes: an x is at least what the other x of its cell leave over, at most what
    their lower bounds leave free. The *combined class* of (a, b) has between Σ_s least and Σ_s most records; this
    holds for every assignment of people that agrees with both releases. A combined class of exactly one record is
    *singled out*; a record is *linked if present* if its cell has one possible class in the other release, and
    *linked* if it certainly is there. ``smallest_combined`` is the smallest upper bound of a class that certainly
    exists; the attack succeeds if it is below the k of both releases. O(compatible pairs × values) per round.
    """
    progress = progress or Progress()
    progress.at(0.0)
    pairs_b, pairs_a = fitting(other.groups[0], covers, release.groups[0], progress)
    total = max(release.total, other.total, population)
    a, b = _cells(release, other, total, file)
    found = _bounds(a, b, pairs_a, pairs_b, len(release.names), (release, other), file, progress.part(0.3, 1.0))
    progress.at(1.0)
    k, other_k = int(release.sizes.min()), int(other.sizes.min())
    certain = found.least >= 1
    smallest = int(found.most[certain].min(initial=min(k, other_k)))
    succeeded = smallest < min(k, other_k)
    small = certain & (found.most < min(k, other_k))
    chosen = np.flatnonzero(small)
    chosen = chosen[np.lexsort((chosen, -found.least[chosen], found.most[chosen]))][:MOST_EXPOSED]
    prevented: tuple[Prevention, ...] = ()
    if succeeded:
        prevented = (
            Prevention(measure="same-or-coarser"),
            Prevention("k-anonymity", {"k": min(k, other_k)}, "judge-the-combination"),
        )
    return Attack(
        "releases",
        succeeded,
        {
            "records": release.total,
            "other_records": other.total,
            "k": k,
            "other_k": other_k,
            "linked": found.linked[0],
            "linked_if_present": found.one_class[0],
            "other_linked": found.linked[1],
            "other_linked_if_present": found.one_class[1],
            "smallest_combined": smallest,
            "in_smaller_classes": int(found.least[small].sum()),
            "singled_out": int(((found.least == 1) & (found.most == 1)).sum()),
        },
        _list_exposed(chosen, found, release, other, trees),
        prevented,
        against="other",
    )


def _cells(a: Records, b: Records, population: int, file: str | None) -> tuple[Cells, Cells]:
    kinds = max(len(a.names), 1)
    parts, totals = [], []
    for side in (a, b):
        group = side.groups[1]
        seen = group >= 0
        keys, number = np.unique(group[seen] * kinds + side.values[seen], return_inverse=True)
        count = np.bincount(number, weights=side.counts[seen]).astype(np.int64)
        parts.append((keys // kinds, keys % kinds, count))
        totals.append(np.bincount(keys % kinds, weights=count, minlength=kinds).astype(np.int64))
    # Of the people with a value, the first release lacks x and the second y; their difference is known.
    lacking = [population - int(t.sum()) for t in totals]
    slack_a = np.minimum(lacking[1], lacking[0] + totals[0] - totals[1])
    slack_b = np.minimum(lacking[0], lacking[1] + totals[1] - totals[0])
    if (np.minimum(slack_a, slack_b) < 0).any():
        raise _not_of_one_table(Sentence("how often sensitive values occur does not agree"), file)
    cells = [
        Cells(group, value, count, np.maximum(count - slack[value], 0))
        for (group, value, count), slack in zip(parts, (slack_a, slack_b), strict=True)
    ]
    return cells[0], cells[1]


def _bounds(
    a: Cells,
    b: Cells,
    pairs_a: np.ndarray,
    pairs_b: np.ndarray,
    kinds: int,
    sides: tuple[Records, Records],
    file: str | None,
    progress: Progress,
) -> Combined:
    kinds = max(kinds, 1)
    first = np.searchsorted(a.group, np.arange(len(sides[0].sizes) + 1))
    many = np.diff(first)[pairs_a]
    pair = np.repeat(np.arange(len(pairs_a)), many)
    i = first[pairs_a[pair]] + np.arange(len(pair)) - np.repeat(np.cumsum(many) - many, many)
    keys_b = b.group * kinds + b.value
    wanted = pairs_b[pair] * kinds + a.value[i]
    j = np.minimum(np.searchsorted(keys_b, wanted), len(keys_b) - 1)
    same = keys_b[j] == wanted
    i, j = i[same], j[same]
    least = np.zeros(len(i), dtype=np.int64)
    most = np.minimum(a.count[i], b.count[j])
    for done in range(MOST_ROUNDS):
        progress.at(done, MOST_ROUNDS)
        before = least.sum() - most.sum()
        for cells, at in ((a, i), (b, j)):
            reach = _sum(at, most, cells)
            if (reach < cells.needed).any():
                c = int(np.flatnonzero(reach < cells.needed)[0])
                side = sides[0 if cells is a else 1]
                raise _not_of_one_table(
                    Sentence(
                        "the other has no records that can be those of ({labels})", labels=_describe_group(side, cells.group[c])
                    ),
                    file,
                )
            least = np.maximum(least, (cells.needed - reach)[at] + most)
            most = np.minimum(most, (cells.count - _sum(at, least, cells))[at] + least)
        if (least > most).any():
            raise _not_of_one_table(Sentence("no assignment of people agrees with both"), file)
        if least.sum() - most.sum() == before:
            break
    possible = most > 0
    linked, one_class = [], []
    for cells, at in ((a, i), (b, j)):
        one = np.bincount(at[possible], minlength=len(cells.count)) == 1
        one_class.append(int(cells.count[one].sum()))
        linked.append(int(cells.count[one & (_sum(at, least, cells) == cells.count)].sum()))
    width = len(sides[1].sizes)
    keys, number = np.unique(a.group[i[possible]] * width + b.group[j[possible]], return_inverse=True)
    sums = [np.bincount(number, weights=x[possible], minlength=len(keys)).astype(np.int64) for x in (least, most)]
    value = np.full(len(keys), -1, dtype=np.int64)
    sure = least[possible] > 0
    value[number[sure]] = a.value[i[possible]][sure]
    value[np.bincount(number, minlength=len(keys)) != 1] = -1
    return Combined(keys // width, keys % width, sums[0], sums[1], (linked[0], linked[1]), (one_class[0], one_class[1]), value)


def _sum(at: np.ndarray, figures: np.ndarray, cells: Cells) -> np.ndarray:
    return np.bincount(at, weights=figures, minlength=len(cells.count)).astype(np.int64)


def _describe_group(side: Records, group: int) -> Sentence:
    row = side.groups[0][group]
    return join_sentences(", ", [str(labels[x]) for labels, x in zip(side.labels, row, strict=True)])


def _not_of_one_table(why: str, file: str | None) -> InputError:
    return InputError(
        "not-corresponding",
        Sentence("the two releases do not agree as releases of one table: {why}", why=why),
        file=file,
        hint="Check that both were made from the same original, and give the hierarchies that they were made with. "
        "If both leave out suppressed records, give the original as well (--original).",
    )


def _list_exposed(
    chosen: np.ndarray, found: Combined, a: Records, b: Records, trees: Sequence[Hierarchy | None]
) -> tuple[Exposed, ...]:
    shown: list[list[Text]] = []
    for j, tree in enumerate(trees):
        left, right = a.groups[0][found.a[chosen], j], b.groups[0][found.b[chosen], j]
        pairs = [(a.labels[j][x], b.labels[j][y]) for x, y in zip(left, right, strict=True)]
        shown.append(narrower(pairs, tree)[0])
    exposed = []
    for n, c in enumerate(chosen):
        labels = {name: texts[n] for name, texts in zip(a.columns, shown, strict=True)}
        names = () if found.value[c] < 0 else a.names[found.value[c]]
        value = ", ".join("" if x is None else x for x in names) if names else None
        most = int(found.most[c])
        exposed.append(Exposed(labels, most, 1 / most, value))
    return tuple(exposed)
