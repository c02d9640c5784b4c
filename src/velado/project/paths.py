"""The files that projects read and write: none of them may take the place of another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from velado.errors import InputError
from velado.project.document import Project
from velado.sentences import Sentence
from velado.tables import Source


def check_paths(projects: Mapping[str, Project]) -> None:
    """Nothing that is written may replace what is read, or another thing that is written."""
    taken: dict[Path, str] = {}
    for name, project in projects.items():
        for what, path in _read(project).items():
            if path is not None:
                taken[path.resolve()] = f"{what} of the table '{name}'" if name else what
    for project in projects.values():
        output = project.output
        for what, path in reversed(output.sink().files.items()):
            if path.resolve() in taken:
                raise InputError(
                    "output-is-input",
                    Sentence("the {what} would replace {taken}", what=what, taken=taken[path.resolve()]),
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
