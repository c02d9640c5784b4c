"""From a prepared release to a published one: write, read back, verify, keep the evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from velado.errors import InputError, Note
from velado.methods import Progress
from velado.operations import Treatment
from velado.project.document import Project
from velado.release.manifest import Made, Manifests, manifest_path, private_path
from velado.tables import DuckDBTable, Recoded, Source, Target
from velado.values import Text


@dataclass(frozen=True)
class Prepared:
    """A table about to be released: what an engine will do to it, and how the result is judged."""

    project: Project
    table: DuckDBTable
    treatments: tuple[Treatment, ...]

    def recoded(self) -> Recoded:
        """What the engine does."""
        raise AssertionError("every preparation says what the engine does")

    def verify(self, written: Any, guarded: bool) -> Any:
        """What reading the release back proves, or `VerificationError`."""
        raise AssertionError("every preparation verifies its release")

    def manifests(self, proof: Any, digest: str | None) -> Manifests:
        """The evidence; ``digest`` is that of the output."""
        raise AssertionError("every preparation writes its manifests")

    def release(self, proof: Any, **where: Any) -> Any:
        """The result."""
        raise AssertionError("every preparation gives a release")

    def save(self, path: Path) -> None:
        """Save the recoding."""
        raise AssertionError("only what has a recoding is asked to save it")

    def labels_of(self, column: str) -> dict[Text, Text] | None:
        """What the values of a column become; None where that depends on the record, or nothing is left."""
        values = self.table.count([column]).dictionaries[0]
        treated = {t.column: t.becomes(values) for t in self.treatments if t.column == column}
        labels = treated.get(column, list(values))
        return None if labels is None else dict(zip(values, labels, strict=True))

    def notes(self, proof: Any) -> tuple[Note, ...]:
        """What a user should know of the release."""
        return tuple(note for t in self.treatments for note in t.operation.notes(t.column))

    @property
    def paths(self) -> list[Path]:
        """What is written: the manifests first, the release last."""
        output = self.project.output
        assert output.path is not None
        manifests = (manifest_path(output.path), private_path(output.path))
        return [*manifests, *([output.recoding] if output.recoding else []), output.path]

    @property
    def private(self) -> list[Path]:
        """What of it is for the owner only: it identifies what the release was made from, or lists original values."""
        return self.paths[1:-1]

    def in_memory(self, progress: Progress) -> Any:
        """The release as an Arrow table."""
        result = self.table.fetch(self.recoded(), self.project.output.order)
        self.table.check_unchanged()
        progress(0.0, "verifying")
        proof = self.verify(result, guarded=False)
        return self._released(proof, self.manifests(proof, None), table=result)

    def on_disk(self, temporary: Sequence[Path], progress: Progress) -> Any:
        """The release under temporary names, one for each of the paths."""
        output = self.project.output
        progress(0.0, "writing")
        written = self.target(temporary[-1])
        self.table.write(self.recoded(), Target(temporary[-1], written.delimiter or ",", output.order, output.guard))
        self.table.check_unchanged()
        progress(0.0, "verifying what was written")
        proof = self.verify(written, output.guard and written.kind() in ("csv", "xlsx"))
        manifests = self.manifests(proof, digest_of(temporary[-1]))
        manifests.write(temporary[0], temporary[1])
        if output.recoding is not None:
            self.save(temporary[2])
        return self._released(
            proof, manifests, output=output.path, manifest_path=self.paths[0], private_path=self.paths[1]
        )

    def _released(self, proof: Any, manifests: Manifests, **where: Any) -> Any:
        where |= {"manifest": manifests.public, "private_manifest": manifests.private}
        return self.release(proof, notes=self.notes(proof), **where)

    def made(self, rows: int, digest: str | None) -> Made:
        """What manifests say of input and output."""
        return Made(self.project, self.treatments, self.table.fingerprint(), digest, rows)

    def target(self, path: Path) -> Source:
        """The release as it will be read back."""
        output = self.project.output
        delimiter = output.delimiter or ("\t" if path.suffix.lower() in (".tsv", ".tab") else None)
        delimiter = delimiter or (self.table.dialect.delimiter if self.table.dialect else ",")
        return Source(path=path, delimiter=delimiter, encoding="utf-8", quote='"')


def check_paths(projects: Mapping[str, Project]) -> None:
    """Nothing that is written may replace what is read, or another thing that is written."""
    taken: dict[Path, str] = {}
    for name, project in projects.items():
        for what, path in _read(project).items():
            if path is not None:
                taken[path.resolve()] = f"{what} of the table '{name}'" if name else what
    for project in projects.values():
        output = project.output
        if output.path is None:
            continue
        for what, path in (
            ("release", output.path),
            ("recoding", output.recoding),
            ("manifest", manifest_path(output.path)),
            ("private manifest", private_path(output.path)),
        ):
            if path is None:
                continue
            if path.resolve() in taken:
                raise InputError(
                    "output-is-input",
                    f"the {what} would replace {taken[path.resolve()]}",
                    file=path,
                    hint="Choose another path.",
                )
            taken[path.resolve()] = f"the {what}"


def _read(project: Project) -> dict[str, Path | None]:
    read = {"the input": Source.of(project.source, project.folder).path, "the project file": project.file}
    for column in project.columns:
        if isinstance(column.hierarchy, Mapping) and "file" in column.hierarchy:
            read[f"the hierarchy of '{column.name}'"] = project.folder / str(column.hierarchy["file"])
        if column.operation is not None:
            files = column.operation.files(project.folder)
            read |= {f"{what} of '{column.name}'": path for what, path in files.items()}
    return read


def digest_of(path: Path) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
