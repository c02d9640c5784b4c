"""Conversations with MariaDB or MySQL: one that keeps a snapshot, and one beside it for what would end that."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from velado.errors import InputError, missing_package, suggest
from velado.progress import Progress
from velado.sentences import Sentence
from velado.tables.address import Address, TableName
from velado.tables.mariadb.dialect import MariaDBDialect
from velado.tables.mariadb.errors import not_connected, number_of, translate_error
from velado.tables.mariadb.types import arrow_of, column_of, stored_as
from velado.tables.mariadb.values import columns_of, inserts, widths
from velado.tables.session import Session
from velado.tables.sql.connection import AtDatabase, Connection, ServerColumn

if TYPE_CHECKING:
    import pyarrow as pa

MODES = "ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"
HEAP = 512 << 20
SETTINGS = {
    "sql_mode": f"'{MODES}'",
    "time_zone": "'+00:00'",
    "lock_wait_timeout": "30",
    "innodb_lock_wait_timeout": "30",
    "wait_timeout": "2147483",
    "net_write_timeout": "86400",
    "net_read_timeout": "86400",
}
"""What texts of values depend on; how long to wait for a lock; a search may take long."""
WISHES = {
    "tmp_table_size": str(HEAP),
    "max_heap_table_size": str(HEAP),
    "tmp_memory_table_size": str(HEAP),
    "sort_buffer_size": str(64 << 20),
    "innodb_snapshot_isolation": "ON",
    "optimizer_search_depth": "0",
}
"""What not every server has, or allows."""
OPTIONS = ("unix_socket", "read_default_file", "read_default_group", "connect_timeout", "bind_address")
TLS = ("ssl_ca", "ssl_cert", "ssl_key", "ssl_verify_cert", "ssl_verify_identity", "ssl_disabled")
SOCKETS = ("/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock")
HERE = ("localhost", None)
SECONDS = 10
"""How long to wait for a server."""
PIECE = 20_000
"""Rows of a batch."""
SMALL, ROOM = 191, 96 << 20
"""Characters of a key, and bytes of a small table, that are kept in memory."""
TRUE = ("1", "true", "yes", "on", "")


class MariaDBConnection(Connection):
    """PyMySQL. What is read is a snapshot; `beside` is a second conversation: changes of the schema end a transaction there."""

    sql: MariaDBDialect
    bytewise, dice = "utf8mb4_nopad_bin", "RANDOM_BYTES(8)"
    """The collation that tells texts apart by their bytes, and where randomness comes from."""

    def dialect(self, kinds: Mapping[str, str] | None = None) -> MariaDBDialect:
        """By what the server is."""
        return MariaDBDialect(self.bytewise, self.dice, kinds)

    def __init__(self, address: Address, progress: Progress, snapshot: bool = True) -> None:
        super().__init__(address, progress)
        self.relations: list[str] = []
        self._driver = self._connect()
        self._schemas = [address.name] if address.name else []
        self._beside: MariaDBConnection | None = None
        self._snapshot = snapshot
        with self.watch():
            self._set_up()
            self.begin()

    @classmethod
    def borrow(cls, at: AtDatabase, session: Session) -> Any:
        """Temporary tables may also be made where the release goes."""
        connection = super().borrow(at, session)
        for sink in session.sinks:
            schema = TableName.parse(sink.table).schema if sink.database == at.database and sink.table else None
            if schema and schema not in connection._schemas:
                connection._schemas.append(schema)
        return connection

    def _connect(self) -> Any:
        try:
            import pymysql
        except ImportError:
            raise missing_package("missing-extra", "MariaDB and MySQL need an extra package", "databases") from None
        options = {**self._options(), "charset": "utf8mb4", "autocommit": True, "conv": {}}
        try:
            return pymysql.connect(**options)
        except (pymysql.Error, OSError) as error:
            problem = not_connected(error, self.address)
        if problem.code == "login-refused" and (typed := self.address.prompt_password()):
            try:
                return pymysql.connect(**{**options, "password": typed})
            except (pymysql.Error, OSError) as error:
                problem = not_connected(error, self.address)
        raise problem

    def _options(self) -> dict[str, Any]:
        """What the driver is told: the address, its options, and the file of the user's own settings."""
        a, said = self.address, dict(self.address.options)
        for option in said:
            if option not in (*OPTIONS, *TLS, "ssl"):
                message = Sentence("the driver has no option '{option}'", option=option)
                raise InputError("unknown-option", message, file=a.text, hint=suggest(option, [*OPTIONS, *TLS, "ssl"]))
        found: dict[str, Any] = {"connect_timeout": SECONDS}
        found |= {k: int(v) if k == "connect_timeout" else v for k, v in said.items() if k in OPTIONS}
        found |= {k: v.lower() in TRUE if k.startswith(("ssl_verify", "ssl_dis")) else v for k, v in said.items() if k in TLS}
        if said.get("ssl", "0").lower() in TRUE and not any(k in said for k in TLS):
            found["ssl"] = {"check_hostname": False, "verify_mode": "none"}
        own = Path("~/.my.cnf").expanduser()
        if "read_default_file" not in found and own.is_file():
            found["read_default_file"] = str(own)
        if a.host in HERE and a.port is None and not {"unix_socket", "read_default_file"} & set(found):
            found |= dict([("unix_socket", path) for path in SOCKETS if os.path.exists(path)][:1])
        given = {"host": a.host, "port": a.port, "user": a.user, "database": a.name or None, "password": a.secret()}
        return found | {k: v for k, v in given.items() if v is not None}

    def _set_up(self) -> None:
        version = str(self._driver.get_server_info())
        self.is_mariadb = "MariaDB" in version
        numbers = [int(n) for n in version.removeprefix("5.5.5-").split("-")[0].split(".")[:2]]
        self.execute("SET SESSION " + ", ".join(f"{name} = {value}" for name, value in SETTINGS.items()))
        self.execute("SET @velado_row = 0")
        refused = set()
        for name, value in WISHES.items():
            try:
                self.execute(f"SET SESSION {name} = {value}")
            except self.errors:
                refused.add(name)
        self.isolates = "innodb_snapshot_isolation" not in refused
        """Whether a locking read of rows that changed after the snapshot is an error."""
        if not self.is_mariadb:
            self.bytewise = "utf8mb4_0900_bin"
        elif numbers < [10, 10]:
            # No randomness of the system: numbers that nobody can tell without our secret.
            self.dice = f"MD5(CONCAT('{secrets.token_hex(16)}', UUID()))"
        self.execute(f"SET NAMES utf8mb4 COLLATE {self.bytewise}")
        self.sql = self.dialect()

    # One snapshot

    def begin(self) -> None:
        """From now on everything is read as it is now."""
        if self._snapshot:
            self.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            self.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        else:
            self.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")

    def commit(self) -> None:
        """Keep what was written; what is read from now on is a later snapshot."""
        with self.watch():
            self.execute("COMMIT")
            self.begin()

    def roll_back(self) -> None:
        """Forget what was written; nothing is said where there is nobody any more to tell it to."""
        with suppress(*self.errors, OSError):
            self.execute("ROLLBACK")
            self.begin()

    def hold(self) -> None:
        """As long as this conversation lasts, nobody sweeps its tables away."""
        self.ask(f"SELECT GET_LOCK('velado_{self.token}', 0)")

    @property
    def beside(self) -> MariaDBConnection:
        """Another conversation with the same server, outside the transaction: it sees what is there now."""
        if self._beside is None:
            self._beside = MariaDBConnection(self.address, self.progress, snapshot=False)
        self._beside.progress, self._beside._schemas = self.progress, self._schemas
        return self._beside

    # Statements

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Those of PyMySQL."""
        import pymysql

        return (pymysql.Error, ConnectionError)

    def translate_error(self, error: Exception, name: str) -> BaseException:
        """By the number that the server tells."""
        return translate_error(error, name)

    def execute(self, statement: str) -> Any:
        """Without parameters, so that % stays what it is."""
        with self._driver.cursor() as cursor:
            return cursor.execute(statement)

    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows, numbers as numbers."""
        with self._driver.cursor() as cursor:
            cursor.execute(query)
            if cursor.description is None:
                return []
            types = [arrow_of(field) for field in cursor._result.fields]
            rows = columns_of(cursor.fetchall(), types)
        return list(zip(*(column.to_pylist() for column in rows), strict=True))

    def stream_rows(self, query: str) -> pa.RecordBatchReader:
        """Rows as the server sends them."""
        import pyarrow as pa
        from pymysql.cursors import SSCursor

        cursor = SSCursor(self._driver)
        cursor.execute(query)
        fields = cursor._result.fields
        schema = pa.schema([(field.name, arrow_of(field)) for field in fields])

        def rows() -> Iterator[pa.RecordBatch]:
            ended = False
            try:
                while found := cursor.fetchmany(PIECE):
                    yield pa.RecordBatch.from_arrays(columns_of(found, schema.types), schema=schema)
                ended = True
            finally:
                if not ended:
                    # Nobody wants the rest, which would have to be read before anything else.
                    self.interrupt()
                with suppress(*self.errors):
                    cursor.close()
                cursor.connection = None

        return pa.RecordBatchReader.from_batches(schema, rows())

    def load(self, table: str, batches: Iterator[pa.RecordBatch]) -> None:
        """By statements of some megabytes."""
        for batch in batches:
            for values in inserts(batch):
                self.progress.check()
                self.execute(f"INSERT INTO {table} VALUES {values}")

    def describe_columns(self, relation: str, name: str) -> list[ServerColumn]:
        """The columns, by the types that a copy of the relation would have."""
        with self.watch(name):
            found = self.layout(f"SELECT * FROM {relation}")
        return [column_of(self.sql, column, kind, collation) for column, kind, collation in found]

    def layout(self, query: str) -> list[tuple[str, str, str | None]]:
        """Name, type and collation of each column of a query."""
        made = self.temporary_name()
        self.execute(f"CREATE TEMPORARY TABLE {made} AS {query} LIMIT 0")
        found = self.fetch_rows(f"SHOW FULL COLUMNS FROM {made}")
        self.execute(f"DROP TEMPORARY TABLE {made}")
        return [(row[0], row[1], row[2]) for row in found]

    def reads(self, table: str) -> bool:
        """Whether what is read comes from a table, by the names that the server gives the tables behind views and queries."""
        for relation in self.relations:
            with suppress(*self.errors):
                self.execute(
                    f"EXPLAIN EXTENDED SELECT * FROM {relation}" if self.is_mariadb else f"EXPLAIN SELECT * FROM {relation}"
                )
                said = " ".join(str(row[2]) for row in self.fetch_rows("SHOW WARNINGS"))
                if table in said.replace("`", '"') or table == relation:
                    return True
        return False

    def find(self, table: TableName) -> TableName | None:
        """In the database of the address, where no schema is said; names are those of the server, exactly."""
        found = self.tables(table)
        return TableName(found[0][1], found[0][0]) if found else None

    def tables(self, table: TableName) -> list[tuple[Any, ...]]:
        """Schema, name, kind, engine and bytes of a table, if it is there."""
        schema = self.sql.literal(table.schema or self.address.name)
        same = "=" if self._same_names else "= BINARY"
        return self.ask(
            "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES "
            f"WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {self.sql.literal(table.name)} "
            f"AND TABLE_NAME {same} {self.sql.literal(table.name)}"
        )

    @cached_property
    def _same_names(self) -> bool:
        """Whether capitals make no difference in names."""
        return bool(self.ask("SELECT @@lower_case_table_names")[0][0])

    # Temporary tables

    @cached_property
    def _scratch(self) -> str:
        """The schema of temporary tables: the first in which the user may make some."""
        for schema in self._schemas:
            place = self.sql.quote(schema)
            try:
                self.execute(f"CREATE TEMPORARY TABLE {place}.velado_{self.token}_0 (a int) ENGINE = MEMORY")
            except self.errors as error:
                if number_of(error) not in (1044, 1142) or schema == self._schemas[-1]:
                    raise
                continue
            self.execute(f"DROP TEMPORARY TABLE {place}.velado_{self.token}_0")
            return place
        raise InputError(
            "unknown-database", "the address names no database", file=self.address.text, hint="mariadb://user@host/database"
        )

    def temporary_name(self, ending: str = "") -> str:
        """With its schema: there may be no usual one."""
        return f"{self._scratch}.{self.new_name()}{ending}"

    def lookup(self, columns: Mapping[str, Any]) -> str:
        """Small ones in memory, with an index of hashes."""
        import pyarrow as pa

        table = pa.table(dict(columns))
        with self.watch():
            name = self.temporary_name()
            found = widths(table)
            kinds = {f.name: stored_as(f.type, found.get(f.name)) for f in table.schema}
            keys = [n for n in table.column_names if n in ("velado_key", "other") or (n[0] in "kp" and n[1:].isdigit())]
            size = table.num_rows * (sum(4 * w for w in found.values()) + 8 * len(kinds) + 16)
            memory = size < ROOM and "longtext" not in kinds.values() and all(found.get(k, 0) <= SMALL for k in keys)
            listed = [
                f"{n} {k}" + (f" CHARACTER SET utf8mb4 COLLATE {self.sql.bytewise}" if n in found else "") for n, k in kinds.items()
            ]
            listed += [f"KEY ({', '.join(_key(k, found.get(k, 0)) for k in keys[:16])})"] if keys else []
            engine = "MEMORY" if memory else "InnoDB"
            self.execute(f"CREATE TEMPORARY TABLE {name} ({', '.join(listed)}) ENGINE = {engine}")
            self.load(name, iter(table.to_batches()))
        return name

    def temporary(self, name: str, columns: Mapping[str, pa.DataType]) -> None:
        """`lookup` makes them, which knows how long texts are."""
        raise NotImplementedError

    def prepare_joins(self, name: str, columns: Sequence[str]) -> None:
        """They have their indexes."""

    # The end

    def interrupt(self) -> None:
        """Ask the server, in a third conversation, to end the statement."""
        import pymysql

        with suppress(pymysql.Error, OSError, InputError):
            other = self._connect()
            try:
                with other.cursor() as cursor:
                    cursor.execute(f"KILL QUERY {self._driver.thread_id()}")
            finally:
                other.close()

    def close(self) -> None:
        """What was not committed is rolled back, and temporary tables are gone."""
        for driver in (None if self._beside is None else self._beside._driver, self._driver):
            if driver is not None:
                with suppress(*self.errors, OSError):
                    driver.close()


def _key(column: str, characters: int) -> str:
    return f"{column}({SMALL})" if characters > SMALL else column
