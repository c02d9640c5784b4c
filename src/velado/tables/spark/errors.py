"""Spark's errors in our words.

What Spark says may quote a cell, and a stack trace may quote a whole row: only its conditions are read.
"""

from __future__ import annotations

import re
from typing import Any

from velado.errors import InputError, disk_full
from velado.sentences import Sentence
from velado.tables.address import Cluster
from velado.tables.sql.errors import (
    APPEARED,
    CHANGED,
    NO_COLUMN,
    NO_SQL,
    NO_TABLE,
    connection_lost,
    engine_error,
    known_error,
    login_refused,
    no_server,
)

NO_RIGHT = (
    "no-right",
    Sentence("the user has no right to do this"),
    Sentence("Needed are the rights to read the source, and to write, rename and remove beside the output."),
)
NO_FILE = (
    "missing-file",
    Sentence("the cluster finds no such file"),
    Sentence("A path is one of the cluster, seen by every executor: hdfs://…, s3a://…, or a folder that all of them share."),
)
NO_SCHEMA = (
    "unknown-table",
    Sentence("the database has no such schema"),
    Sentence("CREATE SCHEMA makes one; velado tables ADDRESS lists those that are there."),
)
NO_FORMAT = (
    "unknown-format",
    Sentence("the session of Spark does not have this format"),
    Sentence("Delta and Iceberg need their packages in the session (spark.jars.packages)."),
)
NO_MEMORY = (
    "out-of-memory",
    Sentence("an executor or the driver ran out of memory; nothing was published"),
    Sentence("Raise spark.executor.memory, spark.executor.memoryOverhead or spark.driver.memory, or use more partitions."),
)
TOO_MUCH = (
    "out-of-memory",
    Sentence("a result is larger than the driver takes; nothing was published"),
    Sentence("Raise spark.driver.maxResultSize, or write the release where the cluster keeps its tables."),
)
LOST = (
    "connection-lost",
    Sentence("executors were lost, more often than Spark tries again; nothing was published"),
    Sentence("Run again; raise spark.task.maxFailures or the memory of executors if it happens again."),
)
STOPPED = (
    "connection-lost",
    Sentence("the session of Spark has ended; nothing was published"),
    Sentence("Start a new session and run again."),
)
BAD_FILE = (
    "unreadable-file",
    Sentence("a file of the table cannot be read as what it is said to be"),
    Sentence("Are format, delimiter, quote and encoding right?"),
)
NO_PACKAGE = (
    "missing-extra",
    Sentence("the executors do not have Velado"),
    Sentence("Install the same version of velado and its packages on the executors, or ship them: see docs/how-to/spark.md."),
)

CONDITIONS = {
    "TABLE_OR_VIEW_NOT_FOUND": NO_TABLE,
    "SCHEMA_NOT_FOUND": NO_SCHEMA,
    "TABLE_OR_VIEW_ALREADY_EXISTS": APPEARED,
    "LOCATION_ALREADY_EXISTS": APPEARED,
    "PATH_ALREADY_EXISTS": APPEARED,
    "PATH_NOT_FOUND": NO_FILE,
    "UNRESOLVED_COLUMN": NO_COLUMN,
    "PARSE_SYNTAX_ERROR": NO_SQL,
    "DATA_SOURCE_NOT_FOUND": NO_FORMAT,
    "FAILED_READ_FILE.FILE_NOT_EXIST": CHANGED,
    "FAILED_READ_FILE": BAD_FILE,
    "CANNOT_READ_FILE_FOOTER": BAD_FILE,
    "UNABLE_TO_INFER_SCHEMA": BAD_FILE,
    "MALFORMED_RECORD_IN_PARSING": BAD_FILE,
    "MALFORMED_CSV_RECORD": BAD_FILE,
    "INSUFFICIENT_TABLE_PERMISSION": NO_RIGHT,
}
"""By the beginning of Spark's own condition."""
SIGNS = (
    (r"FILE_NOT_EXIST|FileNotFoundException.*(parquet|orc|csv)|_FILE_READING_ERROR.*NOT_EXIST", CHANGED),
    (r"ParentNotDirectoryException|Mkdirs failed|Read-only file system", NO_RIGHT),
    (r"AccessControlException|Permission denied|AccessDenied|not authorized|Access Denied", NO_RIGHT),
    (r"No space left on device|DSQuotaExceededException|disk quota", None),
    (r"No module named 'velado'|No module named \\'velado", NO_PACKAGE),
    (r"OutOfMemoryError|MemoryError|Java heap space|exit code 137|memory limits", NO_MEMORY),
    (r"spark\.driver\.maxResultSize", TOO_MUCH),
    (r"ExecutorLostFailure|Master removed our application|All masters are unresponsive|FetchFailed|no executors", LOST),
    (
        r"SparkContext was shut down|stopped SparkContext|SESSION_CLOSED|INVALID_HANDLE|Answer from Java side is empty"
        r"|Connection refused|UNAVAILABLE|Py4JNetworkError|Socket closed|CONNECTION_CLOSED|NO_ACTIVE_SESSION",
        STOPPED,
    ),
)
"""What stands somewhere in an error that has no condition of its own."""


def translate_error(error: Any, name: str) -> BaseException:
    """The error that a user gets for one of Spark's about ``name``."""
    condition, said = condition_of(error), _full_text(error)
    for begin, known in CONDITIONS.items():
        # Errors that come the long way from Java have no condition of their own.
        if condition.startswith(begin) or f"[{begin}" in said:
            return known_error(known, name)
    for pattern, told_of in SIGNS:
        if re.search(pattern, said):
            return disk_full() if told_of is None else known_error(told_of, name)
    if isinstance(error, (ConnectionError, EOFError)):
        return connection_lost(name)
    return engine_error(condition or type(error).__name__, name)


def condition_of(error: Any) -> str:
    """Spark's name of what went wrong."""
    for ask in ("getCondition", "getErrorClass"):
        found = getattr(error, ask, None)
        if found is not None:
            try:
                return str(found() or "")
            except Exception:
                return ""
    return ""


def _full_text(error: Any) -> str:
    """Everything that an error says, for signs to be looked for; it is shown to nobody."""
    java = getattr(error, "java_exception", None)
    parts = [type(error).__name__, str(error), "" if java is None else str(java.toString())]
    cause = getattr(error, "__cause__", None)
    return " ".join([*parts, "" if cause is None else str(cause)])


def not_connected(error: Any, address: Cluster) -> InputError:
    """The error for a cluster that cannot be spoken to."""
    said = _full_text(error)
    if "JAVA_GATEWAY_EXITED" in said or "JAVA_HOME" in said:
        return InputError("no-java", "Spark cannot start Java on this machine", hint="Install Java 17 or newer, and set JAVA_HOME.")
    if re.search(r"UNAUTHENTICATED|authentication|PERMISSION_DENIED", said):
        return login_refused(address.text)
    return no_server(address.text)
