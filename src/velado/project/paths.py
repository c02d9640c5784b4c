"""The files that projects read and write: none of them may take the place of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from velado.errors import InputError, Problems
from velado.sentences import Sentence

if TYPE_CHECKING:
    from velado.project.document import Project

INPUT = Sentence("the input")
WRITTEN = {
    "manifest": Sentence("the manifest"),
    "private manifest": Sentence("the private manifest"),
    "recoding": Sentence("the recoding"),
    "release": Sentence("the release"),
}
"""The files of a release in words."""


def check_paths(projects: Mapping[str, Project]) -> None:
    """Nothing that is written may replace what is read, or another thing that is written."""
    problems = Problems()
    taken: dict[Path, str] = {}
    for name, project in projects.items():
        for what, path in _read(project).items():
            if path is not None:
                taken[path.resolve()] = Sentence("{what} of the table '{table}'", what=what, table=name) if name else what
    for name, project in projects.items():
        output = project.output
        for what, path in reversed(output.sink().files.items()):
            if path.resolve() in taken:
                message = Sentence("{what} would replace {taken}", what=WRITTEN[what], taken=taken[path.resolve()])
                error = InputError("output-is-input", message, file=path, hint="Choose another path.")
                key = "recoding" if what == "recoding" else "path"
                problems.add(error, *(("tables", name) if name else ()), "output", key)
            taken[path.resolve()] = WRITTEN[what]
    _check_tables(projects, problems)
    problems.raise_if_any()


def _check_tables(projects: Mapping[str, Project], problems: Problems) -> None:
    """The same for tables of databases and for files elsewhere."""
    taken = [
        (Sentence("{what} of the table '{table}'", what=INPUT, table=name) if name else INPUT, project.source)
        for name, project in projects.items()
    ]
    for name, project in projects.items():
        sink = project.output.sink()
        if sink.table is None and sink.url is None:
            continue
        beside = [] if sink.manifest_table is None else [("manifest", replace(sink, table=str(sink.manifest_table)))]
        for what, written in (("release", sink), *beside):
            for said, source in taken:
                if written.replaces(source):
                    message = Sentence("{what} would replace {taken}", what=WRITTEN[what], taken=said)
                    error = InputError("output-is-input", message, file=written.name, hint="Choose another name.")
                    problems.add(error, *(("tables", name) if name else ()), "output", "table" if sink.table else "path")
            taken.append((WRITTEN[what], written.source()))


def _read(project: Project) -> dict[str, Path | None]:
    read: dict[str, Path | None] = {INPUT: project.source.path, Sentence("the project file"): project.file}
    for column in project.columns:
        if isinstance(column.hierarchy, Mapping) and "file" in column.hierarchy:
            read[Sentence("the hierarchy of '{column}'", column=column.name)] = project.folder / str(column.hierarchy["file"])
        if column.operation is not None:
            files = column.operation.files(project.folder)
            for what, path in files.items():
                read[Sentence("{what} of '{column}'", what=what, column=column.name)] = path
    return read
