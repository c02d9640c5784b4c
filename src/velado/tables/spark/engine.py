"""The engine of Spark."""

from __future__ import annotations

from typing import ClassVar

from velado.tables.contract import Capability
from velado.tables.sql.engine import ServerEngine, ServerModules


class SparkEngine(ServerEngine):
    """A cluster counts, recodes, writes and reads back; the driver sees how often combinations occur, and no row.

    Rows have no order. Several tables cannot get their names at one moment. Tables whose combinations do not fit the
    driver are cut and solved on the cluster (`Spread`), so that nothing has to be split from here.
    """

    name: ClassVar[str] = "spark"
    capabilities: ClassVar[frozenset[Capability]] = frozenset({Capability.SPREAD, Capability.INTERRUPT})

    def modules(self) -> ServerModules:
        """Those of Spark."""
        from velado.tables.spark.connection import SparkConnection
        from velado.tables.spark.listing import tables_of
        from velado.tables.spark.stage import SparkStage
        from velado.tables.spark.table import SparkTable

        return ServerModules(SparkConnection, SparkTable, SparkStage, tables_of)
