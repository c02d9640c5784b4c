"""Releases of Spark under other names, until they are verified: side tables, hidden folders, DataFrames."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from velado.errors import InputError
from velado.progress import Progress
from velado.sentences import Sentence
from velado.tables.address import TableName
from velado.tables.contract import Evidence, Published, Table
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.source import shown_url
from velado.tables.spark.connection import SparkConnection
from velado.tables.spark.folders import Folders, folders_of
from velado.tables.spark.reading import CSV, Opened
from velado.tables.spark.rows import storable
from velado.tables.spark.table import SparkTable
from velado.tables.sql.stage import OLD, SIDE, ServerSlot, ServerStage, output_exists
from velado.tables.types import Field

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "_velado_manifest.json"
"""The manifest in the folder of a release: names that begin with _ are not read as data."""
HIDDEN = ".velado"
STALE = 7 * 24 * 3600
"""Seconds after which what a killed driver left is removed."""
USUAL = "parquet"


@dataclass(repr=False)
class SparkSlot(ServerSlot):
    """A side table, a hidden folder (``folder`` is what it will be called), or a DataFrame."""

    folder: str | None = None
    frame: Any = None
    """What is written, as it was planned: its columns and types."""

    @property
    def is_catalog_table(self) -> bool:
        """Whether it is a table of a catalog."""
        return self.sink.table is not None

    def receive(self, fields: Sequence[Field], batches: pa.RecordBatchReader, progress: Progress) -> None:
        """Append rows that come from elsewhere."""
        connection = self.connection
        with connection.watch(self.sink.name):
            frame = connection.frame_from_arrow(storable(batches.read_all()))
        self.append(fields, frame)


class SparkStage(ServerStage):
    """What is written is read back from where it was written; then one rename gives it its name, manifest included.

    A table's manifest is a table of its own, which gets its name just before: without the release it says nothing.
    """

    connection: SparkConnection
    slots: tuple[SparkSlot, ...]

    def _slot(self, sink: Sink) -> SparkSlot:
        with self.connection.watch(sink.name):
            if sink.table is not None:
                found = super()._slot(sink)
                slot = SparkSlot(sink, connection=found.connection, stage=self, target=found.target, side=found.side)
            elif sink.url is not None:
                slot = self._folder(sink, sink.url.rstrip("/"))
            else:
                slot = SparkSlot(sink, connection=self.connection, stage=self)
        self._stack.callback(self._remove, slot)
        return slot

    # Tables

    def full_name(self, table: TableName) -> TableName:
        """In the schema that is in use, where none is said."""
        catalog = self.connection.spark.catalog
        schema = table.schema or catalog.currentDatabase()
        if not catalog.databaseExists(schema):
            raise InputError(
                "unknown-table",
                Sentence("the database has no schema '{schema}'", schema=schema),
                file=self.connection.address.text,
                hint="CREATE SCHEMA makes one; velado tables ADDRESS lists those that are there.",
            )
        full = TableName(table.name, schema)
        self._recover(full)
        return full

    def quote_table(self, table: TableName) -> str:
        """A table's name in SQL."""
        return self.connection.quote_table(table)

    def exists(self, table: TableName) -> bool:
        """Tables and views."""
        return bool(self.connection.spark.catalog.tableExists(self.quote_table(table)))

    def is_read(self, table: TableName) -> bool:
        """Whether a file of the table is one that this session reads, also below a view or in a query."""
        if not self.exists(table):
            return False
        if self.quote_table(table) in self.connection.tables_read:
            return True
        return bool({*self.connection.spark.table(self.quote_table(table)).inputFiles()} & self.connection.files_read)

    def _recover(self, table: TableName) -> None:
        """Undo what a killed driver was in the middle of, and remove what others left long ago."""
        old = self._old(table)
        if self.exists(old):
            if self.exists(table):
                self._drop(old)
            else:
                self._rename(old, table)
        like = f"SHOW TABLES IN {self._schema(table)} LIKE '{SIDE}_*'"
        for row in self.connection.fetch_rows(like):
            name = str(row[1])
            began = name.rpartition("_")[2]
            if began.isdigit() and time.time() - int(began) > STALE:
                self._drop(replace(table, name=name))

    def _old(self, table: TableName) -> TableName:
        return replace(table, name=f"{OLD}_{table.name}")

    def _schema(self, table: TableName) -> str:
        return ".".join(self.connection.sql.quote(p) for p in (table.schema or "").split("."))

    def _drop(self, table: TableName) -> None:
        self.connection.execute(f"DROP TABLE IF EXISTS {self.quote_table(table)}")

    def _rename(self, table: TableName, to: TableName) -> None:
        self.connection.execute(f"ALTER TABLE {self.quote_table(table)} RENAME TO {self.quote_table(to)}")

    # Folders

    @cached_property
    def _folders(self) -> Folders:
        return folders_of(self.connection)

    def _folder(self, sink: Sink, url: str) -> SparkSlot:
        """A hidden folder beside the target; that it can be made there is told at once."""
        beside, _, name = url.rpartition("/")
        folders = self._folders
        old = f"{beside}/{HIDDEN}-old-{name}"
        if folders.exists(old):
            if folders.exists(url):
                folders.remove(old)
            else:
                folders.rename(old, url)
        if folders.exists(url):
            within = folders.full(url).rstrip("/") + "/"
            if any(read.startswith(within) or read + "/" == within for read in self._read_from()):
                raise InputError(
                    "output-is-input",
                    "the release would replace the files that are read",
                    file=sink.name,
                    hint="Choose another path.",
                )
            if sink.if_exists == "fail":
                raise InputError(
                    "output-exists",
                    "there is something at this place already",
                    file=sink.name,
                    hint="Choose another path, or say output: {if_exists: replace}.",
                )
        for left, changed in folders.names(beside, f"{HIDDEN}-side-"):
            if time.time() - changed > STALE:
                folders.remove(f"{beside}/{left}")
        side = f"{beside}/{HIDDEN}-side-{self.connection.new_name()}"
        folders.make(side)
        return SparkSlot(sink, connection=self.connection, stage=self, folder=url, side=side)

    def _read_from(self) -> set[str]:
        """The files that this session reads, as their file systems write them."""
        return {self._folders.full(name) for name in self.connection.files_read}

    # Writing

    def make(self, slot: ServerSlot, schema: pa.Schema) -> None:
        """Rows come as whole DataFrames."""

    def fill(self, slot: ServerSlot, query: Any) -> None:
        """Write a DataFrame, or append it."""
        assert isinstance(slot, SparkSlot)
        connection, sink = self.connection, slot.sink
        with connection.watch(sink.name):
            unknown = [name for name in sink.partition if name not in query.columns]
            if unknown:
                raise InputError(
                    "unknown-column",
                    Sentence("output: 'partition' names columns that the release does not have: {columns}", columns=unknown),
                    hint="Columns that are left out of a release cannot part it.",
                )
            if slot.folder is None and not slot.is_catalog_table:
                kept = query.localCheckpoint()
                slot.frame = kept if slot.frame is None else slot.frame.unionAll(kept)
                return
            writer = query.write.format(sink.format or USUAL).mode("append")
            if sink.partition:
                writer = writer.partitionBy(*sink.partition)
            if sink.format == "csv":
                for key, value in {**CSV, "sep": sink.delimiter, "nullValue": "", "emptyValue": ""}.items():
                    writer = writer.option(key, value)
            slot.frame = query
            if slot.is_catalog_table:
                writer.saveAsTable(slot.side)
            else:
                writer.save(slot.side)

    def open_side(self, slot: ServerSlot, session: Session) -> Table:
        """What was written, read from where it was written."""
        assert isinstance(slot, SparkSlot)
        connection = self.connection
        with connection.watch(slot.sink.name):
            frame = slot.frame
            if slot.is_catalog_table:
                connection.spark.catalog.refreshTable(slot.side)
                frame = connection.spark.table(slot.side)
            elif slot.folder is not None:
                read = connection.spark.read.format(slot.sink.format or USUAL).schema(_schema_of(slot))
                for key, value in ({**CSV, "sep": slot.sink.delimiter} if slot.sink.format == "csv" else {}).items():
                    read = read.option(key, value)
                frame = read.load(slot.side)
            # Columns that part a release come last when it is read.
            frame = frame.select(*(connection.sql.quote(name) for name in slot.frame.columns))
        return SparkTable(slot.sink.source(), session, connection, Opened(frame))

    # Publishing

    def give_names(self, evidence: Sequence[Evidence | None]) -> None:
        """One rename for each."""
        for slot, found in zip(self.slots, evidence, strict=True):
            with self.connection.watch(slot.sink.name):
                if slot.is_catalog_table:
                    self._name_table(slot, found)
                elif slot.folder is not None:
                    self._name_folder(slot, slot.folder, found)

    def _name_table(self, slot: SparkSlot, evidence: Evidence | None) -> None:
        spark, side = self.connection.spark, replace(slot.target, name=slot.side.rpartition(".")[2].strip("`"))
        manifest, beside = slot.target.beside("_manifest"), replace(side, name=f"{side.name}_manifest")
        told = evidence is not None and slot.sink.evidence
        replaced = slot.sink.if_exists == "replace"
        if evidence is not None and told:
            text = self.connection.sql.literal(evidence.comment)
            self.connection.execute(f"COMMENT ON TABLE {slot.side} IS {text}")
            spark.createDataFrame([(evidence.manifest,)], "manifest string").write.saveAsTable(self.quote_table(beside))
            self._stack.callback(self._forget, beside)
        pairs = [(beside, manifest)] * told + [(side, slot.target)]
        rows = spark.table(slot.side).count()
        moved: list[tuple[TableName, TableName]] = []
        try:
            for source, target in pairs:
                if self.exists(target):
                    if not replaced:
                        raise output_exists(slot.sink, target)
                    self._rename(target, self._old(target))
                    moved.append((self._old(target), target))
                self._rename(source, target)
                moved.append((target, source))
            if spark.table(self.quote_table(slot.target)).count() != rows:
                raise _lost_rows(slot.sink)
        except BaseException:
            for now, before in reversed(moved):
                self._rename(now, before)
            raise
        for _, target in pairs:
            self._forget(self._old(target))

    def _forget(self, table: TableName) -> None:
        """What is not needed any more; the release does not depend on it."""
        with suppress(*self.connection.errors):
            self._drop(table)

    def _name_folder(self, slot: SparkSlot, target: str, evidence: Evidence | None) -> None:
        folders = self._folders
        if evidence is not None and slot.sink.evidence:
            folders.write(f"{slot.side}/{MANIFEST}", evidence.manifest)
        beside, _, name = target.rpartition("/")
        old = f"{beside}/{HIDDEN}-old-{name}"
        replaces = folders.exists(target)
        if replaces and slot.sink.if_exists != "replace":
            raise InputError(
                "output-exists",
                "something has appeared at this place meanwhile; nothing was published",
                file=slot.sink.name,
                hint="Choose another path, or say output: {if_exists: replace}.",
            )
        if replaces:
            folders.rename(target, old)
        try:
            folders.rename(slot.side, target)
        except BaseException:
            if replaces:
                folders.rename(old, target)
            raise
        folders.keep(slot.side)
        if replaces:
            with suppress(*self.connection.errors):
                folders.remove(old)

    def _publication_result(self, slot: Any, evidence: Evidence | None) -> Published:
        if slot.is_catalog_table:
            return super()._publication_result(slot, evidence)
        private = None if evidence is None else slot.sink.files.get("private manifest")
        if slot.folder is None:
            return Published(table=slot.frame, private_manifest=private)
        told = evidence is not None and slot.sink.evidence
        return Published(slot.sink.name, f"{shown_url(slot.folder)}/{MANIFEST}" if told else None, private)

    def _remove(self, slot: SparkSlot) -> None:
        """What was not published."""
        with suppress(*self.connection.errors):
            if slot.is_catalog_table:
                self.connection.execute(f"DROP TABLE IF EXISTS {slot.side}")
            elif slot.folder is not None and self._folders.exists(slot.side):
                self._folders.remove(slot.side)


def _lost_rows(sink: Sink) -> InputError:
    """The error for a catalog that forgets where partitions are when a table gets another name."""
    return InputError(
        "engine-cannot",
        "the catalog of this session loses the partitions of a table that gets its name; nothing was published",
        file=sink.name,
        hint="Leave out output: {partition: …}, or send the release to a path.",
    )


def _schema_of(slot: SparkSlot) -> Any:
    """The types that a folder is read with: those that were written; a text table has texts only."""
    from pyspark.sql.types import StringType, StructField, StructType

    schema = slot.frame.schema
    if slot.sink.format != "csv":
        return schema
    return StructType([StructField(f.name, StringType()) for f in schema.fields])
