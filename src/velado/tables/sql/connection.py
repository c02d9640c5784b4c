"""A conversation with a server, in one transaction: what is read is one snapshot, what is written appears with its end."""

from __future__ import annotations

import itertools
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from velado.errors import Cancelled
from velado.progress import Progress
from velado.tables.address import Address, TableName
from velado.tables.session import Session
from velado.tables.sql.dialect import SqlDialect
from velado.tables.types import Field

if TYPE_CHECKING:
    import pyarrow as pa


class AtDatabase(Protocol):
    """A source, a sink, or the database itself."""

    @property
    def database(self) -> Address | None:
        """Where it is."""


@dataclass(frozen=True)
class ServerColumn:
    """A column as a server describes it: ``kind`` is the server's own type; ``cell`` how it is read in SQL, without
    its name; ``stored`` the type in which its values are written."""

    field: Field
    kind: str
    cell: str
    stored: str


class Connection(ABC):
    """Statements, results in Arrow, small tables. Errors are told in our words; whoever cancels the call ends a statement."""

    dialect: Callable[..., SqlDialect]
    """How the server speaks, by its own types of a table's columns."""

    def __init__(self, address: Address, progress: Progress) -> None:
        self.address, self.progress = address, progress
        self.sql = self.dialect()
        self.token = secrets.token_hex(6)
        self._numbers = itertools.count(1)

    @classmethod
    def borrow(cls, at: AtDatabase, session: Session) -> Any:
        """The connection of a session to a database: all its tables see one snapshot."""
        address = at.database
        assert address is not None
        connection = session.connections.borrow(address, lambda: cls(address, session.progress))
        connection.progress = session.progress
        return connection

    @property
    def place(self) -> Hashable:
        """What a session knows it by."""
        return self.address

    def speaking(self, kinds: Mapping[str, str]) -> SqlDialect:
        """How the server says things about columns of some of its types."""
        return self.dialect(kinds)

    # What servers say

    @abstractmethod
    def execute(self, statement: str) -> Any:
        """Run a statement, as the driver does."""

    @abstractmethod
    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query, as the driver gives them."""

    @abstractmethod
    def stream_rows(self, query: str) -> pa.RecordBatchReader:
        """The rows of a query in batches, types by those of the server."""

    @abstractmethod
    def load(self, table: str, batches: Iterator[pa.RecordBatch]) -> None:
        """Append batches to a table."""

    @abstractmethod
    def describe_columns(self, relation: str, name: str) -> list[ServerColumn]:
        """The columns of a relation."""

    @abstractmethod
    def find(self, table: TableName) -> TableName | None:
        """The full name of a table or view that is there and may be read."""

    @abstractmethod
    def temporary(self, name: str, columns: Mapping[str, pa.DataType]) -> None:
        """Make a temporary table; texts are told apart by their bytes."""

    @abstractmethod
    def prepare_joins(self, name: str, columns: Sequence[str]) -> None:
        """A temporary table has its rows: make joins with it fast."""

    @abstractmethod
    def translate_error(self, error: Exception, name: str) -> BaseException:
        """The error that a user gets for one of the driver's. No cell is repeated."""

    @abstractmethod
    def interrupt(self) -> None:
        """End the statement that is running, from another thread."""

    @abstractmethod
    def close(self) -> None:
        """End the conversation; what was not committed is gone."""

    @property
    @abstractmethod
    def errors(self) -> tuple[type[Exception], ...]:
        """Errors of the driver."""

    # What all do alike

    @contextmanager
    def watch(self, name: str | None = None) -> Iterator[None]:
        """Errors in our words; a cancelled call explains every other error."""
        try:
            with self.progress.interrupting(self.interrupt):
                yield
        except self.errors as error:
            if self.progress.cancelled:
                raise Cancelled() from None
            raise self.translate_error(error, name or self.address.text) from None

    def run(self, statement: str, name: str | None = None) -> Any:
        """Run a statement."""
        with self.watch(name):
            return self.execute(statement)

    def ask(self, query: str, name: str | None = None) -> list[tuple[Any, ...]]:
        """The rows of a small result."""
        with self.watch(name):
            return self.fetch_rows(query)

    def batches(self, query: str, name: str | None = None) -> pa.RecordBatchReader:
        """The rows of a result, some at a time."""
        import pyarrow as pa

        with self.watch(name):
            reader = self.stream_rows(query)

        def rows() -> Iterator[Any]:
            with self.watch(name):
                for batch in reader:
                    self.progress.check()
                    yield batch

        return pa.RecordBatchReader.from_batches(reader.schema, rows())

    def lookup(self, columns: Mapping[str, Any]) -> str:
        """A small table for joins, from Arrow arrays; its name."""
        import pyarrow as pa

        name = self.temporary_name()
        table = pa.table(dict(columns))
        with self.watch():
            self.temporary(name, {f.name: f.type for f in table.schema})
            self.load(name, iter(table.to_batches()))
            self.prepare_joins(name, [n for n in table.column_names if n == "velado_key" or (n[0] in "kp" and n[1:].isdigit())])
        return name

    def temporary_name(self, ending: str = "") -> str:
        """What a new temporary table is called in statements."""
        return self.new_name() + ending

    def new_name(self) -> str:
        """A name that no other table has."""
        return f"velado_{self.token}_{next(self._numbers)}"
