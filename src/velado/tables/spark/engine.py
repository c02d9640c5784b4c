"""The engine of Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from velado.tables.contract import Capability, Engine, Stage, Table
from velado.tables.listing import Listed, Place
from velado.tables.session import Session
from velado.tables.sink import Sink
from velado.tables.source import Source


class SparkEngine(Engine):
    """A cluster counts, recodes, writes and reads back; the driver sees how often combinations occur, and no row.

    Rows have no order. Several tables cannot get their names at one moment. Tables whose combinations do not fit the
    driver are cut and solved on the cluster (`Spread`), so that nothing has to be split from here.
    """

    name: ClassVar[str] = "spark"
    capabilities: ClassVar[frozenset[Capability]] = frozenset({Capability.SPREAD, Capability.INTERRUPT})

    def open(self, source: Source, session: Session) -> Table:
        """Open a table, a view, a query, files, or a DataFrame."""
        from velado.tables.spark.connection import SparkConnection
        from velado.tables.spark.table import SparkTable

        table = SparkTable(source, session, SparkConnection.of(source, session))
        table.engine = self
        return table

    def stage(self, sinks: Sequence[Sink], session: Session) -> Stage:
        """Side tables beside the targets, hidden folders beside the targets, or DataFrames."""
        from velado.tables.spark.connection import SparkConnection
        from velado.tables.spark.stage import SparkStage

        return SparkStage(sinks, session, SparkConnection.of(sinks[0].source(), session))

    def tables(self, place: Place, session: Session) -> list[Listed]:
        """Those of the catalog that is in use."""
        from velado.tables.spark.connection import SparkConnection
        from velado.tables.spark.listing import tables_of

        connection = SparkConnection.of(Source(database=place.database, table="any"), session)
        try:
            return tables_of(connection)
        finally:
            session.connections.give_back(connection.place)
