"""What engines of servers share: a session speaks with a server over one connection."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from velado.tables.contract import Capability, Engine, Stage, Table
from velado.tables.listing import Listed, Place
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.source import Source

if TYPE_CHECKING:
    from velado.tables.sql.connection import Connection


class ServerModules(NamedTuple):
    """What a server's own modules hold."""

    connection: type[Connection]
    table: Callable[[Source, Session, Any], Table]
    stage: Callable[[Sequence[Sink], Session, Any], Stage]
    list_tables: Callable[[Any], list[Listed]]


class ServerEngine(Engine):
    """Tables, views and queries of a server."""

    # Rows of a table have no order.
    capabilities: ClassVar[frozenset[Capability]] = frozenset({Capability.SPLIT, Capability.ATOMIC_MANY, Capability.INTERRUPT})

    @abstractmethod
    def modules(self) -> ServerModules:
        """The server's own modules, imported when they are used."""

    def open(self, source: Source, session: Session) -> Table:
        """Open a table, a view or a query; for Spark also files or a DataFrame."""
        modules = self.modules()
        table = modules.table(source, session, modules.connection.borrow(source, session))
        table.engine = self
        return table

    def stage(self, sinks: Sequence[Sink], session: Session) -> Stage:
        """Side tables in the schemas of the targets; for Spark also hidden folders, or DataFrames."""
        modules = self.modules()
        return modules.stage(sinks, session, modules.connection.borrow(sinks[0], session))

    def tables(self, place: Place, session: Session) -> list[Listed]:
        """Those that the user may read; of Spark those of the catalog that is in use."""
        modules = self.modules()
        connection = modules.connection.borrow(place, session)
        try:
            return modules.list_tables(connection)
        finally:
            session.connections.give_back(connection.place)
