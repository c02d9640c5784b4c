"""Releases in MariaDB or MySQL: side tables that one RENAME TABLE gives their names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from velado.errors import InputError
from velado.sentences import Sentence
from velado.tables.address import TableName
from velado.tables.contract import Evidence, Table
from velado.tables.mariadb.connection import MariaDBConnection
from velado.tables.mariadb.table import MariaDBTable
from velado.tables.mariadb.types import characters, stored_as
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.sql.errors import IN_USE, known_error
from velado.tables.sql.stage import OLD, SIDE, ServerSlot, ServerStage, output_exists

if TYPE_CHECKING:
    import pyarrow as pa

OURS = re.compile(rf"(?:{SIDE}|{OLD})_(velado_[0-9a-f]{{12}})_[0-9]+")
ROW = 15_000
"""Characters of all short texts of a row together; if there are more, they are stored apart from it."""
COMMENT = 2000


@dataclass(repr=False)
class MariaDBSlot(ServerSlot):
    """``kinds`` are the types of columns that keep theirs."""

    kinds: dict[str, str] = field(default_factory=dict)


class MariaDBStage(ServerStage):
    """The conversation that reads the source writes the side tables, and another makes, verifies and renames them.

    Side tables of runs that were killed are swept by the next run into the same schema: whoever is alive holds a lock.
    """

    connection: MariaDBConnection
    slots: tuple[ServerSlot, ...]

    def __init__(self, sinks: Sequence[Sink], session: Session, connection: MariaDBConnection) -> None:
        self._made: list[str] = []
        self._swept: set[str] = set()
        self._pending = False
        connection.hold()
        super().__init__(sinks, session, connection)
        self._stack.callback(self._drop)

    def _slot(self, sink: Sink) -> ServerSlot:
        plain = super()._slot(sink)
        return MariaDBSlot(sink, connection=plain.connection, stage=self, target=plain.target, side=plain.side)

    # Names

    def full_name(self, table: TableName) -> TableName:
        """In the database of the address, where no schema is said."""
        schema, where = table.schema or self.connection.address.name, self.connection.address.text
        literal = self.connection.sql.literal(schema)
        if not self._ask(f"SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {literal}"):
            raise InputError(
                "unknown-table",
                Sentence("the database has no schema '{schema}'", schema=schema),
                file=where,
                hint="CREATE SCHEMA makes one; velado tables ADDRESS lists those that are there.",
            )
        if schema not in self._swept:
            self._swept.add(schema)
            self._sweep(schema)
        return TableName(table.name, schema)

    def exists(self, table: TableName) -> bool:
        """A table or a view."""
        return bool(self.connection.beside.tables(table))

    def is_read(self, table: TableName) -> bool:
        """Also below a view or in a query."""
        return self.connection.reads(self.quote_table(table))

    def _sweep(self, schema: str) -> None:
        """Drop what runs left behind that nobody carries on any more."""
        literal = self.connection.sql.literal
        found = self._ask(
            f"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = {literal(schema)} AND TABLE_NAME LIKE 'velado!_%' ESCAPE '!'"
        )
        for (name,) in found:
            ours = OURS.fullmatch(name)
            if ours and self._ask(f"SELECT IS_FREE_LOCK({literal(ours[1])})")[0][0] == 1:
                # Whoever may not drop it leaves it to others.
                with suppress(InputError):
                    self.connection.beside.run(f"DROP TABLE IF EXISTS {self.quote_table(TableName(name, schema))}")

    # Side tables

    def make(self, slot: ServerSlot, schema: pa.Schema) -> None:
        """With the types of the rows."""
        self._create(slot, {f.name: stored_as(f.type) for f in schema})

    def fill(self, slot: ServerSlot, query: str) -> None:
        """Made with the types of the query; filled by whoever reads the snapshot."""
        assert isinstance(slot, MariaDBSlot)
        if not slot.made:
            with self.connection.watch(slot.sink.name):
                found = self.connection.layout(f"SELECT * FROM ({query}) AS velado_layout")
            self._create(slot, {name: slot.kinds.get(name, kind) for name, kind, _ in found})
        self._pending = True
        self.connection.run(f"INSERT INTO {slot.side} {query}", slot.sink.name)

    def _create(self, slot: ServerSlot, kinds: dict[str, str]) -> None:
        if sum(characters(kind) or 0 for kind in kinds.values()) > ROW:
            kinds = {name: "longtext" if characters(kind) else kind for name, kind in kinds.items()}
        quoted = self.connection.sql.quote
        listed = ", ".join(f"{quoted(name)} {'longtext' if kind == 'binary(0)' else kind} NULL" for name, kind in kinds.items())
        self._made.append(slot.side)
        self._pending = True
        self._run(slot.sink, f"CREATE TABLE {slot.side} ({listed}) ENGINE = InnoDB {self._collation(slot.target)}")

    def _collation(self, table: TableName) -> str:
        """That of the schema, where it takes all characters."""
        literal = self.connection.sql.literal(table.schema or "")
        usual = self._ask(f"SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {literal}")
        name = usual[0][0]
        return f"CHARACTER SET utf8mb4 COLLATE {name}" if name.startswith("utf8mb4_") else "CHARACTER SET utf8mb4"

    def _settle(self) -> None:
        """End the transaction that wrote: until then nobody else sees the rows, and it cannot read the side tables itself."""
        if self._pending:
            self.connection.commit()
            self._pending = False

    def open_side(self, slot: ServerSlot, session: Session) -> Table:
        """By the other conversation."""
        self._settle()
        return MariaDBTable(slot.sink.source(fields=slot.fields), session, self.connection.beside, slot.side)

    def _drop(self) -> None:
        """Nothing is left of what was not published."""
        if not self._made:
            return
        self.connection.roll_back()
        beside = self.connection.beside
        for name in self._made:
            # Also of a call that was cancelled.
            with suppress(*beside.errors, InputError):
                beside.execute(f"DROP TABLE IF EXISTS {name}")
        self._made.clear()

    # Publishing

    def give_names(self, evidence: Sequence[Evidence | None]) -> None:
        """Comments and manifests first, then one RENAME TABLE for everything."""
        self._settle()
        renamed: list[tuple[Sink, str, TableName]] = []
        for slot, found in zip(self.slots, evidence, strict=True):
            renamed.append((slot.sink, slot.side, slot.target))
            if found is None or not slot.sink.evidence:
                continue
            literal = self.connection.sql.literal
            self._run(slot.sink, f"ALTER TABLE {slot.side} COMMENT = {literal(found.comment[:COMMENT])}")
            side = self.quote_table(TableName(f"{SIDE}_{self.connection.new_name()}", slot.target.schema))
            self._made.append(side)
            self._run(slot.sink, f"CREATE TABLE {side} (manifest JSON) ENGINE = InnoDB CHARACTER SET utf8mb4")
            self._run(slot.sink, f"INSERT INTO {side} VALUES ({literal(found.manifest)})")
            renamed.append((slot.sink, side, slot.target.beside("_manifest")))
        old, said = [], []
        for sink, side, target in renamed:
            if self._is_replaced(target, sink):
                old.append(self.quote_table(TableName(f"{OLD}_{self.connection.new_name()}", target.schema)))
                said.append(f"{self.quote_table(target)} TO {old[-1]}")
            said.append(f"{side} TO {self.quote_table(target)}")
        self._run(renamed[0][0], f"RENAME TABLE {', '.join(said)}")
        self._made = old
        for name in old:
            # The release is there; what cannot be dropped now is swept later.
            with suppress(InputError):
                self.connection.beside.run(f"DROP TABLE IF EXISTS {name}")
                self._made = [n for n in self._made if n != name]

    def _is_replaced(self, table: TableName, sink: Sink) -> bool:
        """Whether a table must make room; others keep their foreign keys, which would follow it."""
        found = self.connection.beside.tables(table)
        if not found:
            return False
        if sink.if_exists != "replace" or found[0][2] != "BASE TABLE":
            raise output_exists(sink, table)
        literal = self.connection.sql.literal
        if self._ask(
            "SELECT 1 FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE UNIQUE_CONSTRAINT_SCHEMA = "
            f"{literal(table.schema or '')} AND REFERENCED_TABLE_NAME = {literal(table.name)}"
        ):
            raise known_error(IN_USE, sink.name)
        return True

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.beside.ask(query)

    def _run(self, sink: Sink, statement: str) -> None:
        self.connection.beside.run(statement, sink.name)
