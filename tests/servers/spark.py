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

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For machines that live for a minute: what Java's second compiler does pays later, and takes half of the time till then."""
SHORT = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": JAVA,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.default.parallelism": "2",
    "spark.executor.extraJavaOptions": JAVA,
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
}
"""Small tables, nobody who looks at a page."""
QUIET = {
    "spark.log.level": "OFF",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.ui.showConsoleProgress": "false",
}


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


def environment() -> dict[str, str]:
    """That of processes which begin a session of their own."""
    settings = folder() / "conf" / "spark-defaults.conf"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text("".join(f"{key} {value}\n" for key, value in SHORT.items()))
    own = {"SPARK_CONF_DIR": str(settings.parent), "SPARK_LOCAL_DIRS": str(folder() / "local"), "SPARK_LOCAL_IP": "127.0.0.1"}
    return {**os.environ, **own, "PYSPARK_PYTHON": sys.executable}


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
    settings = {**SHORT, **QUIET, "spark.sql.warehouse.dir": str(folder() / "tables"), "spark.local.dir": str(folder() / "local")}
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
