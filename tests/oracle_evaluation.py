"""A slow, plain oracle for the evaluation of a release, written from the definitions alone.

Everything is computed record by record, on lists of texts: no frequency table, no hierarchy, no grouping by codes.
What a label stands for is not read from its text: whoever makes a release says it (`Label.holds`, `Label.limits`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog

Cell = str | None
Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Label:
    """A released cell: its text, which original values it can stand for, and its limits if it names numbers.

    An infinite limit is an end that the label leaves open; ``limits`` None: it says nothing about numbers.
    """

    text: Cell
    holds: Callable[[Cell], bool] = field(compare=False)
    limits: tuple[float, float] | None = None


def value_label(value: Cell, numeric: bool = False) -> Label:
    """The value itself."""
    limits = (float(value), float(value)) if numeric and value is not None else None
    return Label(value, lambda x: x == value, limits)


def anything(text: Cell = "*") -> Label:
    """A suppressed cell."""
    return Label(text, lambda x: True)


@dataclass(frozen=True)
class Released:
    """An original and its release, as lists of rows; ``numeric`` says which columns hold numbers.

    ``rows`` are the released records without the suppressed ones, ``starred`` of which stand in the release.
    """

    columns: list[str]
    original: list[Row]
    rows: list[tuple[Label, ...]]
    numeric: list[bool]
    starred: int = 0

    @property
    def n(self) -> int:
        return len(self.original)

    @property
    def suppressed(self) -> int:
        return self.n - len(self.rows)

    def classes(self) -> dict[Row, list[tuple[Label, ...]]]:
        found: dict[Row, list[tuple[Label, ...]]] = defaultdict(list)
        for row in self.rows:
            found[tuple(label.text for label in row)].append(row)
        return dict(found)

    def sizes(self) -> dict[Row, int]:
        return {key: len(rows) for key, rows in self.classes().items()}

    def class_of(self) -> list[Row | None] | None:
        """The class of each original record (None: suppressed); None unless the release tells.

        It tells when every record fits at most one class and every class has all the records that fit it.
        """
        members = {key: rows[0] for key, rows in self.classes().items()}
        places: list[Row | None] = []
        for record in self.original:
            fitting = [key for key, row in members.items() if fits(record, row)]
            if len(fitting) > 1:
                return None
            places.append(fitting[0] if fitting else None)
        inside = Counter(place for place in places if place is not None)
        return places if inside == Counter(self.sizes()) else None

    def domain(self, j: int) -> list[Cell]:
        """The different values of a column, missing as one of them."""
        return list(dict.fromkeys(record[j] for record in self.original))

    def under(self, j: int, label: Label) -> list[Cell]:
        return [value for value in self.domain(j) if label.holds(value)]

    def limits(self, j: int, label: Label) -> tuple[float, float] | None:
        """The limits of a label; an open end takes the outermost value under it."""
        if not self.numeric[j] or label.limits is None:
            return None
        numbers = [float(x) for x in self.under(j, label) if x is not None]
        low, high = label.limits
        return (low if math.isfinite(low) else min(numbers), high if math.isfinite(high) else max(numbers))


def fits(record: Sequence[Cell], labels: Sequence[Label]) -> bool:
    """Whether a record can stand behind a released row."""
    return all(label.holds(value) for value, label in zip(record, labels, strict=True))


# --- Utility ---


def losses(r: Released) -> list[float]:
    """L_j of every column."""
    found = []
    for j in range(len(r.columns)):
        domain = len(r.domain(j))
        if domain == 1:
            found.append(0.0)
            continue
        shares = sum(len(r.under(j, row[j])) / domain for row in r.rows) + r.suppressed
        found.append(max(0.0, (shares - r.n / domain) / (r.n - r.n / domain)))
    return found


def generalized_losses(r: Released) -> list[float]:
    """The mean over a column's cells of (hi-lo)/(HI-LO) or (leaves-1)/(|D|-1), suppressed cells 1.

    Limits are cut at those of the domain.
    """
    found = []
    for j in range(len(r.columns)):
        values = r.domain(j)
        numbers = [float(x) for x in values if x is not None] if r.numeric[j] else []
        if len(values) == 1:
            found.append(0.0)
            continue
        total = float(r.suppressed)
        for row in r.rows:
            limits = r.limits(j, row[j])
            if limits is not None and min(numbers) < max(numbers):
                wide = min(limits[1], max(numbers)) - max(limits[0], min(numbers))
                total += wide / (max(numbers) - min(numbers))
            else:
                total += (len(r.under(j, row[j])) - 1) / (len(values) - 1)
        found.append(total / r.n)
    return found


def entropies(r: Released) -> tuple[list[float], float] | None:
    """The entropy loss of every column, and of all cells; None unless it is known which records were suppressed."""
    places = r.class_of()
    members = {key: rows[0] for key, rows in r.classes().items()}
    if places is not None:
        shown = [None if place is None else members[place] for place in places]
    elif r.suppressed:
        return None
    else:
        # Whose row is which makes no difference to the sum.
        shown = list(r.rows)
    lost, full = [], []
    for j in range(len(r.columns)):
        column = [record[j] for record in r.original]
        here = whole = 0.0
        for value, row in zip(column, shown, strict=True):
            same = column.count(value)
            label = anything() if row is None else row[j]
            here -= math.log2(same / sum(label.holds(x) for x in column))
            whole -= math.log2(same / r.n)
        lost.append(here)
        full.append(whole)
    ratios = [a / b if b > 1e-12 else 0.0 for a, b in zip(lost, full, strict=True)]
    return ratios, sum(lost) / sum(full) if sum(full) > 1e-12 else 0.0


def precisions(r: Released) -> list[float | None]:
    """Sweeney's precision where no hierarchy is given: a cell is kept (level 0), `*` (level 1), or has no level."""
    found: list[float | None] = []
    for j in range(len(r.columns)):
        values = r.domain(j)
        levels = []
        for row in r.rows:
            text = row[j].text
            levels.append(0 if text in values else 1 if text in ("*", None) else None)
        known = [level for level in levels if level is not None]
        found.append(1 - (sum(known) + r.suppressed) / r.n if len(known) == len(levels) else None)
    return found


