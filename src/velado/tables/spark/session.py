"""Spark's own session: the one that there is, or a new one at an address."""

from __future__ import annotations

import os
import socket
import sys
from typing import Any
from urllib.parse import urlsplit

from velado.errors import InputError
from velado.tables.address import Cluster
from velado.tables.spark.errors import not_connected
from velado.tables.sql.errors import no_server

QUIET = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
"""Settings of sessions that Velado starts: standard error belongs to messages."""
PORT = 15002
"""That of Spark Connect, where none is said."""
SECONDS = 10
PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
"""Variables that name a way to servers that cannot be spoken to directly."""


def session_at(address: Cluster) -> Any:
    """The session of this process; if there is none, a new one at the address."""
    SparkSession = _spark()
    found = _there(SparkSession) or _of_connect()
    if found is not None:
        return found
    if address.name == "session":
        raise InputError(
            "no-session",
            "there is no session of Spark in this process",
            hint="Say where the cluster is: spark: spark://host:7077, connect://host:15002 or local[*].",
        )
    if address.name.startswith("local"):
        # Executors on this machine run the same Python, with the same packages.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if address.connects:
        _check_server(address)
    builder = SparkSession.builder
    builder = builder.remote(address.master) if address.connects else builder.master(address.master)
    for key, value in {} if address.connects else QUIET.items():
        builder = builder.config(key, value)
    try:
        return builder.appName("velado").getOrCreate()
    except Exception as error:
        raise not_connected(error, address) from None


def _check_server(address: Cluster) -> None:
    """Raise at once if nobody listens there: the client of Connect itself would go on trying for ten minutes."""
    place = urlsplit(address.text)
    if any(os.environ.get(name) for name in PROXIES) or place.hostname is None:
        return
    try:
        socket.create_connection((place.hostname, place.port or PORT), SECONDS).close()
    except OSError:
        raise no_server(address.text) from None


def is_connect(spark: Any) -> bool:
    """Whether a session speaks Spark Connect: then there is no Java machine here."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def _there(SparkSession: Any) -> Any:
    """The session of this thread, or the one that another thread has made, if there is any."""
    from pyspark.errors import PySparkRuntimeError

    try:
        found = SparkSession.active()
    except PySparkRuntimeError:
        return None
    context = getattr(found, "_sc", None)
    return None if context is not None and context._jsc is None else found


def _of_connect() -> Any:
    """The session of Spark Connect that there is, if any was made."""
    connect = sys.modules.get("pyspark.sql.connect.session")
    return None if connect is None else connect.SparkSession.getActiveSession()


def _spark() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError("missing-extra", "Spark needs an extra package", hint="pip install 'velado[spark]', and Java 17") from None
    return SparkSession
