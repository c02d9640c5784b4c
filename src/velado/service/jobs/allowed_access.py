"""What a job may reach, against which everything is held that a project would read or write: what is not in it is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from velado.errors import InputError
from velado.models import PrivacyModel
from velado.operations.keys import Keyed
from velado.project import Project
from velado.results import Discreet
from velado.schema import Column
from velado.tables import Address, Source


@dataclass(frozen=True, repr=False)
class Allowed(Discreet):
    """Files and addresses that may be read, variables that hold keys and passwords, and the folder that is written to."""

    folder: Path
    files: set[Path] = field(default_factory=set)
    addresses: set[Address] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)

    def check(self, project: Project) -> None:
        """Raise unless a project of one table stays within."""
        if not isinstance(project.source, Source):
            raise bad_reference()
        self.check_source(project.source)
        for column in project.columns:
            self._check_column(column)
        self.check_models(project.models)
        self._check_output(project)

    def check_source(self, source: Source) -> None:
        """A file of the job, or a table or query of a connection; nothing else, and no query on a file."""
        here = source.path in self.files and source.database is None
        there = source.path is None and source.database in self.addresses
        if source.url is not None or source.data is not None or here == there or (here and source.query is not None):
            raise bad_reference()

    def check_models(self, models: Sequence[PrivacyModel]) -> None:
        """Populations are files of the job."""
        if not {self.folder / path for model in models for path in model.populations} <= self.files:
            raise bad_reference()

    def _check_column(self, column: Column) -> None:
        read: list[Path] = []
        if isinstance(column.hierarchy, Mapping) and "file" in column.hierarchy:
            read.append(self.folder / str(column.hierarchy["file"]))
        if column.operation is not None:
            read += column.operation.files(self.folder).values()
        keyed = isinstance(column.operation, Keyed)
        if not self.files.issuperset(read) or (keyed and not self._has_variable(column.operation)):
            raise bad_reference()

    def _has_variable(self, operation: object) -> bool:
        assert isinstance(operation, Keyed)
        scheme, _, name = operation.key.partition(":")
        return scheme == "env" and name in self.variables

    def _check_output(self, project: Project) -> None:
        output = project.output
        written = [path for path in (output.path, output.recoding, output.manifest) if path is not None]
        outside = any(path.parent != self.folder for path in written)
        elsewhere = output.url is not None or (output.database is not None and output.database not in self.addresses)
        if outside or elsewhere or output.in_memory:
            raise bad_reference()


def bad_reference() -> InputError:
    """The error for what leads out."""
    return InputError(
        "bad-reference",
        "the project names a file, an address or a key that is none of its own",
        hint="Name tables by sources, files by uploads, databases by connections, keys by secrets.",
    )
