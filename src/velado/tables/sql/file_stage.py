"""Releases as tables of a database that is a file, under other names until all of them are verified."""

from __future__ import annotations

import secrets
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
from velado.tables.contract import Evidence, Published, Slot, Stage
from velado.tables.files import check_regular
from velado.tables.publication.publish import latest, publication
from velado.tables.publication.uninterrupted import defer_signals
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.sql.stage import SIDE, output_exists
from velado.tables.types import Field

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(repr=False)
class DatabaseFileSlot(Slot):
    """A side table of the file: ``target`` is what it will be called."""

    stage: Any = None
    target: TableName = field(default_factory=lambda: TableName("?"))
    side: TableName = field(default_factory=lambda: TableName("?"))
    made: bool = False

    def receive(self, fields: Sequence[Field], batches: pa.RecordBatchReader, progress: Progress) -> None:
        """Append rows that come from elsewhere."""
        self.fields = tuple(fields)
        if not self.made:
            self.stage.make(self, batches.schema)
            self.made = True
        for batch in batches:
            progress.check()
            self.stage.load(self, batch)


class DatabaseFileStage(Stage):
    """One transaction of the file, which nobody else sees before its end; a killed run leaves nothing.

    A file that is not there yet is made in a private folder and published as a file. Private files of the owner get their
    names right after the transaction.
    """

    slots: tuple[DatabaseFileSlot, ...]

    def __init__(self, sinks: Sequence[Sink], session: Session) -> None:
        self.session = session
        self.sink = sinks[0]
        assert self.sink.path is not None
        self.path = self.sink.path
        self._stack = ExitStack()
        check_regular(self.path)
        self._new = not self.path.exists()
        self._files = [path for sink in sinks for path in sink.files.values()]
        try:
            paths = [*self._files, *([self.path] if self._new else [])]
            self._places: dict[Path, Path] = {}
            if paths:
                self._publication = self._stack.enter_context(publication(paths, set(self._files)))
                self._places = dict(zip(paths, self._publication.places, strict=True))
            if self._new:
                # An empty file is no database.
                self._places[self.path].unlink()
            self._stack.callback(self.end)
            self.begin(self._places[self.path] if self._new else self.path)
            self.slots = tuple(self._slot(sink) for sink in sinks)
        except BaseException:
            self._stack.close()
            raise

    def _slot(self, sink: Sink) -> DatabaseFileSlot:
        if sink.table is None:
            raise InputError("no-table", "which table of the database?", file=str(sink.path))
        target = self.full_name(TableName.parse(sink.table))
        for name in (target, *([target.beside("_manifest")] if sink.evidence else [])):
            self.room_for(name, sink)
        side = replace(target, name=f"{SIDE}_{secrets.token_hex(6)}")
        return DatabaseFileSlot(sink, stage=self, target=target, side=side)

    def room_for(self, table: TableName, sink: Sink) -> bool:
        """Whether there is a table of this name, which may be replaced; an error if it may not."""
        kind = self.kind_of(table)
        if kind is not None and sink.if_exists != "replace":
            raise output_exists(sink, table)
        if kind not in (None, "table"):
            raise InputError(
                "output-exists",
                Sentence("'{table}' is a view, which no release replaces", table=str(table)),
                file=sink.name,
                hint="Choose another name.",
            )
        return kind is not None

    # What kinds of files say

    @abstractmethod
    def begin(self, place: Path) -> None:
        """Open the file and begin a transaction."""

    @abstractmethod
    def full_name(self, table: TableName) -> TableName:
        """A name with its schema; an error if there is no such schema."""

    @abstractmethod
    def kind_of(self, table: TableName) -> str | None:
        """Whether there is a ``table`` or a ``view`` of this name."""

    @abstractmethod
    def make(self, slot: DatabaseFileSlot, schema: pa.Schema) -> None:
        """Make an empty side table for rows of an Arrow schema."""

    @abstractmethod
    def load(self, slot: DatabaseFileSlot, batch: pa.RecordBatch) -> None:
        """Append rows to a side table."""

    @abstractmethod
    def rename(self, slot: DatabaseFileSlot, evidence: Evidence | None) -> None:
        """A side table gets its name, in the place of one that is there; its manifest and comment stand beside it."""

    @abstractmethod
    def commit(self) -> None:
        """Everything appears."""

    @abstractmethod
    def end(self) -> None:
        """Close the file, if it is open; what was not committed is gone."""

    # What all do alike

    def publish(self, evidence: Sequence[Evidence | None] = ()) -> list[Published]:
        """The tables get their names, then the private files."""
        given = [*evidence, *[None] * (len(self.slots) - len(evidence))]
        for slot, found in zip(self.slots, given, strict=True):
            for what, text in {} if found is None else found.texts.items():
                if what in slot.sink.files:
                    self._places[slot.sink.files[what]].write_text(text, encoding="utf-8")
        for slot, found in zip(self.slots, given, strict=True):
            self.rename(slot, found)
        with defer_signals():
            self.commit()
            if self._new:
                self.end()
                if self.path.exists():
                    raise InputError(
                        "output-exists",
                        "a file of this name has appeared meanwhile; nothing was published",
                        file=self.sink.name,
                        hint="Run again.",
                    )
            if self._places:
                self._publication.publish()
            latest[:] = [*(slot.sink.name for slot in self.slots), *latest]
        return [self._publication_result(slot, found) for slot, found in zip(self.slots, given, strict=True)]

    def _publication_result(self, slot: Slot, evidence: Evidence | None) -> Published:
        sink = slot.sink
        manifest = sink.manifest_table
        beside = None if manifest is None or evidence is None else replace(sink, table=str(manifest)).name
        return Published(sink.name, beside, None if evidence is None else sink.files.get("private manifest"))

    def discard(self) -> None:
        """Roll back, and remove everything that was not published."""
        self._stack.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # An error of the file system is told as one of the output.
        self._stack.__exit__(kind, error, trace)
