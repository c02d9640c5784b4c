"""Local recoding: classes that lose as little as possible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from velado.declarations import Declaration
from velado.errors import NoSolution
from velado.frequency import Classes, FrequencyTable, in_order
from velado.hierarchies import Cover, Hierarchy
from velado.methods.axes import Axis
from velado.methods.base import Found, Method, Search, lattice_size, no_solution
from velado.methods.clock import Clock
from velado.methods.lattice import THREADS, Lattice
from velado.methods.mondrian import Mondrian
from velado.methods.representatives import labels_of
from velado.methods.suppression import SUPPRESSION, Suppression, suppression_limit
from velado.models import CLASS, PrivacyModel, check_basis, judge_classes, smallest_class
from velado.models.base import compile_rules
from velado.parameters import Choice, Number, Weights
from velado.progress import Progress
from velado.results import Discreet
from velado.sentences import Sentence
from velado.values import ROOT, Text

BLOCK = 300
"""Rows at most among which classes are looked for at first."""
CLASS_BLOCK = 100
"""Classes at most among which rows are moved."""
SMALL = 2000
"""Rows up to which the search begins from what other methods find, too."""
SMALL_LATTICE = 20_000
"""Nodes of a lattice up to which its optimum is one of them."""
PASSES = 6
"""Times at most that rows are moved, in other blocks each time."""
SET_SIGNS = frozenset(",{}*")
"""Signs of values that a label such as {a, b} could not be read back with."""


@dataclass(frozen=True)
class Local(Method):
    """Join rows to classes that lose as little as possible, and improve these while that loses less.

    Loss-driven cuts into blocks, agglomeration within each (Xu et al. 2006; Byun et al. 2007), then moves of rows between
    classes. ``labels`` *tight*: numbers and dates show the interval that the class needs, categories without a hierarchy the
    set of its values, others the lowest group of their hierarchy; *hierarchy*: only labels of the hierarchies. ``weights``:
    how much more the loss of a column counts. ``budget``: seconds after which nothing more is improved. The result does not
    depend on the number of threads.

    O(distinct rows · rows of a block · columns); memory is linear.
    """

    labels: str = "tight"
    suppression: Suppression = 0.0
    weights: Mapping[str, float] = field(default_factory=dict)
    budget: float | None = None
    name: ClassVar[str] = "local"
    declaration: ClassVar = Declaration(
        title="Local recoding that loses least",
        meaning="Records that are alike become classes, which show no more than they must: the least is lost, and nothing is suppressed.",
        example={"labels": "hierarchy"},
    )
    takes: ClassVar[frozenset[str]] = frozenset({CLASS})
    full_domain: ClassVar[bool] = False
    parameters: ClassVar = {
        "labels": Choice("what classes show", ("tight", "hierarchy")),
        "suppression": SUPPRESSION,
        "weights": Weights("how much more a column's loss counts, by column", expert=True),
        "budget": Number("seconds after which nothing more is improved", low=0, optional=True, expert=True),
    }

    def search(self, frequency: FrequencyTable, models: Sequence[PrivacyModel], progress: Progress | None = None) -> Found:
        """Find the classes."""
        progress = progress or Progress()
        progress.at(0, frequency.rows)
        check_basis(models, self.takes)
        clock = Clock()
        whole = Classes.from_ids(frequency, np.zeros(frequency.rows, dtype=np.int64), 1)
        good, _ = judge_classes(models, frequency.judged_columns, whole)
        if not good.all():
            raise no_solution(frequency, models, 0.0)
        axes = tuple(_axis(h, self.labels) for h in frequency.hierarchies)
        solver = _Solver.of(frequency, models, axes, self.weights, self.labels)
        begins: list[np.ndarray | None] = [None]
        if frequency.rows <= SMALL:
            begins += _other_partitions(frequency, models)
        found = [
            solver.solve(begin, progress.part(0.9 * i / len(begins), 0.9 * (i + 1) / len(begins)), clock, self.budget)
            for i, begin in enumerate(begins)
        ]
        parts = min(found, key=solver.loss)
        suppressed = solver.suppress(parts, suppression_limit(self.suppression, frequency.records))
        class_of, number = _numbered(np.where(suppressed, frequency.rows, parts.class_of))
        classes = Classes.from_ids(frequency, class_of, number)
        kept = np.ones(number, dtype=bool)
        kept[class_of[suppressed]] = False
        covers, labels = _labels(classes, axes, self.labels)
        progress.at(1.0)
        search = Search(0, 0, False, None, clock.seconds, Sentence("least loss found"))
        return Found(classes, kept, search, covers, labels)


def _other_partitions(frequency: FrequencyTable, models: Sequence[PrivacyModel]) -> list[np.ndarray]:
    """The classes that other methods find: each row has the number of the first of its class."""
    others: list[Found] = [Mondrian(width="range").search(frequency, models)]
    if lattice_size([h.levels for h in frequency.hierarchies]) <= SMALL_LATTICE:
        with suppress(NoSolution):
            others.append(Lattice(suppression=0.0).search(frequency, models))
    return [found.classes.rows.astype(np.int64)[found.classes.class_of] for found in others if found.kept.all()]


def _numbered(class_of: np.ndarray) -> tuple[np.ndarray, int]:
    numbers, first = in_order(class_of)
    return numbers, len(first)


def _axis(hierarchy: Hierarchy, labels: str) -> Axis:
    """A column as it is joined: by its order, or along its hierarchy."""
    if labels == "tight" or hierarchy.scale is None:
        return Axis.cut(hierarchy)
    return Axis.of(replace(hierarchy, scale=None))


def _is_set(axis: Axis, labels: str) -> bool:
    """Whether classes may show sets of values: of a few categories without groups, that a label can be read back with."""
    from velado.kernels.local import WIDEST_SET

    h = axis.hierarchy
    plain = all(v is None or (v == v.strip() and v and not SET_SIGNS & set(v)) for v in h.leaves)
    return labels == "tight" and h.scale is None and h.height <= 1 and 2 < len(h.leaves) <= WIDEST_SET and plain


@dataclass(frozen=True, repr=False)
class _Solver(Discreet):
    """All that the kernels need of a table: columns in the order in which they are compared, rows, rules."""

    columns: Any
    members: Any
    rules: Any
    k: int
    is_judged: bool
    domain: int
    scales: np.ndarray

    @classmethod
    def of(
        cls,
        frequency: FrequencyTable,
        models: Sequence[PrivacyModel],
        axes: Sequence[Axis],
        weights: Mapping[str, float],
        labels: str = "tight",
    ) -> _Solver:
        """Columns whose cells cost the most come first: then sums are known to be too large early."""
        from velado.kernels import local as kernel
        from velado.kernels.measures import SIZE

        places = np.stack([axis.rank[frequency.codes[:, j]] for j, axis in enumerate(axes)], axis=1)
        scales = np.array([float(weights.get(a.hierarchy.column, 1)) for a in axes])
        spread = [len(np.unique(places[:, j])) / max(len(a.numbers), 1) * scales[j] for j, a in enumerate(axes)]
        order = np.argsort(-np.array(spread), kind="stable")
        rules = compile_rules(models, frequency.judged_columns)
        is_judged = bool((rules.kind != SIZE).any())
        none = np.zeros(frequency.rows + 1, dtype=np.int64)
        members = kernel.Members(
            np.ascontiguousarray(places[:, order].astype(np.int32)),
            frequency.counts.astype(np.int64),
            frequency.start if is_judged else none,
            frequency.values,
            frequency.value_counts,
        )
        columns = _columns([axes[j] for j in order], scales[order], labels)
        k, domain = max(smallest_class(models), 1), max(frequency.histogram_domain, 1)
        return cls(columns, members, rules, k, is_judged, domain, scales[order])

    @property
    def rows(self) -> int:
        """Distinct rows."""
        return len(self.members.counts)

    def room(self) -> Any:
        """Scratch of one thread."""
        from velado.kernels import local as kernel

        return kernel.room_for(self.domain, int(self.rules.width.max(initial=1)))

    def solve(self, begin: np.ndarray | None, progress: Progress, clock: Clock, budget: float | None) -> Any:
        """Classes that lose little; from those of another partition, if one is given."""
        from velado.kernels import local as kernel

        n, m = self.members.data.shape
        parts = kernel.Partition(
            np.zeros((n, m), dtype=np.int64),
            np.zeros((n, m), dtype=np.int64),
            np.zeros(n, dtype=np.int64),
            np.zeros(n),
            np.full(n, -1, dtype=np.int64),
            np.full(n, -1, dtype=np.int64),
            np.zeros(n, dtype=np.int64),
        )
        if begin is None:
            self._agglomerate(parts, progress.part(0.0, 0.5))
        else:
            kernel.begin_from(self.members, self.columns, parts, begin)
        lent = np.zeros(n, dtype=np.int64)
        columns = self.columns
        for number in range(PASSES):
            if budget is not None and clock.seconds > budget:
                break
            columns = self._by_marginal_loss(parts) if number == 0 else columns
            improving = progress.part(0.5 + 0.5 * number / PASSES, 0.5 + 0.5 * (number + 1) / PASSES)
            if not self._improve(columns, parts, lent, number, improving):
                break
        return parts

    def _agglomerate(self, parts: Any, progress: Progress) -> None:
        from velado.kernels import local as kernel

        n = self.rows
        near, increase, good = np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n, dtype=np.bool_)

        def join(rows: np.ndarray, room: Any) -> int:
            kernel.agglomerate(
                self.members, self.columns, parts, rows, self.rules, self.k, self.is_judged, room, near, increase, good
            )
            return len(rows)

        self._in_threads(join, self._blocks(), progress)

    def loss(self, parts: Any) -> float:
        """The geometric mean of what the columns lose (``measures.md`` §3)."""
        from velado.kernels import local as kernel

        costs = kernel.column_costs(self.columns, parts) / max(int(self.members.counts.sum()), 1)
        return float(np.log1p(costs).sum())

    def suppress(self, parts: Any, limit: int) -> np.ndarray:
        """Suppress records whose classes lose more for them than they do; which rows are suppressed."""
        from velado.kernels import local as kernel

        suppressed = np.zeros(self.rows, dtype=bool)
        if not limit:
            return suppressed
        kernel.price_anew(self.columns, parts)
        gains, room = np.zeros(self.rows), self.room()
        kernel.withdrawals(self.members, self.columns, parts, self.k, gains)
        for row in np.argsort(-gains, kind="stable"):
            if not gains[row]:
                break
            count = int(self.members.counts[row])
            if count <= limit and kernel.withdraw(self.members, self.columns, parts, row, self.rules, self.k, self.is_judged, room):
                suppressed[row] = True
                limit -= count
        return suppressed

    def _blocks(self) -> list[np.ndarray]:
        """Rows in blocks that satisfy the models: small ones are put together with the one before."""
        from velado.kernels import local as kernel

        n = self.rows
        order, begins = np.arange(n), np.zeros(n, dtype=np.bool_)
        kernel.cut_blocks(self.members, self.columns, order, BLOCK, begins)
        room = self.room()
        blocks: list[np.ndarray] = []
        waiting = np.zeros(0, dtype=np.int64)
        for block in np.split(order, np.flatnonzero(begins)[1:]):
            waiting = np.concatenate([waiting, block])
            if self._satisfies(waiting, room):
                blocks.append(waiting)
                waiting = np.zeros(0, dtype=np.int64)
        while len(waiting) and blocks:
            waiting = np.concatenate([blocks.pop(), waiting])
            if self._satisfies(waiting, room):
                break
        return [*blocks, waiting] if len(waiting) else blocks

    def _satisfies(self, rows: np.ndarray, room: Any) -> bool:
        from velado.kernels import local as kernel

        return bool(kernel.rows_satisfy(self.members, rows, self.rules, self.k, self.is_judged, room))

    def _by_marginal_loss(self, parts: Any) -> Any:
        """The columns as the geometric mean of losses counts them: a column that has lost much already counts less."""
        from velado.kernels import local as kernel

        losses = kernel.column_costs(self.columns, parts) / max(int(parts.size.sum()), 1) / np.maximum(self.scales, 1e-12)
        weights = 1 / (1 + losses)
        columns = _weighted_columns(self.columns, weights / weights.mean())
        kernel.price_anew(columns, parts)
        return columns

    def _improve(self, columns: Any, parts: Any, lent: np.ndarray, number: int, progress: Progress) -> int:
        """Move rows between classes that are near one another; how often something changed."""
        from velado.kernels import local as kernel

        alive = np.flatnonzero(parts.size)
        members = kernel.Members(
            self.members.data[parts.head[alive]],
            np.ones(len(alive), dtype=np.int64),
            np.zeros(len(alive) + 1, dtype=np.int64),
            self.members.values,
            self.members.value_counts,
        )
        # Other neighbours each time: the cuts prefer other columns.
        chance = np.random.default_rng(number).random(self.members.data.shape[1]) + 0.3
        order, begins = np.arange(len(alive)), np.zeros(len(alive), dtype=np.bool_)
        kernel.cut_blocks(members, _weighted_columns(columns, chance), order, CLASS_BLOCK, begins)
        groups = np.split(alive[order], np.flatnonzero(begins)[1:])
        free = np.array_split(np.flatnonzero(parts.size == 0), len(groups))

        def work(block: tuple[np.ndarray, np.ndarray], room: Any) -> int:
            classes, numbers = block
            common = (self.rules, self.k, self.is_judged, room)
            done = kernel.improve(self.members, columns, parts, classes, *common)
            return int(
                done + kernel.make_classes(self.members, columns, parts, classes, numbers, lent, self.rows <= SMALL, *common)
            )

        return self._in_threads(work, list(zip(groups, free, strict=True)), progress)

    def _in_threads(self, work: Callable[[Any, Any], int], blocks: Sequence[Any], progress: Progress) -> int:
        """Do the blocks, one thread per core; what they return, added up. Blocks share nothing, so any order gives the same."""
        rooms = [self.room() for _ in range(THREADS)]

        def share(thread: int) -> Iterable[int]:
            for block in blocks[thread::THREADS]:
                progress.check()
                yield work(block, rooms[thread])

        with ThreadPoolExecutor(THREADS) as pool:
            done = sum(pool.map(lambda thread: sum(share(thread)), range(THREADS)))
        progress.at(1.0)
        return done


def _columns(axes: Sequence[Axis], scales: np.ndarray, labels: str) -> Any:
    """What cells cost: (values under a label − 1) / (values of the column − 1)."""
    from velado.kernels import local as kernel

    kinds, at, up, down, missing, tree_at, groups, prices, units = [], [0], [], [], [], [0], [], [], []
    for axis, scale in zip(axes, scales, strict=True):
        leaves = len(axis.hierarchy.leaves)
        step = scale / max(leaves - 1, 1)
        kind = kernel.ORDERED if axis.is_ordered else kernel.SET if _is_set(axis, labels) else kernel.TREE
        ends = axis.ends if kind == kernel.ORDERED else np.zeros(0, dtype=np.int64)
        group = axis.groups if kind == kernel.TREE else np.zeros((0, 0), dtype=np.int64)
        kinds.append(kind)
        units.append(step)
        missing.append(_missing_place(axis, kind == kernel.ORDERED))
        up.append((ends - 1) * step)
        down.append(np.concatenate([[0], ends[:-1]])[: len(ends)] * step)
        at.append(at[-1] + len(ends))
        groups.append(group.ravel())
        sizes = [np.bincount(level)[level] for level in group]
        prices.append((np.array(sizes, dtype=float).ravel() - 1) * step)
        tree_at.append(tree_at[-1] + group.size)
    whole = np.int64
    return kernel.Columns(
        np.array(kinds, dtype=whole),
        np.array([len(a.numbers) for a in axes], dtype=whole),
        np.array(at[:-1], dtype=whole),
        np.concatenate([np.zeros(0), *up]),
        np.concatenate([np.zeros(0), *down]),
        np.array(missing, dtype=whole),
        np.array(scales, dtype=float),
        np.array(tree_at[:-1], dtype=whole),
        np.concatenate([np.zeros(0, dtype=whole), *groups]).astype(whole),
        np.concatenate([np.zeros(0), *prices]),
        np.array(units, dtype=float),
    )


def _weighted_columns(columns: Any, weights: np.ndarray) -> Any:
    """The columns with other costs: so many times as much."""
    along = np.repeat(weights, np.diff(np.append(columns.at, len(columns.up))))
    tree = np.repeat(weights, np.diff(np.append(columns.tree_at, len(columns.price))))
    return columns._replace(
        up=columns.up * along,
        down=columns.down * along,
        whole=columns.whole * weights,
        price=columns.price * tree,
        unit=columns.unit * weights,
    )


def _missing_place(axis: Axis, is_ordered: bool) -> int:
    """The place of missing values, −1 if there are none."""
    if is_ordered:
        return len(axis.values) - 1 if len(axis.values) and np.isnan(axis.values[-1]) else -1
    return int(axis.rank[axis.hierarchy.leaves.index(None)]) if None in axis.hierarchy.leaves else -1


def _labels(classes: Classes, axes: Sequence[Axis], kind: str) -> tuple[tuple[Cover, ...], np.ndarray]:
    """What the classes show; sets of values where a column has them."""
    covers, labels = labels_of(classes, axes, lambda _: "interval")
    shown = list(covers)
    for j, axis in enumerate(axes):
        if _is_set(axis, kind):
            shown[j], labels[:, j] = _sets(classes, axis.hierarchy, j)
    return tuple(shown), labels


def _sets(classes: Classes, hierarchy: Hierarchy, j: int) -> tuple[Cover, np.ndarray]:
    """The values of each class as a set, in the order of the column; ``*`` where it is all of them, or missing ones are among others."""
    bits = np.zeros(classes.count, dtype=np.int64)
    np.bitwise_or.at(bits, classes.class_of, np.int64(1) << classes.frequency.codes[:, j].astype(np.int64))
    different, number = np.unique(bits, return_inverse=True)
    leaves, every = hierarchy.leaves, list(range(len(hierarchy.leaves)))
    texts: list[Text] = []
    members, levels = [], []
    for mask in different.tolist():
        inside = [i for i in every if mask >> i & 1]
        unsaid = len(inside) > 1 and (len(inside) == len(every) or any(leaves[i] is None for i in inside))
        texts.append(
            ROOT if unsaid else leaves[inside[0]] if len(inside) == 1 else "{" + ", ".join(str(leaves[i]) for i in inside) + "}"
        )
        members.append(every if unsaid else inside)
        levels.append(hierarchy.height if unsaid else 0 if len(inside) == 1 else -1)
    ends = np.cumsum([0, *map(len, members)])
    return Cover(hierarchy, tuple(texts), np.concatenate(members), ends[:-1], ends[1:], np.array(levels)), number
