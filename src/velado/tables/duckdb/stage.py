"""Releases under temporary names beside their targets, until all of them are verified."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from velado.progress import Progress
from velado.tables.contract import Evidence, Published, Slot, Stage, Table
from velado.tables.duckdb.table import DuckDBTable
from velado.tables.plan import Plan, Selection
from velado.tables.publication.publish import publication
from velado.tables.registry import open_table
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.source import Source
from velado.tables.types import Field

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(repr=False)
class FileSlot(Slot):
    """A file under a temporary name. Rows of another engine are gathered in a file beside it, which this engine then writes in
    the format of the sink: cell by cell as if they had been its own."""

    session: Session = field(default_factory=Session)
    writer: Any = None

    def receive(self, fields: Sequence[Field], batches: pa.RecordBatchReader, progress: Progress) -> None:
        """Append rows that come from elsewhere."""
        import pyarrow.parquet

        self.fields = tuple(fields)
        if self.writer is None:
            self._gathered_path.touch(mode=0o600)
            self.writer = pyarrow.parquet.ParquetWriter(self._gathered_path, batches.schema)
        for batch in batches:
            progress.check()
            self.writer.write_batch(batch)

    def complete(self) -> None:
        """Write them; they are guarded already, and in their order, unless they came in parts and must be sorted."""
        assert self.path is not None
        self.writer.close()
        self.writer = None
        # In the private folder of the target.
        session = replace(self.session, scratch=self.path.parent)
        source = Source(path=self._gathered_path, names="exact")
        order = "sorted" if self.sink.order == "sorted" else "keep"
        written = FileSlot(replace(self.sink, guard=False, order=order), self.path, session=session)
        with DuckDBTable(source, session) as table:
            table.write(Plan((), Selection()), written)
        self.fields = written.fields
        self._gathered_path.unlink()

    @property
    def _gathered_path(self) -> Path:
        assert self.path is not None
        return self.path.with_name(self.path.name + ".gathered.parquet")


class FileStage(Stage):
    """Files in private folders, or tables in memory. All sinks are of one kind."""

    def __init__(self, sinks: Sequence[Sink], session: Session) -> None:
        self._session = session
        self._files = [(sink, what, path) for sink in sinks for what, path in sink.files.items()]
        self._stack = ExitStack()
        owned = {path for sink, what, path in self._files if sink.private or what in ("private manifest", "recoding")}
        places = {}
        if self._files:
            self._publication = self._stack.enter_context(publication([p for _, _, p in self._files], owned))
            places = dict(zip([p for _, _, p in self._files], self._publication.places, strict=True))
        self._places = places
        self.slots = tuple(
            Slot(sink) if sink.path is None else FileSlot(sink, places[sink.path], session=session) for sink in sinks
        )

    def read_back(self, slot: Slot, memory: int | None = None) -> Table:
        """What was written into a slot, opened anew."""
        scratch = None if slot.path is None or slot.sink.path is None else slot.sink.path.parent
        session = replace(self._session, scratch=scratch)
        source = Source(data=slot.table, fields=slot.fields) if slot.path is None else slot.sink.source(slot.path, slot.fields)
        table = open_table(source, session=session)
        if memory is not None:
            table.limit(memory)
        return table

    def publish(self, evidence: Sequence[Evidence | None] = ()) -> list[Published]:
        """Write the evidence, and give all files their names."""
        for slot, found in zip(self.slots, evidence, strict=False):
            files = slot.sink.files
            for what, text in {} if found is None else found.texts.items():
                if what in files:
                    self._places[files[what]].write_text(text, encoding="utf-8")
        if self._files:
            self._publication.publish()
        return [_publication_result(slot) for slot in self.slots]

    def discard(self) -> None:
        """Remove everything that was not published."""
        self._stack.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # An error of the file system is told as one of the output.
        self._stack.__exit__(kind, error, trace)


def _publication_result(slot: Slot) -> Published:
    sink = slot.sink
    if sink.path is None:
        return Published(table=slot.table)
    files = sink.files
    return Published(sink.path, files.get("manifest"), files.get("private manifest"))
