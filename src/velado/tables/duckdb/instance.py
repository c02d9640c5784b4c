"""An engine in this process: its memory, its private folder, and the files that it may reach."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from velado.tables.duckdb.dialect import as_pattern
from velado.tables.duckdb.errors import translate_error
from velado.tables.publication.private import PrivateFolder
from velado.tables.session import Session
from velado.tables.sql.dialect import literal

DATABASE = "velado_file"
"""What an attached database file is called inside."""
CONFIGURABLE = ("memory_limit", "preserve_insertion_order", "threads")


@dataclass(frozen=True)
class Room:
    """Where a table works: its own connection to an engine, and its own folder. ``token`` makes names in it its own."""

    connection: Any
    folder: Path
    close: Callable[[], None]
    token: str = ""


class Instance:
    """It reaches some files and its private folder, and no other file.

    ``database``: a DuckDB file that is attached, to be read, or, if ``writable``, to be written; it is ``at`` another place
    while it is made. Tables of one database file share an instance, as the engine opens a file that is written only once.
    """

    def __init__(
        self,
        session: Session,
        files: Sequence[Path] = (),
        database: Path | None = None,
        writable: bool = False,
        at: Path | None = None,
    ) -> None:
        import duckdb

        self.writable = writable
        self._private = PrivateFolder.beside(session.scratch)
        self.folder = self._private.path
        # The engine's own default is a folder in the working directory, open to everybody.
        settings = {"memory_limit": f"{session.memory}B", "temp_directory": str(self.folder / "spilled")}
        self.connection = self._connect({**settings, "preserve_insertion_order": "false"})
        try:
            reached = [*files]
            if database is not None:
                place = at or database
                reached += [place, place.with_name(place.name + ".wal")]
                mode = "" if writable else " (READ_ONLY)"
                self.connection.execute(f"ATTACH {literal(str(place.absolute()))} AS {DATABASE}{mode}")
                self.connection.execute(f"USE {DATABASE}")
            self._lock(reached)
        except duckdb.Error as error:
            self.close()
            raise translate_error(error, str(database or "")) from None
        except BaseException:
            self.close()
            raise

    def _connect(self, settings: dict[str, Any]) -> Any:
        """Start the engine: most of what opening a small table takes."""
        import duckdb

        return duckdb.connect(config=settings)

    def _lock(self, files: Sequence[Path]) -> None:
        """From now on the engine reaches these files and its private folder, and no other file."""
        reached = [name for path in files for name in (str(path.absolute()), as_pattern(path.absolute()))]
        for name, values in (
            ("allowed_paths", reached),
            ("allowed_directories", [str(self.folder)]),
            ("allowed_configs", CONFIGURABLE),
        ):
            self.connection.execute(f"SET {name} = [{', '.join(map(literal, values))}]")
        for setting in (
            # What a time with a zone is called must not depend on the machine.
            "GLOBAL TimeZone = 'UTC'",
            "TimeZone = 'UTC'",
            "GLOBAL python_enable_replacements = false",
            "python_enable_replacements = false",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            self.connection.execute(f"SET {setting}")

    def whole(self) -> Room:
        """All of it, for one table."""
        return Room(self.connection, self.folder, self.close)

    def room(self, leave: Callable[[], None]) -> Room:
        """A connection beside others; ``leave`` says that it is needed no more."""
        connection, token = self.connection.cursor(), secrets.token_hex(4)
        connection.execute(f"USE {DATABASE}")

        left = False

        def close() -> None:
            nonlocal left
            if not left:
                left = True
                connection.close()
                leave()

        return Room(connection, self._private.folder(token), close, token)

    def close(self) -> None:
        """Close the engine and remove temporary files."""
        self.connection.close()
        self._private.remove()


def borrow_instance(
    session: Session, database: Path, writable: bool, at: Path | None = None
) -> tuple[Instance, Callable[[], None]]:
    """The instance of a session that has a database file open, and how it is given back."""
    place = ("duckdb", database.resolve())
    instance = session.connections.borrow(place, lambda: Instance(session, (), database, writable, at))
    return instance, lambda: session.connections.give_back(place)
