"""What every engine does, and nothing else: open tables, count, recode and write them where they live, publish at once.

An engine knows nothing of privacy. Above this room the only tables are `Table`, and nobody knows where they live.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from velado.errors import InputError
from velado.progress import Progress
from velado.results import Discreet
from velado.sentences import Sentence
from velado.tables.counts import Counts, Groups
from velado.tables.files import digest_of
from velado.tables.formats.csv import Dialect
from velado.tables.header import Header
from velado.tables.kinds import in_kind_of
from velado.tables.listing import Listed, Place
from velado.tables.plan import Plan, Translation
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.source import Source
from velado.tables.types import ColumnType, Field
from velado.values import Text

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


class Capability(Enum):
    """What not every engine can do. What is not declared raises `engine-cannot`."""

    ORDERED = Sentence("keep the order of the rows")
    SPLIT = Sentence("cut a table that is larger than memory")
    ROW_NOISE = Sentence("add noise that a seed and the place of the row fix")
    ATOMIC_MANY = Sentence("publish several tables at one moment")
    INTERRUPT = Sentence("stop in the middle of a statement")
    SPREAD = Sentence("cut and solve a table in many parts at once where it lives")


class Resource(ABC):
    """Something that must be let go of: a ``with`` block does it at its end."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything that it holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class Identity(ABC):
    """Which table was read, so that a change during a run is noticed."""

    @abstractmethod
    def check(self) -> None:
        """Raise `source-changed` if the source is not what it was when it was opened."""

    @abstractmethod
    def digest(self) -> str:
        """What tells the input from every other: SHA-256 of its bytes, or the name of a snapshot."""


class Table(Resource):
    """A table where it lives: one consistent snapshot for the whole run.

    ``dialect`` says how a text table is written.
    """

    engine: Engine
    source: Source
    header: Header
    columns: tuple[Field, ...]
    dialect: Dialect | None = None
    memory: int

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.source.name

    def field(self, column: str) -> Field:
        """A column and its type."""
        return self.columns[self.header.index(column)]

    def type_of(self, column: str) -> ColumnType:
        """The type of a column."""
        return self.field(column).type

    @abstractmethod
    def identity(self) -> Identity | None:
        """Which table this is; None for tables in memory."""

    def check_unchanged(self) -> None:
        """Raise if the source is not what it was when it was opened."""
        identity = self.identity()
        if identity is not None:
            identity.check()

    def fingerprint(self) -> str | None:
        """What tells the input from every other, where it has an identity."""
        identity = self.identity()
        return None if identity is None else identity.digest()

    @abstractmethod
    def size(self) -> int | None:
        """Bytes of the table where it lives, if that is known."""

    @abstractmethod
    def rows(self) -> int:
        """Number of rows."""

    @abstractmethod
    def distinct(self, columns: Sequence[str]) -> int:
        """About how many combinations of the columns' values there are."""

    @abstractmethod
    def count(self, columns: Sequence[str], lot: tuple[int, int] = (0, 1), by: Sequence[str] = ()) -> Counts:
        """How often each combination of the columns' values (canonical texts, bytewise) occurs.

        Of ``lot`` (i, n) only the combinations whose hash of the columns ``by`` is i modulo n.
        """

    @abstractmethod
    def amounts(self, columns: Sequence[str]) -> Iterator[tuple[str, dict[Text, int]]]:
        """How often each value of each column occurs, column by column."""

    @abstractmethod
    def groups(
        self,
        combinations: Sequence[Sequence[str]],
        below: Sequence[int],
        besides: str | None = None,
        lots: int = 1,
        lacking: bool = False,
    ) -> list[Groups]:
        """Per combination of columns, how small the groups of rows are that are alike in them.

        Only rows with a value in the last of the columns count, with ``lacking`` also those without one, and never those that
        show ``besides`` there. Groups of fewer than ``below`` rows, one number per combination, are ``few``. Counted in so many ``lots`` where not all groups fit in memory.
        """

    @abstractmethod
    def lacks(self, column: str) -> bool:
        """Whether a row has no value in the column."""

    @abstractmethod
    def repeats(self, column: str) -> bool:
        """Whether a value of the column stands in several rows."""

    @abstractmethod
    def shares(self, columns: Sequence[str], person: str) -> tuple[Counts, int]:
        """The people of each combination, each person shared out evenly over their rows; counted in so many units."""

    @abstractmethod
    def members(self, columns: Sequence[str], person: str) -> tuple[Counts, np.ndarray]:
        """Each combination with each person in it: counts of rows, and a number that stands for the person, ``NOBODY`` where
        rows do not say whose they are."""

    @abstractmethod
    def count_constant_rows(self, value: str) -> int:
        """How many rows show the value in every column."""

    @abstractmethod
    def unseen(self, plan: Plan) -> dict[str, list[str]]:
        """Per translated column, up to five values that its translation does not know."""

    @abstractmethod
    def write(self, plan: Plan, into: Slot) -> None:
        """Write what the plan makes of the table into a slot of a stage."""

    @abstractmethod
    def fetch(self, plan: Plan, order: str = "keep") -> pa.Table:
        """What the plan makes of the table, in memory."""

    @abstractmethod
    def page(
        self, offset: int, limit: int, sort: str | None = None, where: Mapping[str, Text] | None = None, descending: bool = False
    ) -> pa.Table:
        """Some rows to look at, all cells as texts: sorted by a column, and only those with given values."""

    @abstractmethod
    def text_batches(self) -> pa.RecordBatchReader:
        """All rows, all cells as texts, some at a time; in their order where they have one."""

    @abstractmethod
    def split(self, places: Sequence[Translation], coded: Sequence[Translation], plan: Plan, into: Slot) -> Split:
        """The table in parts, for tables larger than memory: recoded columns as places in an order, others as codes."""

    def spread(self, places: Sequence[Translation], coded: Sequence[Translation], plan: Plan, into: Slot) -> Spread:
        """The table in many parts at once, each solved where it lies."""
        self.engine.require(Capability.SPREAD)
        raise AssertionError("the engine declares what it does not do")

    def recode(self, plan: Plan) -> tuple[Any, int]:
        """What the plan makes of the table, in the kind in which the table came in, and how many rows that are."""
        found = self.fetch(plan)
        return in_kind_of(self.source.data, found), found.num_rows

    @abstractmethod
    def limit(self, memory: int) -> None:
        """Use no more memory than this many bytes."""

    @abstractmethod
    def interrupt(self) -> None:
        """End the statement that is running, from another thread."""


