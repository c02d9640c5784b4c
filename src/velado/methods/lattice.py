"""Optimal full-domain recoding: branch and bound over the generalization lattice."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from velado.declarations import Declaration
from velado.errors import InputError
from velado.frequency import Classes, FrequencyTable
from velado.frequency.classes import LevelTables, table_capacity
from velado.methods.base import FIRST_NODES, Found, Method, Search, lattice_size, no_solution, release_of
from velado.methods.clock import Clock
from velado.methods.objectives import OBJECTIVES, compile_objective, value_of
from velado.methods.suppression import SUPPRESSION, Suppression, suppression_limit
from velado.models import PrivacyModel, compile_rules, judge_classes, single_models, smallest_class, whole_models
from velado.parameters import FLAG, Choice, Number
from velado.progress import Progress
from velado.sentences import Sentence

AT_ONCE = 100_000
"""Nodes that are begun in one piece: less than half a second."""
MOST_NODES = 20_000_000
FIRST_QUOTA = 64
STORED_ROWS = 8_000_000
DENSE_VALUES = 64
WORTH_CLIMBING = 6
"""A climb costs about as much as sweeping this many nodes."""
THREADS = max(1, min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1))


@dataclass(frozen=True)
class Lattice(Method):
    """The globally optimal node, with proof.

    Minimises the objective over all nodes whose suppressed records stay within ``suppression``·N.
    Among equal optima: the smallest sum of levels, then the lexicographically smallest vector.
    With a ``budget`` in seconds, the best node found and a proven gap. ``minimal`` also lists all
    minimal nodes: those that satisfy the models while no finer node does (k-minimal
    generalizations, Samarati 2001). See `velado.kernels.lattice` for the search.
    """

    suppression: Suppression = 1.0
    objective: str = "loss"
    budget: float | None = None
    minimal: bool = False
    name: ClassVar[str] = "lattice"
    declaration: ClassVar = Declaration(
        title="lattice: optimal full-domain recoding",
        meaning="The levels that lose least of all that satisfy the models, with proof; classes that violate them are suppressed.",
        example={"suppression": 0.05},
    )
    proves: ClassVar[bool] = True
    parameters: ClassVar = {
        "suppression": SUPPRESSION,
        "objective": Choice("what to minimise (precision: to maximise)", tuple(OBJECTIVES)),
        "budget": Number(
            "seconds after which the best node found is returned", low=0, low_open=True, optional=True, unit="s", expert=True
        ),
        "minimal": Choice("list all minimal nodes as well", FLAG, expert=True),
    }

    def search(self, frequency: FrequencyTable, models: Sequence[PrivacyModel], progress: Progress | None = None) -> Found:
        """Search all nodes."""
        progress = progress or Progress()
        progress.at(0.0)
        clock = Clock()
        space = Space(frequency, models, self.objective, self.suppression, progress)
        listing = progress.part(0.5, 1.0)
        proven, evaluated, bound = space.run(self.budget, progress.part(0.0, 0.5) if self.minimal else progress)
        node = space.best_node()
        if node is None:
            if proven:
                raise no_solution(frequency, models, self.suppression)
            raise InputError(
                "budget-too-small",
                Sentence("no node was found within the budget of {budget} s", budget=self.budget),
                hint="Raise the budget, or use the method datafly.",
            )
        value = space.value(node)
        left = None if self.budget is None else self.budget - clock.seconds
        minimal = space.minimal_nodes(listing, left) if self.minimal else ()
        search = Search(
            nodes=space.nodes,
            evaluated=evaluated,
            proven_optimal=proven,
            gap=0.0 if proven else max(0.0, value - bound),
            seconds=clock.seconds,
            objective=self.objective,
            value=value,
        )
        progress.at(1.0)
        return release_of(frequency, models, space.levels(node), search, minimal=minimal)


class Space:
    """The lattice of a frequency table as the kernels see it."""

    def __init__(
        self,
        frequency: FrequencyTable,
        models: Sequence[PrivacyModel],
        objective: str = "loss",
        suppression: Suppression = 1.0,
        progress: Progress | None = None,
    ) -> None:
        from velado.kernels import lattice as kernel
        from velado.kernels.measures import SIZE

        self.kernel = kernel
        self.shape = tuple(h.levels for h in frequency.hierarchies)
        self.nodes = lattice_size(self.shape)
        if self.nodes > MOST_NODES:
            raise too_large(self.nodes, MOST_NODES, "Take fewer quasi-identifiers or levels, or use the method datafly.")
        self.limit = suppression_limit(suppression, frequency.records)
        tables = LevelTables.of(frequency)
        self.tables = kernel_tables(frequency, tables)
        self.models = tuple(models)
        self.rules = compile_rules(single_models(models), frequency.judged_columns)
        # The kernels judge single classes: what models of the whole leave out is found here, node by node.
        self.whole = whole_models(models)
        self.judged = np.zeros(self.nodes if self.whole else 0, dtype=bool)
        self.inherited = all(m.is_hereditary for m in models)
        self.measure = objective
        self.objective = compile_objective(objective, frequency, tables, smallest_class(models), self.limit)
        self.frequency = frequency
        self.histograms = bool((self.rules.kind != SIZE).any())
        self.state, self.scratch = work_arrays(kernel, frequency, self.rules, self.nodes, self.histograms)
        for first in range(0, self.nodes, AT_ONCE):
            if progress is not None:
                progress.check()
            kernel.start_search(self.tables, self.objective, self.state, first, min(first + AT_ONCE, self.nodes))

    def run(self, budget: float | None, progress: Progress) -> tuple[bool, int, float]:
        """Search until the optimum is proven or time is up; return (proven, evaluated, lower bound)."""
        deadline = None if budget is None else time.perf_counter() + budget
        if self.whole:
            done = self._judge_whole(deadline, progress)
            return done, int(self.judged.sum()), self._lower_bound()
        # A kernel may be at work when time is up.
        timer = None if budget is None else threading.Timer(budget, _stop, [self.state])
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            # So may it be when somebody cancels.
            with progress.interrupting(lambda: _stop(self.state)):
                proven = self._climb(deadline, progress)
        finally:
            if timer is not None:
                timer.cancel()
        if proven is None:
            proven = self.sweep(deadline, progress)
        evaluated = int(np.count_nonzero(~np.isnan(self.state.value)))
        return proven, evaluated, self._lower_bound()

    def _judge_whole(self, deadline: float | None, progress: Progress) -> bool:
        """Best first by the bounds of single classes, each node then judged as a whole; whether all were done in time.

        Suppressing more never lowers an objective, so what holds for single classes bounds the whole.
        """
        order = np.argsort(self.state.lower, kind="stable")
        for done, node in enumerate(order.tolist()):
            best = float(self.state.best.min())
            if self.state.lower[node] > best + self.kernel.TIE * max(1.0, abs(best)):
                self.state.closed[:] = True
                return True
            if deadline is not None and time.perf_counter() >= deadline:
                return False
            if done % 16 == 0:
                progress.at(done, self.nodes)
            self.evaluate(node)
        return True

    def _whole_value(self, node: int) -> float:
        """The objective of a node that single models allow, as the models of the whole leave it; infinite if they do not."""
        levels = self.levels(node)
        classes = Classes.at_levels(self.frequency, levels)
        kept, _ = judge_classes(self.models, self.frequency.judged_columns, classes)
        suppressed = int(classes.sizes[~kept].sum())
        if self.inherited and self.shape:
            finer = self.state.suppressed.reshape(self.shape)[tuple(slice(0, x + 1) for x in levels)]
            np.maximum(finer, suppressed, out=finer)
        if not kept.any() or suppressed > self.limit:
            return np.inf
        return value_of(self.measure, classes, kept)

    def _climb(self, deadline: float | None, progress: Progress) -> bool | None:
        """Whether the optimum is proven; None if climbing closes so few nodes that a sweep is cheaper."""
        ready = self.kernel.climb_nodes.ready
        quota, still_open = FIRST_QUOTA if ready() else FIRST_NODES, self.nodes
        while True:
            began = time.perf_counter()
            done = self.kernel.climb_nodes(self.tables, self.rules, self.objective, self.state, self.scratch, quota)
            progress.check()
            now = time.perf_counter()
            if done or (deadline is not None and now >= deadline):
                return bool(done)
            before, still_open = still_open, self._still_open()
            if before - still_open < WORTH_CLIMBING * quota:
                return None
            progress.at(int(np.count_nonzero(self.state.closed)), self.nodes)
            # Come back often enough for progress and the deadline, not so often that it costs.
            wanted = 0.05 if ready() else 0.5
            if deadline is not None:
                wanted = min(wanted, max(deadline - now, 0.001))
            quota = max(1, min(4 * quota, int(quota * wanted / max(now - began, 1e-6))))

    def sweep(self, deadline: float | None, progress: Progress) -> bool:
        """Evaluate the open nodes range by range, one thread per core; whether all were done in time.

        Coarse ranges come first: what they must suppress closes finer nodes before their turn. A thread
        that does not see another's finding yet only evaluates more than it had to.
        """
        workers = [self._worker(i) for i in range(THREADS)]
        closed = int(np.count_nonzero(self.state.closed))

        def work(worker: tuple[Any, Any], first: int, last: int) -> bool:
            return bool(self.kernel.sweep_nodes(self.tables, self.rules, self.objective, *worker, first, last))

        done = in_ranges(self.nodes, workers, work, progress.part(closed / self.nodes, 1.0), deadline)
        # The stack has overwritten the stored bases: from here on, group from the frequency table.
        self.state.base[:] = 0
        self.state.integers[self.kernel.BASES] = 1
        self.state.integers[self.kernel.ROWS_USED] = self.state.base_rows[0]
        self.state.integers[self.kernel.ENTRIES_USED] = self.state.base_entries[1]
        return done

    def _worker(self, number: int) -> tuple[Any, Any]:
        """State and scratch of a thread: what is known of the nodes is shared, the stack is its own."""
        if number == 0:
            return self.state, self.scratch
        own, scratch = work_arrays(self.kernel, self.frequency, self.rules, 0, self.histograms)
        own.integers[self.kernel.WORKER] = number
        shared = ("lower", "key", "bound_for", "suppressed", "finer", "closed", "value", "base", "heap", "best")
        return own._replace(**{name: getattr(self.state, name) for name in shared}), scratch

    def _still_open(self) -> int:
        return int(np.count_nonzero(~self.state.closed & (self.state.lower <= self.state.best.min())))

    def _lower_bound(self) -> float:
        """No node can be better than this."""
        best = float(self.state.best.min())
        open_nodes = ~self.state.closed
        return min(best, float(self.state.lower[open_nodes].min())) if open_nodes.any() else best

    def levels(self, node: int) -> tuple[int, ...]:
        """Level vector of a node number."""
        return tuple(int(x) for x in np.unravel_index(node, self.shape)) if self.shape else ()

    def value(self, node: int) -> float:
        """The objective at an evaluated node."""
        return float(self.state.value[node])

    def usable(self, levels: Sequence[int]) -> bool:
        """Whether the node with these levels satisfies the models within the suppression limit."""
        return self.evaluate(int(np.ravel_multi_index(tuple(levels), self.shape)) if self.shape else 0)

    def best_node(self) -> int | None:
        """The best node evaluated, ties broken by sum of levels, then lexicographically."""
        best = float(self.state.best.min())
        if not np.isfinite(best):
            return None
        tied = np.flatnonzero(self.state.value <= best + self.kernel.TIE * max(1.0, abs(best)))
        return min(tied.tolist(), key=lambda node: (sum(self.levels(node)), node))

    def evaluate(self, node: int) -> bool:
        """Whether a node is usable, evaluating it if need be."""
        if self.state.suppressed[node] > self.limit:
            return False
        if np.isnan(self.state.value[node]):
            best = float(self.state.best.min())
            self.kernel.evaluate_node(self.tables, self.rules, self.objective, self.state, self.scratch, node)
            if self.whole:
                value = float(self.state.value[node])
                value = self._whole_value(node) if np.isfinite(value) else value
                self.judged[node], self.state.closed[node], self.state.value[node] = True, True, value
                self.state.best[:] = min(best, value)
        return bool(np.isfinite(self.state.value[node]))

    def minimal_nodes(self, progress: Progress | None = None, budget: float | None = None) -> tuple[tuple[int, ...], ...]:
        """All usable nodes below which no node is usable, by sum of levels, then lexicographically.

        Nodes that must suppress too much (known from coarser ones) are never grouped. None are listed where the
        seconds of ``budget`` do not suffice for all.
        """
        progress = progress or Progress()
        deadline = None if budget is None else time.perf_counter() + budget
        heights = np.indices(self.shape).reshape(len(self.shape), -1).sum(axis=0)
        above = np.zeros(self.shape, dtype=bool)
        minimal = []
        order = np.argsort(heights, kind="stable")
        for done, node in enumerate(order):
            if deadline is not None and done % 16 == 0 and time.perf_counter() >= deadline:
                return ()
            progress.check()
            if done % 4096 == 0:
                progress.at(done, self.nodes)
            levels = self.levels(int(node))
            if above[levels] or self.state.suppressed[node] > self.limit:
                continue
            if self.evaluate(int(node)):
                minimal.append(levels)
                above[tuple(slice(x, None) for x in levels)] = True
        return tuple(minimal)


def _stop(state: Any) -> None:
    """Ask the kernel that works on a state to return."""
    from velado.kernels.lattice import STOP

    state.integers[STOP] = 1


def in_ranges(
    nodes: int,
    workers: Sequence[tuple[Any, Any]],
    work: Callable[[tuple[Any, Any], int, int], bool],
    progress: Progress,
    deadline: float | None = None,
) -> bool:
    """Work through all nodes range by range, coarse ranges first, one thread per worker; whether all were done in time.

    A worker is the state and scratch of a thread; ``work`` says whether it came to the end of a range.
    """
    length = min(4096, -(-nodes // 32))
    ranges = [(first, min(first + length, nodes)) for first in range(0, nodes, length)]
    waiting = queue.SimpleQueue[tuple[int, int]]()
    for piece in reversed(ranges):
        waiting.put(piece)

    def take(worker: tuple[Any, Any]) -> bool:
        while True:
            try:
                first, last = waiting.get_nowait()
            except queue.Empty:
                return True
            if not work(worker, first, last):
                return False

    with ThreadPoolExecutor(len(workers)) as pool:
        running = [pool.submit(take, worker) for worker in workers]
        try:
            while wait(running, timeout=0.1).not_done:
                progress.at(nodes * (1 - waiting.qsize() / len(ranges)), nodes)
                if deadline is not None and time.perf_counter() >= deadline:
                    break
        finally:
            for state, _ in workers:
                _stop(state)
    results = [task.result() for task in running]
    return all(results)


def too_large(nodes: int, most: int, hint: str) -> InputError:
    """The error for a lattice of more nodes than can be dealt with."""
    shown = Sentence("{nodes:,}", nodes=nodes) if nodes < 10**15 else Sentence("more than 10^15")
    return InputError(
        "lattice-too-large", Sentence("the lattice has {nodes} nodes, more than {most:,}", nodes=shown, most=most), hint=hint
    )


def kernel_tables(frequency: FrequencyTable, tables: LevelTables) -> Any:
    """Frequency table and lattice as the kernels see them."""
    from velado.kernels.lattice import Tables

    depth = [h.levels for h in frequency.hierarchies]
    return Tables(
        cells=tables.cells,
        maps=tables.maps,
        first=tables.first,
        radix=tables.radix,
        depth=np.array(depth, dtype=np.int64),
        strides=np.array([int(np.prod(depth[j + 1 :], dtype=np.int64)) for j in range(len(depth))], dtype=np.int64),
        # Columns with few leaves vary fastest: generalizing them merges few rows, so a node's
        # ancestor on the stack is hardly larger than the node.
        sweep=np.argsort([-np.count_nonzero(r) for r in frequency.leaf_records], kind="stable"),
        histogram_domain=max(frequency.histogram_domain, 1),
        records=frequency.records,
    )


def work_arrays(kernel: Any, frequency: FrequencyTable, rules: Any, nodes: int, histograms: bool) -> tuple[Any, Any]:
    """State and scratch of a search; without nodes, those of one more thread."""
    n = frequency.rows
    domain = frequency.histogram_domain if histograms else 0
    # Counts need not be records (`measures.MASS`), so their own totals must fit.
    largest = np.bincount(frequency.values, weights=frequency.value_counts, minlength=1).max()
    dense = 0 < domain <= DENSE_VALUES and largest < 2**31
    # Rows of eight values are added in one instruction.
    width = -(-domain // 8) * 8
    sparse = histograms and not dense
    entries = len(frequency.values) if sparse else 0
    bases = 4098
    room = n + max(2 * n, min(256 * n, STORED_ROWS))
    room_entries = entries + min(256 * entries, STORED_ROWS)
    state = kernel.Search(
        lower=np.empty(nodes),
        key=np.empty(nodes),
        bound_for=np.empty(nodes, dtype=np.int64),
        suppressed=np.zeros(nodes, dtype=np.int64),
        finer=np.zeros(nodes),
        closed=np.zeros(nodes, dtype=np.bool_),
        tried=np.zeros(nodes, dtype=np.bool_),
        value=np.empty(nodes),
        base=np.zeros(nodes, dtype=np.int32),
        heap=np.empty(nodes + 1, dtype=np.int64),
        base_first=np.zeros(bases, dtype=np.int64),
        base_rows=np.zeros(bases, dtype=np.int64),
        base_entries=np.full(bases, entries, dtype=np.int64),
        base_node=np.zeros(bases, dtype=np.int64),
        rows=np.empty(room, dtype=np.uint32),
        sizes=np.empty(room, dtype=np.int64),
        dense=np.empty((room, width) if dense else (0, 0), dtype=np.int32),
        start=np.empty(room + bases + 1 if sparse else 0, dtype=np.int64),
        values=np.empty(room_entries, dtype=np.int32),
        counts=np.empty(room_entries, dtype=np.int64),
        integers=np.zeros(7, dtype=np.int64),
        best=np.full(THREADS, np.inf),
    )
    state.rows[:n] = np.arange(n)
    state.sizes[:n] = frequency.counts
    state.base_rows[0] = n
    state.base_entries[0] = 0
    if dense:
        state.dense[:n] = 0
        of_entry = np.repeat(np.arange(n), np.diff(frequency.start))
        state.dense[of_entry, frequency.values] = frequency.value_counts
    if sparse:
        state.start[: n + 1] = frequency.start
        state.values[:entries] = frequency.values
        state.counts[:entries] = frequency.value_counts
    state.integers[kernel.BASES] = 1
    state.integers[kernel.ROWS_USED] = n
    state.integers[kernel.ENTRIES_USED] = entries
    capacity = table_capacity(n)
    most_entries = n * width if dense else entries
    leaves = sum(len(h.leaves) for h in frequency.hierarchies)
    widest = int(rules.width.max(initial=0))
    scratch = kernel.Scratch(
        keys=np.empty(n, dtype=np.int64),
        table_keys=np.empty(capacity, dtype=np.int64),
        table_ids=np.full(capacity, -1, dtype=np.int32),
        ids=np.empty(n, dtype=np.int32),
        starts=np.empty(n + 1, dtype=np.int64),
        order=np.empty(n, dtype=np.int64),
        totals=np.zeros(max(domain, 1), dtype=np.int64),
        touched=np.empty(max(domain, 1), dtype=np.int64),
        class_start=np.zeros(n + 1, dtype=np.int64),
        class_values=np.empty(most_entries + 1, dtype=np.int32),
        class_counts=np.empty(most_entries + 1, dtype=np.int64),
        figures=np.empty(n),
        satisfied=np.empty(n, dtype=np.bool_),
        keepable=np.empty(n, dtype=np.int64),
        column_cost=np.empty(len(frequency.hierarchies)),
        price=np.empty(leaves),
        digits=np.empty(leaves, dtype=np.int64),
        box=np.empty((2, len(frequency.hierarchies)), dtype=np.int64),
        buffer=np.empty(widest, dtype=np.int64),
        reals=np.empty((3, widest + 1)),
    )
    return state, scratch
