"""A session of Spark on this machine, one per process of the tests."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

QUICK = {
    "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "2", "spark.default.parallelism": "2", "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1", "spark.driver.memory": "1g", "spark.sql.timestampType": "TIMESTAMP_NTZ", "spark.sql.catalogImplementation": "in-memory",
}  # fmt: skip
"""Small tables, nobody who looks at a page."""


def reason() -> str | None:
    """Why there is no Spark here; None if there is."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed: pip install 'velado[spark]'"
    return None if os.environ.get("JAVA_HOME") or shutil.which("java") else "Java is not installed: Spark needs it"


@cache
def folder() -> Path:
    """Where the session keeps its tables; it is removed at the end."""
    made = Path(tempfile.mkdtemp(prefix="velado-spark-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


MASTER = os.environ.get("VELADO_SPARK_MASTER", "local[2]")
"""Executors in the process of the driver; `make spark` has real ones: local-cluster[2,1,1024]."""


@cache
def session(master: str = MASTER) -> Any:
    """The session of this process."""
    lacking = reason()
    if lacking is not None:
        pytest.skip(lacking)
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("tests")
    settings = {
        **QUICK,
        "spark.sql.warehouse.dir": str(folder() / "tables"),
        "spark.local.dir": str(folder() / "local"),
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
