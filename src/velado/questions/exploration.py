"""What an exploration of the generalization lattice found: every node, paths between nodes, the classes of one node."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from velado.errors import InputError, suggest
from velado.evaluation import ClassFigures, class_figures
from velado.frequency import Classes, FrequencyTable
from velado.models import PrivacyModel, judge_classes
from velado.release.people import Membership, different
from velado.results import UNSAID, Discreet, Result, encode
from velado.sentences import Sentence, join_sentences

Levels = tuple[int, ...]
Status = Literal["optimal", "minimal", "satisfying", "over-limit", "failing"]
STATUSES: tuple[Status, ...] = ("optimal", "minimal", "satisfying", "over-limit", "failing")
"""Best first; the number of a status is its place here."""
AT_ONCE = 8192
"""Nodes that are turned into Python's numbers in one piece."""
PLAIN = (
    "objective",
    "loss",
    "suppressed",
    "share",
    "classes",
    "smallest",
    "largest",
    "average",
    "k",
    "highest_risk",
    "average_risk",
)
"""Figures that every node has, in the order in which they are listed."""
SORTS = ("status", "levels", "height", *PLAIN)


@dataclass(frozen=True, repr=False)
class Node(Discreet):
    """A node of the generalization lattice: the level of every quasi-identifier, and what a release at them would be.

    ``status``: optimal (the smallest objective of all that satisfy), minimal (satisfies, and no finer node does),
    satisfying, over-limit (the models can only be met by suppressing more records than allowed) or failing (no class
    satisfies them). The optimal node may be ``minimal``, too. ``suppressed`` records (their ``share``) are in classes that
    violate; ``classes``, ``smallest``, ``largest``, ``average`` and the risks are about what is left, and so is
    ``achieved``: by model, what the worst released class has. ``reached`` is the same of all classes, before any is
    suppressed, and ``k`` the smallest of these.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("levels", "status")
    levels: Levels
    height: int
    status: Status
    minimal: bool
    objective: float | None
    loss: float | None
    suppressed: int
    share: float
    classes: int
    smallest: int | None
    largest: int | None
    average: float | None
    k: int
    highest_risk: float | None
    average_risk: float | None
    achieved: dict[str, float | None]
    reached: dict[str, float | None]


@dataclass(frozen=True, repr=False)
class Path(Discreet):
    """A shortest way between two nodes: one column moves by one level at each step.

    ``vector`` is the distance vector: how far each column moves, upwards if positive. The literature has it for nodes of
    which one generalizes the other (``comparable``). ``paths`` counts all shortest ways; ``nodes`` is one of them, both ends
    included: columns rise in their order, then fall.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("start", "end", "vector")
    start: Levels
    end: Levels
    vector: Levels
    length: int
    comparable: bool
    paths: int
    nodes: tuple[Levels, ...]


def path_between(start: Levels, end: Levels) -> Path:
    """The shortest way from one level vector to another.

    >>> path_between((0, 0), (1, 2)).nodes
    ((0, 0), (1, 0), (1, 1), (1, 2))
    >>> path_between((0, 0), (1, 2)).paths
    3
    """
    vector = tuple(b - a for a, b in zip(start, end, strict=True))
    ways = math.factorial(sum(map(abs, vector)))
    for x in vector:
        ways //= math.factorial(abs(x))
    at, nodes = list(start), [start]
    for sign in (1, -1):
        for j, x in enumerate(vector):
            for _ in range(max(0, sign * x)):
                at[j] += sign
                nodes.append(tuple(at))
    comparable = all(x >= 0 for x in vector) or all(x <= 0 for x in vector)
    return Path(start, end, vector, len(nodes) - 1, comparable, ways, tuple(nodes))


@dataclass(frozen=True, repr=False)
class NodeClasses(Discreet):
    """One node with its classes: which are ``released``, and the figures of each (see `ClassFigures`)."""

    node: Node
    columns: tuple[str, ...]
    released: np.ndarray
    classes: ClassFigures

    def summary(self) -> Mapping[str, Any]:
        """Levels, status, and how many classes there are and are released."""
        shown = {"levels": self.node.levels, "status": self.node.status, "classes": len(self.classes)}
        return {**shown, "released": int(self.released.sum())}

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        released = self.released.tolist()
        rows = [{**row, "released": kept} for row, kept in zip(self.classes.rows(), released, strict=True)]
        return {"columns": list(self.columns), "node": encode(self.node), "l": self.classes.l, "classes": rows}


