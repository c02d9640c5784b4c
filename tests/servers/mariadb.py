"""A real MariaDB server in a temporary folder, one per process of the tests."""

from __future__ import annotations

import atexit
import getpass
import shutil
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import pymysql
import pytest

SERVER = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin:/usr/local/sbin:/usr/local/bin")
INSTALL = shutil.which("mariadb-install-db")


class Server:
    """Start, stop, kill; the folder stays until the process ends."""

    def __init__(self, *options: str) -> None:
        if SERVER is None or INSTALL is None:
            pytest.skip("mariadbd is not installed: apt-get install mariadb-server")
        self.folder = Path(tempfile.mkdtemp(prefix="velado-maria-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        atexit.register(self.kill)
        self.options, self.process = options, None
        self.socket = self.folder / "s.sock"
        subprocess.run(
            [
                INSTALL,
                "--no-defaults",
                f"--datadir={self.folder}/data",
                f"--user={getpass.getuser()}",
                "--skip-test-db",
                "--auth-root-authentication-method=normal",
            ],
            check=True,
            capture_output=True,
        )
        self.start()

    def start(self) -> None:
        command = [
            SERVER,
            "--no-defaults",
            f"--datadir={self.folder}/data",
            f"--socket={self.socket}",
            "--skip-networking",
            f"--user={getpass.getuser()}",
            "--innodb-flush-log-at-trx-commit=0",
            f"--pid-file={self.folder}/pid",
            *self.options,
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(1200):
            try:
                self.connect().close()
                return
            except pymysql.Error:
                assert self.process.poll() is None, "mariadbd does not start"
                time.sleep(0.1)
        raise AssertionError("mariadbd does not answer")

    def kill(self) -> None:
        """At once, as a power failure does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def connect(self, user: str = "root", **options: Any) -> Any:
        return pymysql.connect(
            unix_socket=str(self.socket),
            user=user,
            autocommit=True,
            charset="utf8mb4",
            init_command="SET SESSION sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES'",
            **options,
        )

    def address(self, user: str = "root", database: str = "clinic") -> str:
        return f"mariadb://{user}@localhost/{database}?unix_socket={self.socket}"

    def ask(self, query: str, user: str = "root") -> list[tuple[Any, ...]]:
        with self.connect(user) as connection, connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())

    def tables(self, schema: str = "clinic") -> set[str]:
        """All tables and views of a schema, whatever they are called."""
        found = self.ask(f"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{schema}'")
        return {name for (name,) in found}


@cache
def server() -> Server:
    """The one of this process; it has a database ``clinic``."""
    found = Server()
    found.ask("CREATE DATABASE clinic CHARACTER SET utf8mb4")
    return found