# --- Numbers ---


def numbers_before(r: Released, j: int) -> list[float]:
    return [float(record[j]) for record in r.original if record[j] is not None]  # type: ignore[arg-type]


def limits_after(r: Released, j: int) -> list[tuple[float, float]]:
    """Of every released cell that says something about numbers."""
    return [limits for row in r.rows if (limits := r.limits(j, row[j])) is not None]


# --- Privacy and risk ---


def transport(p: Sequence[float], q: Sequence[float], distance: np.ndarray) -> float:
    """The least cost of turning p into q: the linear programme of the transport problem."""
    n = len(p)
    leaving = np.kron(np.eye(n), np.ones(n))
    arriving = np.kron(np.ones(n), np.eye(n))
    solved = linprog(
        distance.ravel(), A_eq=np.vstack([leaving, arriving])[:-1], b_eq=[*p, *q][:-1], bounds=(0, None), method="highs"
    )
    assert solved.status == 0, solved.message
    return float(solved.fun)


def distances(kind: str, values: Sequence[str], tree: Sequence[Sequence[str]] | None = None) -> np.ndarray:
    """Ground distances of values, given in their order."""
    v = len(values)
    if kind == "equal":
        return 1 - np.eye(v)
    if kind == "ordered":
        return np.abs(np.subtract.outer(np.arange(v), np.arange(v))) / max(v - 1, 1)
    assert tree is not None
    path = {row[0]: row for row in tree}
    height = len(tree[0]) - 1
    found = np.zeros((v, v))
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            if a != b:
                found[i, j] = min(x for x in range(height + 1) if path[a][x] == path[b][x]) / height
    return found


def figures(
    classes: Sequence[Sequence[str]], table: Sequence[str], order: int, tree: Sequence[Sequence[str]] | None = None
) -> dict[str, float | None]:
    """What a table has of every model: the worst class. ``classes`` hold the sensitive values of their records."""
    values = sorted(set(table), key=number_or_text(table))
    q = np.array([table.count(v) for v in values]) / len(table)
    worst: dict[str, list[float]] = defaultdict(list)
    kinds = ["equal", "ordered"] + (["hierarchical"] if tree is not None else [])
    ground = {kind: distances(kind, values, tree) for kind in kinds}
    for members in classes:
        counts = np.array([members.count(v) for v in values])
        p = counts / counts.sum()
        here = p > 0
        ranked = np.sort(counts[here])[::-1]
        gains = ((p - q) / q)[p > q + 1e-15]
        room = -np.log(q)[p > q + 1e-15]
        worst["l_distinct"].append(-int(here.sum()))
        worst["l_entropy"].append(-math.exp(-(p[here] * np.log(p[here])).sum()))
        worst["c"].append(ranked[0] / ranked[order - 1 :].sum() if len(ranked) >= order else math.inf)
        for kind in kinds:
            worst[f"t_{kind}"].append(transport(p, q, ground[kind]))
        worst["delta"].append(np.abs(np.log2(p[here] / q[here])).max())
        worst["beta"].append(gains.max(initial=0))
        worst["beta_enhanced"].append(math.inf if (gains > room + 1e-12).any() else gains.max(initial=0))
        worst["alpha"].append(p.max())
    found = {name: max(each) for name, each in worst.items()}
    found["l_distinct"], found["l_entropy"] = -found["l_distinct"], -found["l_entropy"]
    if number_or_text(table) is str:
        # The alphabet is no order.
        found["t_ordered"] = math.inf
    return {name: value if math.isfinite(value) else None for name, value in found.items()}


def number_or_text(values: Sequence[str]) -> Callable[[str], float | str]:
    """How values are ordered: as numbers if all of them are."""
    try:
        for value in values:
            float(value)
    except ValueError:
        return str
    return float


def individual_risk(f: int, people: float) -> float:
    """E[1/F | f], F - f negative binomial with success probability f / people: the sum of its definition."""
    p = f / max(people, f)
    total, chance, size = 0.0, p**f, f
    while chance > 0 and (size < 10 * f / p or chance / size > 1e-18):
        total += chance / size
        chance *= size / (size - f + 1) * (1 - p)
        size += 1
    return total


def higher_than_main_part(risks: Sequence[float]) -> tuple[int, int]:
    """Records with risk > median + 2·1.4826·MAD; those also above 0.1. One risk per record."""
    median = np.median(risks)
    limit = median + 2 * 1.4826 * np.median(np.abs(np.array(risks) - median))
    above = [risk for risk in risks if risk > limit]
    return len(above), sum(risk > 0.1 for risk in above)