@dataclass(frozen=True)
class Part:
    """Ranges of places, both ends included; ``within`` names where the engine keeps its records."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    within: str
    within_records: int


@dataclass(frozen=True, repr=False)
class PartCount(Discreet):
    """The distinct rows of a part: places, codes of one coded column, and how many records."""

    places: np.ndarray
    codes: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True, repr=False)
class PartMarginal(Discreet):
    """How the records of a part lie on one column: places, which coded column, its codes, how many records."""

    places: np.ndarray
    attributes: np.ndarray
    codes: np.ndarray
    counts: np.ndarray


class Split(Resource):
    """A copy of a table where it lives, counted and written part by part. Leaving it lets go of the copy.

    What is written is complete when `finish` was called.
    """

    records: int

    @abstractmethod
    def whole(self) -> Part:
        """All records."""

    @abstractmethod
    def marginals(self, part: Part) -> list[PartMarginal]:
        """Per recoded column how the records of a part lie on it, from one pass over them."""

    @abstractmethod
    def count(self, part: Part) -> list[PartCount]:
        """The distinct rows of a part, once per coded column (once alone without any)."""

    @abstractmethod
    def own(self, part: Part, records: int) -> Part:
        """A part of so many records, kept apart where that makes work on it faster."""

    @abstractmethod
    def drop(self, part: Part) -> None:
        """No open part lies within what holds this one."""

    @abstractmethod
    def write(self, part: Part, rows: np.ndarray, shown: np.ndarray, labels: Sequence[Sequence[Text]]) -> None:
        """Append the records of a part: ``rows`` are its distinct rows as places, ``shown`` their labels, codes into
        ``labels`` of each column."""

    @abstractmethod
    def finish(self) -> None:
        """All parts are written."""


@dataclass(frozen=True, repr=False)
class Solved(Discreet):
    """What became of a part: its distinct rows as places, their labels as codes into ``labels`` of each column; ``packed``: what
    is to be known of it."""

    rows: np.ndarray
    shown: np.ndarray
    labels: tuple[tuple[Text, ...], ...]
    packed: bytes


@dataclass(frozen=True)
class Cut:
    """A part that is cut on one column: each piece is a range of places, both ends included, and the number of a new part."""

    column: int
    pieces: tuple[tuple[int, int, int], ...]


class Spread(Resource):
    """A copy of a table on many machines, of which all parts of a level are counted, and cut, together.

    Parts have numbers; the whole is part 0. Leaving it lets go of the copy.
    """

    records: int
    memory: int
    """Bytes that work on one part may use."""

    @abstractmethod
    def decide(self, parts: Sequence[int], work: Callable[[list[PartMarginal]], bytes]) -> dict[int, bytes]:
        """Let the machines work on how the records of each of some parts lie on every recoded column, all from one pass; what
        they found."""

    @abstractmethod
    def cut(self, cuts: Mapping[int, Cut]) -> None:
        """Give the records of parts that are cut the numbers of their new parts."""

    @abstractmethod
    def solve(self, work: Callable[[list[PartCount]], Solved]) -> list[bytes]:
        """Let the machines work on every part, from its distinct rows, and write all records with their labels; the summaries."""


@dataclass(repr=False)
class Slot(Discreet):
    """The place of a sink in a stage: a file under a temporary name, a table under another name, or a table in memory.

    A table that lives elsewhere than the slot hands its rows over in batches, between `receive` and `complete`; one that
    lives in the same place writes there itself.
    """

    sink: Sink
    path: Path | None = None
    table: pa.Table | None = None
    fields: tuple[Field, ...] = ()

    def digest(self, progress: Progress | None = None) -> str | None:
        """SHA-256 of what was written; None for a table that is no file."""
        return None if self.path is None else digest_of(self.path, progress)

    def receive(self, fields: Sequence[Field], batches: pa.RecordBatchReader, progress: Progress) -> None:
        """Append rows that come from elsewhere; all calls bring the same columns."""
        import pyarrow as pa

        self.fields = tuple(fields)
        rows = batches.read_all()
        self.table = rows if self.table is None else pa.concat_tables([self.table, rows])

    def complete(self) -> None:
        """All rows are there."""


@dataclass(frozen=True, repr=False)
class Evidence(Discreet):
    """What is published beside a table: the manifests and the recoding, as texts; a ``comment`` says what the table is."""

    manifest: str
    private_manifest: str
    recoding: str | None = None
    comment: str = ""

    @property
    def texts(self) -> dict[str, str]:
        """By what they are called in `Sink.files`."""
        found = {"manifest": self.manifest, "private manifest": self.private_manifest}
        return {**found, **({} if self.recoding is None else {"recoding": self.recoding})}


@dataclass(frozen=True, repr=False)
class Published(Discreet):
    """A table that is there now: its files or names, or the table in memory."""

    path: Path | str | None = None
    manifest: Path | str | None = None
    private_manifest: Path | None = None
    table: pa.Table | None = None


class Stage(Resource):
    """Tables that are written and read back before anybody else sees them. Leaving without publishing discards them."""

    slots: tuple[Slot, ...]

    @abstractmethod
    def read_back(self, slot: Slot, memory: int | None = None) -> Table:
        """What was written into a slot, opened anew."""

    @abstractmethod
    def publish(self, evidence: Sequence[Evidence | None] = ()) -> list[Published]:
        """All tables with their evidence appear at one moment, or none does."""

    @abstractmethod
    def discard(self) -> None:
        """Remove everything that was not published."""

    def close(self) -> None:
        """Leaving discards."""
        self.discard()


class Engine(ABC):
    """Opens tables and stages of one kind of place."""

    name: ClassVar[str]
    capabilities: ClassVar[frozenset[Capability]] = frozenset()

    @abstractmethod
    def open(self, source: Source, session: Session) -> Table:
        """Open a table."""

    @abstractmethod
    def stage(self, sinks: Sequence[Sink], session: Session) -> Stage:
        """A stage with a slot for each sink."""

    @abstractmethod
    def tables(self, place: Place, session: Session) -> list[Listed]:
        """The tables and views of a database that may be read."""

    def require(self, capability: Capability) -> None:
        """Raise `engine-cannot` for what the engine does not declare."""
        if capability not in self.capabilities:
            raise InputError(
                "engine-cannot",
                Sentence("the engine {engine} cannot {capability}", engine=self.name, capability=capability.value),
                hint="Export the table to Parquet, or leave that out.",
            )
