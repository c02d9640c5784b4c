"""Releases in PostgreSQL: nothing is seen before the transaction ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from velado.errors import InputError
from velado.sentences import Sentence
from velado.tables.address import TableName
from velado.tables.contract import Evidence, Table
from velado.tables.postgresql.connection import PostgreSQLConnection
from velado.tables.postgresql.table import PostgreSQLTable
from velado.tables.postgresql.types import stored_as
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.sql.stage import ServerSlot, ServerStage, output_exists
from velado.tables.types import ColumnType

if TYPE_CHECKING:
    import pyarrow as pa


class PostgreSQLStage(ServerStage):
    """Side tables of a transaction that has not ended: a killed run leaves nothing."""

    connection: PostgreSQLConnection
    slots: tuple[ServerSlot, ...]

    def full_name(self, table: TableName) -> TableName:
        """In the first schema of the search path, where none is said; the user must have the right to create there."""
        schema = table.schema or self._one("SELECT current_schema()")
        if schema is None:
            raise InputError("unknown-table", "the user has no schema of its own", file=self.connection.address.text)
        if not self._one(f"SELECT count(*) FROM pg_namespace WHERE nspname = {self._text(schema)}"):
            raise InputError(
                "unknown-table",
                Sentence("the database has no schema '{schema}'", schema=schema),
                file=self.connection.address.text,
                hint="CREATE SCHEMA makes one; velado tables ADDRESS lists those that are there.",
            )
        if not self._one(f"SELECT has_schema_privilege({self._text(schema)}, 'CREATE')"):
            raise InputError(
                "no-right",
                Sentence("the user may not create tables in the schema '{schema}'", schema=schema),
                file=self.connection.address.text,
                hint=Sentence("GRANT CREATE, USAGE ON SCHEMA {schema} TO the user, or choose another schema.", schema=schema),
            )
        return TableName(table.name, schema)

    def exists(self, table: TableName) -> bool:
        """Whatever kind of relation it is."""
        return self._one(f"SELECT to_regclass({self._text(self.quote_table(table))})") is not None

    def is_read(self, table: TableName) -> bool:
        """A transaction holds a lock on every table that it has read, also below a view or in a query."""
        return bool(
            self._one(
                "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() "
                f"AND relation = to_regclass({self._text(self.quote_table(table))})"
            )
        )

    def make(self, slot: ServerSlot, schema: pa.Schema) -> None:
        """With the types of the rows."""
        listed = ", ".join(f"{self.connection.sql.quote(f.name)} {stored_as(f.type)}" for f in schema)
        self._run(slot.sink, f"CREATE TABLE {slot.side} ({listed})")

    def fill(self, slot: ServerSlot, query: str) -> None:
        """Made by the query; texts get the usual collation again, which needs no rewriting."""
        if slot.made:
            self._run(slot.sink, f"INSERT INTO {slot.side} {query}")
            return
        self._run(slot.sink, f"CREATE TABLE {slot.side} AS {query}")
        usual = [
            f'ALTER COLUMN {self.connection.sql.quote(f.name)} TYPE text COLLATE "default"'
            for f in slot.fields
            if f.type is ColumnType.TEXT
        ]
        if usual:
            self._run(slot.sink, f"ALTER TABLE {slot.side} {', '.join(usual)}")

    def open_side(self, slot: ServerSlot, session: Session) -> Table:
        """In the same transaction, which is the only one that sees it. Counting is planned by statistics."""
        self._run(slot.sink, f"ANALYZE {slot.side}")
        return PostgreSQLTable(slot.sink.source(), session, self.connection, slot.side)

    def give_names(self, evidence: Sequence[Evidence | None]) -> None:
        """Rename, write the manifests, comment, commit."""
        for slot, found in zip(self.slots, evidence, strict=True):
            sink, sql = slot.sink, self.connection.sql
            grants = self._replace(slot.target, sink)
            self._run(sink, f"ALTER TABLE {slot.side} RENAME TO {sql.quote(slot.target.name)}")
            name = self.quote_table(slot.target)
            for privilege, role in grants:
                self._run(sink, f"GRANT {privilege} ON {name} TO {role}")
            if found is None or not sink.evidence:
                continue
            manifest = slot.target.beside("_manifest")
            self._replace(manifest, sink)
            beside = self.quote_table(manifest)
            self._run(sink, f"CREATE TABLE {beside} (manifest jsonb)")
            self._run(sink, f"INSERT INTO {beside} VALUES ({sql.literal(found.manifest)})")
            self._run(sink, f"COMMENT ON TABLE {name} IS {sql.literal(found.comment)}")
            for privilege, role in grants:
                if privilege == "SELECT":
                    self._run(sink, f"GRANT SELECT ON {beside} TO {role}")
        self.connection.commit()

    def _replace(self, table: TableName, sink: Sink) -> list[tuple[str, str]]:
        """Make room for a table; who may do what with the one that was there."""
        if not self.exists(table):
            return []
        if sink.if_exists != "replace":
            raise output_exists(sink, table)
        name = self.quote_table(table)
        grants = self.connection.ask(
            "SELECT a.privilege_type, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END "
            f"FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = to_regclass({self._text(name)}) AND a.grantee <> c.relowner",
            sink.name,
        )
        self._run(sink, f"DROP TABLE {name}")
        return [(str(privilege), str(role)) for privilege, role in grants]

    def _one(self, query: str) -> Any:
        return self.connection.ask(query)[0][0]

    def _text(self, text: str) -> str:
        return self.connection.sql.literal(text)

    def _run(self, sink: Sink, statement: str) -> None:
        self.connection.run(statement, sink.name)
