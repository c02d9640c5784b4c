"""Run a project: read, count, search, recode, write, verify, evaluate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from velado.engines import DuckDBTable, Source, Table, Target, open_table
from velado.errors import InputError, NoSolution
from velado.evaluation import Pair, evaluate
from velado.frequency import FrequencyTable
from velado.methods import Found, Lattice, Method, Progress, kernels_ready, silent
from velado.models import PrivacyModel, smallest_class
from velado.project.counting import count_table
from velado.project.document import Output, Project
from velado.project.manifest import manifest_of
from velado.project.release import Release
from velado.project.verify import Expected, verify
from velado.project.writing import published
from velado.recoding import Others, Recoding
from velado.schema import Column, Schema


def anonymize(
    data: Any,
    columns: Sequence[Column],
    models: Sequence[PrivacyModel],
    method: Method | None = None,
    *,
    output: str | Path | Output | None = None,
    rest: str | None = None,
    progress: Progress = silent,
) -> Release:
    """Anonymize a file or a pandas, Polars or Arrow table.

    Without ``output`` the released rows are in ``release.table`` (Arrow), verified all the same.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["31", "38", "52", "57"], "ill": ["a", "b", "a", "b"]})
    >>> columns = [Column("age", "quasi-identifier", hierarchy={"intervals": [10, 100]}), Column("ill", "sensitive")]
    >>> anonymize(people, columns, [KAnonymity(2)]).levels
    {'age': 1}
    """
    written = output if isinstance(output, Output) else Output(path=None if output is None else Path(output))
    project = Project(data, tuple(columns), tuple(models), method or Lattice(), written, rest)
    return run(project, progress)


def run(project: Project | str | Path, progress: Progress = silent) -> Release:
    """Run a project or a project file; nothing is written unless the release is verified."""
    if not isinstance(project, Project):
        project = Project.load(project)
    _check_paths(project)
    with open_table(project.source, project.folder) as table:
        schema = Schema(project.columns).fitted(table.header, project.rest, table.source.name)
        check_described(project, schema)
        progress(0.0, "counting")
        frequency = count_table(table, schema, project.models, project.folder)
        check_size(frequency, project.models)
        progress(0.0, "searching" if kernels_ready() else "compiling the search, once per installation (half a minute)")
        found = project.method.search(frequency, project.models, progress)
        dropped = [c.name for c in schema.values() if c.role == "identifier" and c.operation == "drop"]
        identifiers = [c for c in schema.names("identifier") if c not in dropped]
        passed = [*schema.names("sensitive"), *schema.names("insensitive")]
        recoding = _recoding(found, (tuple(identifiers), tuple(dropped), tuple(passed)))
        publish = _in_memory if project.output.path is None else _on_disk
        return publish(project, table, found, recoding, progress)


def check_described(project: Project, schema: Schema) -> None:
    """There is something to protect, and a model that says how."""
    if not project.models:
        raise InputError(
            "no-models", "no privacy model is given: nothing would be protected", hint="For example k-anonymity."
        )
    if not schema.names("quasi-identifier"):
        raise InputError(
            "no-quasi-identifier", "no column has the role quasi-identifier: there is nothing to protect",
            hint="Give that role to the columns that can be linked with outside knowledge.",
        )  # fmt: skip


def _check_paths(project: Project) -> None:
    """Nothing that is written may replace what is read, or another thing that is written."""
    output = project.output
    if output.path is None:
        return
    read = {"the input": Source.of(project.source, project.folder).path, "the project file": project.file}
    for column in project.columns:
        if isinstance(column.hierarchy, Mapping) and "file" in column.hierarchy:
            read[f"the hierarchy of '{column.name}'"] = project.folder / str(column.hierarchy["file"])
    taken = {path.resolve(): what for what, path in read.items() if path is not None}
    for what, path in (
        ("release", output.path),
        ("recoding", output.recoding),
        ("manifest", _manifest_path(output.path)),
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


def _manifest_path(path: Path) -> Path:
    return path.with_name(path.name + ".manifest.json")


def check_size(frequency: FrequencyTable, models: Sequence[PrivacyModel]) -> None:
    """Say at once what no recoding can reach."""
    needed = smallest_class(models)
    if needed > frequency.records:
        raise NoSolution(
            "table-too-small", f"the models need classes of {needed} records, but the table has only {frequency.records}",
            hint=f"Require at most {frequency.records}, or take a larger table.",
        )  # fmt: skip
    for model in models:
        column = model.sensitive_column
        wanted = getattr(model, "l", None)
        if column is None or wanted is None:
            continue
        present = len(frequency.sensitive_column(column).labels)
        if wanted > present:
            raise NoSolution(
                "too-few-sensitive-values", f"{model.name} wants {wanted:g} different values, but the column has only {present}",
                column=column, hint=f"Require at most {present}.",
            )  # fmt: skip


def _expected(project: Project, table: Table, found: Found, recoding: Recoding, guarded: bool) -> Expected:
    frequency = found.classes.frequency
    return Expected(
        header=[name for name in table.header if name not in recoding.dropped],
        identifiers=recoding.identifiers,
        original=frequency,
        models=project.models,
        released=frequency.records - found.suppressed,
        starred=found.suppressed if project.output.suppressed == "star" else 0,
        guarded=guarded,
    )


def _recoding(found: Found, others: Others) -> Recoding:
    if found.levels is None:
        return Recoding.local(found.classes, found.kept, found.covers, found.labels, others)
    return Recoding.at_levels(found.classes, found.levels, found.kept, others)


def _pair(project: Project, found: Found) -> Pair:
    starred = found.suppressed if project.output.suppressed == "star" else 0
    return Pair.of(found.classes, found.kept, found.covers, found.labels, starred)


def _in_memory(project: Project, table: DuckDBTable, found: Found, recoding: Recoding, progress: Progress) -> Release:
    recoded = recoding.recoded(project.output.suppressed, found.classes.frequency.sensitive)
    result = table.fetch(recoded, project.output.order)
    progress(0.0, "verifying")
    verdicts = verify(result, _expected(project, table, found, recoding, guarded=False))
    evaluation = evaluate(_pair(project, found), project.models, verdicts)
    manifest = manifest_of(project, table.fingerprint(), found, recoding, evaluation, None)
    return Release(project.name, recoding, evaluation, found.search, manifest, found, table=result)


def _on_disk(project: Project, table: DuckDBTable, found: Found, recoding: Recoding, progress: Progress) -> Release:
    output = project.output
    assert output.path is not None
    delimiter = output.delimiter or ("\t" if output.path.suffix.lower() in (".tsv", ".tab") else None)
    delimiter = delimiter or (table.dialect.delimiter if table.dialect else ",")
    manifest_path = _manifest_path(output.path)
    paths = [manifest_path, *([output.recoding] if output.recoding else []), output.path]
    with published(paths) as temporary:
        data_file = temporary[-1]
        progress(0.0, "writing")
        recoded = recoding.recoded(output.suppressed, found.classes.frequency.sensitive)
        table.write(recoded, Target(data_file, delimiter, output.order, output.guard))
        progress(0.0, "verifying what was written")
        written = Source(path=data_file, delimiter=delimiter, encoding="utf-8", quote='"')
        guarded = output.guard and written.kind() in ("csv", "xlsx")
        verdicts = verify(written, _expected(project, table, found, recoding, guarded))
        evaluation = evaluate(_pair(project, found), project.models, verdicts)
        manifest = manifest_of(project, table.fingerprint(), found, recoding, evaluation, _digest(data_file))
        temporary[0].write_text(json.dumps(manifest, ensure_ascii=False, indent=2), encoding="utf-8")
        if output.recoding is not None:
            recoding.save(temporary[1])
    return Release(project.name, recoding, evaluation, found.search, manifest, found, output.path, manifest_path)


def _digest(path: Path) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
