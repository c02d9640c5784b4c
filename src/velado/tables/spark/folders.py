"""Folders of a cluster's file systems, through Hadoop: HDFS, object stores, and shared folders of all machines."""

from __future__ import annotations

from typing import Any

from velado.errors import InputError
from velado.tables.source import shown_url


class Folders:
    """What is done to folders themselves. Spark Connect has no way to them."""

    def __init__(self, spark: Any) -> None:
        self._java, self._spark = spark._jvm, spark
        self._settings = spark._jsparkSession.sessionState().newHadoopConf()

    def path(self, url: str) -> Any:
        """A place, by its address."""
        return self._java.org.apache.hadoop.fs.Path(url)

    def _at(self, url: str) -> tuple[Any, Any]:
        path = self.path(url)
        return path.getFileSystem(self._settings), path

    def full(self, url: str) -> str:
        """The whole address, as the file system writes it."""
        system, path = self._at(url)
        return str(system.makeQualified(path).toString())

    def exists(self, url: str) -> bool:
        """Whether there is anything."""
        system, path = self._at(url)
        return bool(system.exists(path))

    def make(self, url: str) -> None:
        """A new folder; it goes with the session if nothing else removes it."""
        system, path = self._at(url)
        if not system.mkdirs(path):
            raise InputError(
                "no-right",
                "the folder of the release cannot be made there",
                file=shown_url(url).rpartition("/")[0],
                hint="The cluster's user needs the right to write there; is the folder above it a folder?",
            )
        system.deleteOnExit(path)

    def keep(self, url: str) -> None:
        """A folder does not go with the session."""
        system, path = self._at(url)
        system.cancelDeleteOnExit(path)

    def remove(self, url: str) -> None:
        """A folder with all that is in it."""
        system, path = self._at(url)
        system.delete(path, True)

    def rename(self, url: str, to: str) -> None:
        """At one moment where the file system can; an error if the other name is taken."""
        contexts = self._java.org.apache.hadoop.fs.FileContext
        kinds = self._spark.sparkContext._gateway.new_array(self._java.org.apache.hadoop.fs.Options.Rename, 0)
        contexts.getFileContext(self.path(url).toUri(), self._settings).rename(self.path(url), self.path(to), kinds)

    def write(self, url: str, text: str) -> None:
        """A small file."""
        system, path = self._at(url)
        stream = system.create(path, False)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def names(self, url: str, beginning: str) -> list[tuple[str, int]]:
        """Names in a folder that begin so, and when they were changed, in seconds."""
        system, path = self._at(url)
        if not system.exists(path):
            return []
        found = [(s.getPath().getName(), int(s.getModificationTime()) // 1000) for s in system.listStatus(path)]
        return [(name, changed) for name, changed in found if name.startswith(beginning)]


def folders_of(connection: Any) -> Folders:
    """The folders of a session; an error where it has no way to them."""
    if connection.connects:
        raise InputError(
            "engine-cannot",
            "Spark Connect cannot give folders their names, so that a release would be seen before it is verified",
            file=connection.address.text,
            hint="Send the release to a table: output: {spark: …, table: schema.people_anonymous}.",
        )
    return Folders(connection.spark)
