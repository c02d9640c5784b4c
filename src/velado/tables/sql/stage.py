"""Releases as tables of a server under other names, until all of them are verified."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from velado.errors import InputError
from velado.progress import Progress
from velado.sentences import Sentence
from velado.tables.address import TableName
from velado.tables.contract import Evidence, Published, Slot, Stage, Table
from velado.tables.publication.publish import latest, publication
from velado.tables.publication.uninterrupted import defer_signals
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.sql.connection import Connection
from velado.tables.types import Field

if TYPE_CHECKING:
    import pyarrow as pa

SIDE, OLD = "velado_side", "velado_old"
"""What names of tables begin with that are not published yet, and of those that are being replaced."""


@dataclass(repr=False)
class ServerSlot(Slot):
    """A side table in the target's schema: ``target`` is what it will be called."""

    connection: Any = None
    stage: Any = None
    target: TableName = field(default_factory=lambda: TableName("?"))
    side: str = ""
    made: bool = False

    def create(self, fields: Sequence[Field], query: str) -> None:
        """Write the rows of a query of the same server."""
        self.append(fields, query)

    def append(self, fields: Sequence[Field], query: str) -> None:
        """Append the rows of a query of the same server."""
        self.fields = tuple(fields)
        self.stage.fill(self, query)
        self.made = True

    def receive(self, fields: Sequence[Field], batches: pa.RecordBatchReader, progress: Progress) -> None:
        """Append rows that come from elsewhere."""
        self.fields = tuple(fields)
        connection = self.connection
        if not self.made:
            self.stage.make(self, batches.schema)
            self.made = True
        with connection.watch(self.sink.name):
            connection.load(self.side, iter(batches))


class ServerStage(Stage):
    """Side tables in the schema of the target, and, for the owner, private files.

    What is published appears with one statement or one transaction of the server (`give_names`); right after it the
    private files get their names.
    """

    def __init__(self, sinks: Sequence[Sink], session: Session, connection: Connection) -> None:
        self._session, self.connection = session, connection
        self._stack = ExitStack()
        self._stack.callback(session.connections.give_back, connection.place)
        try:
            self._files = [(sink, what, path) for sink in sinks for what, path in sink.files.items()]
            if self._files:
                paths = [path for _, _, path in self._files]
                self._publication = self._stack.enter_context(publication(paths, set(paths)))
                self._places = dict(zip(paths, self._publication.places, strict=True))
            self.slots = tuple(self._slot(sink) for sink in sinks)
        except BaseException:
            self._stack.close()
            raise

    def _slot(self, sink: Sink) -> ServerSlot:
        assert sink.table is not None
        target = self.full_name(TableName.parse(sink.table))
        manifest = target.beside("_manifest")
        if self.is_read(target):
            raise InputError(
                "output-is-input",
                Sentence("the release would replace the table '{table}', which is read", table=str(target)),
                file=sink.name,
                hint="Choose another table.",
            )
        if sink.if_exists == "fail":
            for name in (target, *([manifest] if sink.evidence else [])):
                if self.exists(name):
                    raise output_exists(sink, name)
        side = replace(target, name=f"{SIDE}_{self.connection.new_name()}")
        return ServerSlot(sink, connection=self.connection, stage=self, target=target, side=self.quote_table(side))

    def quote_table(self, table: TableName) -> str:
        """A table's name in SQL."""
        return ".".join(self.connection.sql.quote(p) for p in (table.schema, table.name) if p is not None)

    # What servers say

    @abstractmethod
    def full_name(self, table: TableName) -> TableName:
        """A name with its schema; an error if nothing may be made there."""

    @abstractmethod
    def exists(self, table: TableName) -> bool:
        """Whether there is anything of this name."""

    @abstractmethod
    def is_read(self, table: TableName) -> bool:
        """Whether this session reads a table, whatever the source calls it."""

    @abstractmethod
    def make(self, slot: ServerSlot, schema: pa.Schema) -> None:
        """Make an empty side table for rows of an Arrow schema."""

    @abstractmethod
    def fill(self, slot: ServerSlot, query: str) -> None:
        """Make a side table from a query, or append to it."""

    @abstractmethod
    def open_side(self, slot: ServerSlot, session: Session) -> Table:
        """A side table, read."""

    @abstractmethod
    def give_names(self, evidence: Sequence[Evidence | None]) -> None:
        """All side tables get their names at one moment, manifests and comments included."""

    # What all do alike

    def read_back(self, slot: Slot, memory: int | None = None) -> Table:
        """What was written into a slot, counted anew by the server."""
        assert isinstance(slot, ServerSlot)
        self._session.connections.borrow(self.connection.place, lambda: self.connection)
        table = self.open_side(slot, self._session)
        if memory is not None:
            table.limit(memory)
        return table

    def publish(self, evidence: Sequence[Evidence | None] = ()) -> list[Published]:
        """The tables get their names, then the private files."""
        given = [*evidence, *[None] * (len(self.slots) - len(evidence))]
        for slot, found in zip(self.slots, given, strict=True):
            for what, text in {} if found is None else found.texts.items():
                if what in slot.sink.files:
                    self._places[slot.sink.files[what]].write_text(text, encoding="utf-8")
        with defer_signals():
            self.give_names(given)
            latest[:] = names = [slot.sink.name for slot in self.slots]
            if self._files:
                self._publication.publish()
                latest[:] = [*names, *(path for _, _, path in self._files)]
        return [self._publication_result(slot, found) for slot, found in zip(self.slots, given, strict=True)]

    def _publication_result(self, slot: Slot, evidence: Evidence | None) -> Published:
        sink = slot.sink
        manifest = sink.manifest_table
        beside = None if manifest is None or evidence is None else replace(sink, table=str(manifest)).name
        private: Path | None = None if evidence is None else sink.files.get("private manifest")
        return Published(sink.name, beside, private)

    def discard(self) -> None:
        """Remove everything that was not published."""
        self._stack.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # An error of the file system is told as one of the output.
        self._stack.__exit__(kind, error, trace)


def output_exists(sink: Sink, table: TableName) -> InputError:
    """The error for a target that is there already."""
    return InputError(
        "output-exists",
        Sentence("there is a table '{table}' already", table=str(table)),
        file=sink.name,
        hint="Choose another name, or say output: {if_exists: replace}.",
    )