@dataclass(frozen=True, repr=False)
class Asked(Discreet):
    """A model that was asked for, and the names of its figures at every node."""

    NAMES: ClassVar[tuple[str, ...]] = ("name",)
    name: str
    required: dict[str, Any]
    tells: tuple[str, ...]


@dataclass(frozen=True)
class ExplorationDocument:
    """The JSON of an exploration."""

    project: str
    columns: tuple[str, ...]
    levels: tuple[int, ...]
    rows: int
    limit: int
    objective: str
    person: str | None
    models: tuple[Asked, ...]
    counts: dict[str, int]
    nodes: tuple[Node, ...]


@dataclass(frozen=True, repr=False, eq=False)
class Exploration(Result):
    """Every node of the generalization lattice of a project's quasi-identifiers.

    ``levels`` is how many each column has, ``rows`` the records, of which at most ``limit`` may be suppressed. Figures are
    kept as arrays, an element for each node in lexicographic order of the level vectors (`arrays`). Where ``person`` may have
    several rows, people are counted as the search counts them: classes have no fewer, and no risk is higher. All of this is
    for the owner of the table: it tells of suppressed people.
    """

    SCHEMA: ClassVar[str] = "velado-exploration-1"
    DOCUMENT: ClassVar[Any] = ExplorationDocument
    project: str
    columns: tuple[str, ...]
    levels: tuple[int, ...]
    rows: int
    limit: int
    objective: str
    person: str | None
    models: tuple[Asked, ...]
    status: np.ndarray
    minimal: np.ndarray
    measured: Mapping[str, np.ndarray]
    whole: frozenset[str]
    frequency: FrequencyTable | None = field(default=None, metadata=UNSAID)
    judged: tuple[PrivacyModel, ...] = field(default=(), metadata=UNSAID)
    members: Membership | None = field(default=None, metadata=UNSAID)

    def __post_init__(self) -> None:
        for array in (self.status, self.minimal, *self.measured.values()):
            array.setflags(write=False)

    def __len__(self) -> int:
        """How many nodes there are."""
        return len(self.status)

    def summary(self) -> Mapping[str, Any]:
        """The lattice, how many nodes have which status, and the optimal one."""
        best = self.optimal
        found = {} if best is None else {"optimal": list(best.levels), "loss": best.loss, "suppressed": best.suppressed}
        counted = {name.replace("-", "_"): n for name, n in self.counts.items() if name != "optimal"}
        return {"columns": len(self.columns), "nodes": len(self), "rows": self.rows, **counted, **found}

    @property
    def counts(self) -> dict[str, int]:
        """How many nodes `node_numbers` finds for each status: satisfying ones include the minimal and the optimal one."""
        return {name: int(np.count_nonzero(self._having(name))) for name in STATUSES}

    @property
    def optimal(self) -> Node | None:
        """The satisfying node with the smallest objective, as the method lattice finds it."""
        return next(self.nodes(status="optimal"), None)

    def at(self, levels: Sequence[int] | Mapping[str, int]) -> Node:
        """The node of a level vector."""
        return next(self.iter_nodes(np.array([self._number(levels)])))

    def node(self, levels: Sequence[int] | Mapping[str, int], l: int = 2) -> NodeClasses:  # noqa: E741
        """A node with its classes; ``l`` is the ℓ of the recursive c."""
        node = self.at(levels)
        if self.frequency is None:
            raise InputError(
                "no-classes",
                "an exploration that was read back has no classes",
                hint="Explore the project again: the classes of a node are counted in its table.",
            )
        classes = Classes.at_levels(self.frequency, node.levels)
        released, _ = judge_classes(self.judged, self.frequency.judged_columns, classes)
        people = None
        if self.members is not None:
            people = different(classes.class_of[self.members.rows], self.members.people, classes.count)
        figures = class_figures(classes, *classes.labels_at(node.levels), order=l, people=people)
        return NodeClasses(node, self.columns, released, figures)

    def nodes(self, *, status: str | Sequence[str] | None = None, sort: str = "levels", top: int | None = None) -> Iterator[Node]:
        """The nodes one by one; see `node_numbers`."""
        return self.iter_nodes(self.node_numbers(status=status, sort=sort, top=top))

    def node_numbers(
        self, *, status: str | Sequence[str] | None = None, sort: str = "levels", top: int | None = None
    ) -> np.ndarray:
        """The numbers of the nodes with a status (or one of several), in order; at most ``top``.

        Satisfying nodes include the minimal ones and the optimal one. Nodes without the figure by which they are sorted
        come last, ties by objective, height and level vector.
        """
        wanted = [status] if isinstance(status, str) else list(status or ())
        for word, known in (*((w, STATUSES) for w in wanted), (sort, SORTS)):
            if word not in known:
                raise InputError(
                    "bad-option", Sentence("'{word}' is none of: {known}", word=word, known=list(known)), hint=suggest(word, known)
                )
        numbers = np.arange(len(self))
        if wanted:
            numbers = numbers[np.logical_or.reduce([self._having(word) for word in wanted])]
        if sort != "levels":
            keys = (self.measured["objective"][numbers], self.heights[numbers])
            first = {"status": self.status, "height": self.heights}.get(sort)
            first = (self.measured[sort] if first is None else first)[numbers]
            numbers = numbers[np.lexsort((numbers, keys[1], keys[0], first))]
        return numbers if top is None else numbers[:top]

    def _having(self, status: str) -> np.ndarray:
        if status == "minimal":
            return self.minimal
        number = STATUSES.index(status)
        return np.asarray(self.status <= number if status == "satisfying" else self.status == number)

    @property
    def heights(self) -> np.ndarray:
        """The sum of the levels of every node."""
        return np.asarray(np.sum(self._vectors(np.arange(len(self))), axis=0, dtype=np.int64))

    def _vectors(self, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(np.unravel_index(numbers, self.levels))

    def header(self) -> list[str]:
        """Names of the cells of `lines`."""
        return [*(f"level({c})" for c in self.columns), "height", "status", "minimal", *self.measured]

    def lines(self, numbers: np.ndarray) -> Iterator[tuple[Any, ...]]:
        """Nodes as plain values, in the order of `header`; made piece by piece, so that memory stays bounded."""
        for first in range(0, len(numbers), AT_ONCE):
            part = numbers[first : first + AT_ONCE]
            vectors = self._vectors(part)
            words = [STATUSES[i] for i in self.status[part].tolist()]
            height = np.add.reduce(vectors).tolist()
            figures = (_plain(array[part], name in self.whole) for name, array in self.measured.items())
            yield from zip(*(v.tolist() for v in vectors), height, words, self.minimal[part].tolist(), *figures, strict=True)

    def iter_nodes(self, numbers: np.ndarray) -> Iterator[Node]:
        """Nodes by their numbers, as `node_numbers` gives them."""
        width, plain = len(self.columns), len(PLAIN)
        keys = [key for model in self.models for key in model.tells]
        for line in self.lines(numbers):
            rest = line[width + 3 + plain :]
            achieved, reached = (dict(zip(keys, part, strict=True)) for part in (rest[: len(keys)], rest[len(keys) :]))
            cells: dict[str, Any] = dict(zip(("height", "status", "minimal", *PLAIN), line[width:], strict=False))
            yield Node(levels=line[:width], **cells, achieved=achieved, reached=reached)

    def predecessors(self, levels: Sequence[int] | Mapping[str, int]) -> tuple[Levels, ...]:
        """The nodes right below: one column one level finer."""
        return self._beside(levels, -1)

    def successors(self, levels: Sequence[int] | Mapping[str, int]) -> tuple[Levels, ...]:
        """The nodes right above: one column one level coarser."""
        return self._beside(levels, 1)

    def _beside(self, levels: Sequence[int] | Mapping[str, int], step: int) -> tuple[Levels, ...]:
        at = self.vector(levels)
        moved = (tuple(x + step * (i == j) for i, x in enumerate(at)) for j in range(len(at)))
        return tuple(v for v in moved if all(0 <= x < n for x, n in zip(v, self.levels, strict=True)))

    def path(self, start: Sequence[int] | Mapping[str, int], end: Sequence[int] | Mapping[str, int]) -> Path:
        """A shortest way between two nodes, with their distance vector."""
        return path_between(self.vector(start), self.vector(end))

    def distance(self, end: Sequence[int] | Mapping[str, int], start: Sequence[int] | Mapping[str, int] | None = None) -> Levels:
        """The distance vector to a node, from the bottom of the lattice unless another ``start`` is given."""
        return self.path([0] * len(self.columns) if start is None else start, end).vector

    def vector(self, levels: Sequence[int] | Mapping[str, int]) -> Levels:
        """A level vector of the lattice; a mapping names the columns, those left out are at level 0."""
        if isinstance(levels, Mapping):
            unknown = [c for c in levels if c not in self.columns]
            if unknown:
                raise InputError(
                    "bad-node",
                    "the lattice has no such quasi-identifier",
                    column=unknown[0],
                    hint=suggest(str(unknown[0]), self.columns),
                )
            levels = [levels.get(c, 0) for c in self.columns]
        whole = all(isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in levels)
        if not whole or len(levels) != len(self.columns) or any(not 0 <= x < n for x, n in zip(levels, self.levels, strict=True)):
            ranges = [
                Sentence("{column} 0 to {high}", column=c, high=n - 1) for c, n in zip(self.columns, self.levels, strict=True)
            ]
            raise InputError(
                "bad-node",
                Sentence("the lattice has no node {levels}", levels=format_levels(levels)),
                hint=Sentence("A node has the level of each column: {ranges}.", ranges=join_sentences(", ", ranges)),
            )
        return tuple(int(x) for x in levels)

    def _number(self, levels: Sequence[int] | Mapping[str, int]) -> int:
        return int(np.ravel_multi_index(self.vector(levels), self.levels))

    def arrays(self) -> dict[str, np.ndarray]:
        """All nodes as arrays: the columns of `header`, statuses as their numbers in `STATUSES`, all read-only."""
        vectors = self._vectors(np.arange(len(self)))
        found = {f"level({c})": v.astype(np.int16) for c, v in zip(self.columns, vectors, strict=True)}
        found |= {"height": self.heights.astype(np.int32), "status": self.status, "minimal": self.minimal}
        found |= self.measured
        for array in found.values():
            array.setflags(write=False)
        return found

    def head(self) -> dict[str, Any]:
        """The JSON without its nodes."""
        known = ExplorationDocument(
            self.project,
            self.columns,
            self.levels,
            self.rows,
            self.limit,
            self.objective,
            self.person,
            self.models,
            self.counts,
            (),
        )
        said = encode(known)
        del said["nodes"]
        return {"schema": self.SCHEMA, **said}

    def document(self) -> ExplorationDocument:
        """With every node as an object of its own."""
        return ExplorationDocument(
            self.project,
            self.columns,
            self.levels,
            self.rows,
            self.limit,
            self.objective,
            self.person,
            self.models,
            self.counts,
            tuple(self.nodes()),
        )

    @classmethod
    def from_document(cls, document: Any) -> Exploration:
        """The nodes as arrays again."""
        d: ExplorationDocument = document
        keys = [key for model in d.models for key in model.tells]
        if len(d.nodes) != math.prod(d.levels) or [n.levels for n in d.nodes] != list(np.ndindex(*d.levels)):
            raise InputError(
                "not-a-result",
                "an exploration has every node of its lattice, in order",
                hint="The JSON of a command that left nodes out (--status, --top, --sort) cannot be read back.",
            )
        columns: dict[str, list[Any]] = {name: [getattr(n, name) for n in d.nodes] for name in PLAIN}
        columns |= {f"achieved({key})": [n.achieved[key] for n in d.nodes] for key in keys}
        columns |= {f"reached({key})": [n.reached[key] for n in d.nodes] for key in keys}
        whole = frozenset(name for name, cells in columns.items() if all(x is None or isinstance(x, int) for x in cells))
        return cls(
            d.project,
            d.columns,
            d.levels,
            d.rows,
            d.limit,
            d.objective,
            d.person,
            d.models,
            np.array([STATUSES.index(n.status) for n in d.nodes], dtype=np.int8),
            np.array([n.minimal for n in d.nodes], dtype=bool),
            {name: np.array([np.nan if x is None else x for x in cells]) for name, cells in columns.items()},
            whole,
        )


def format_levels(levels: Sequence[Any]) -> str:
    """A level vector for people.

    >>> format_levels((1, 0, 2))
    '[1,0,2]'
    """
    return "[" + ",".join(map(str, levels)) + "]"


def _plain(array: np.ndarray, whole: bool) -> list[Any]:
    """Python's numbers; None for NaN."""
    if array.dtype.kind != "f":
        return list(array.tolist())
    return [None if x != x else int(x) if whole else x for x in array.tolist()]
