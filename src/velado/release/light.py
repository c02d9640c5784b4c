"""Light anonymization: only the operations of the columns, no model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from velado.errors import InputError
from velado.methods import Progress
from velado.project.document import Project
from velado.release.manifest import Manifests, light_manifests
from velado.release.publishing import Prepared
from velado.release.result import LightRelease
from velado.release.treatments import check_operations, described, told, treatments
from velado.release.verify import verify_operations
from velado.schema import Schema
from velado.tables import DuckDBTable, Recoded


@dataclass(frozen=True)
class Light(Prepared):
    """A release in which every operation was applied to every record, and nothing else happened."""

    rows: int

    @classmethod
    def of(cls, project: Project, table: DuckDBTable, progress: Progress) -> Light:
        """Check the description against the table, and find out what becomes of every value."""
        schema = Schema(project.columns).fitted(table.header, project.rest, table.source.name)
        check_operations(project, schema)
        if project.output.recoding is not None or project.output.suppressed != "drop":
            raise InputError(
                "light-project", "'anonymization: light' recodes and suppresses no records",
                hint="Leave out 'recoding' and 'suppressed' of the output.",
            )  # fmt: skip
        progress(0.0, "applying operations")
        rows = table.rows()
        if not rows:
            raise InputError("no-rows", "the table has a header but no rows", file=table.source.name)
        light = cls(project, table, treatments(table, schema, project.folder), rows)
        if not light.header:
            raise InputError("no-columns", "every column is dropped: nothing would be published")
        return light

    def recoded(self) -> Recoded:
        """The operations."""
        return told(self.treatments)

    @property
    def header(self) -> list[str]:
        """The columns of the release."""
        dropped = self.recoded().dropped
        return [name for name in self.table.header if name not in dropped]

    def verify(self, written: Any, guarded: bool) -> None:
        """Every operation was applied in what was written."""
        verify_operations(written, self.header, self.rows, self.treatments, guarded)

    def manifests(self, proof: None, digest: str | None) -> Manifests:
        """The manifests."""
        return light_manifests(self.made(self.rows, digest))

    def release(self, proof: None, **where: Any) -> LightRelease:
        """The release."""
        treated = {t.column for t in self.treatments}
        unchanged = tuple(name for name in self.header if name not in treated)
        operations = described(self.treatments, self.project.folder)
        return LightRelease(self.project.name, self.rows, operations, unchanged, **where)
