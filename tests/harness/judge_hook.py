"""Put the second judge behind the runs of tests that are marked `judged`: in this process, and after commands of their own."""

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from harness.judge import Described, Verdict, judge, judge_files
from harness.reading import Cell, Sheet, of_arrow, read

MOST_ROWS = 20_000
"""Larger tables are not judged: exact fractions take their time."""
TORTURE = os.environ.get("VELADO_TORTURE") == "1"


def times(few: int, many: int | None = None) -> int:
    """A number of cases; with VELADO_TORTURE=1 many more of them."""
    return (many or 10 * few) if TORTURE else few


@dataclass
class Watch:
    """What the judge has seen."""

    tally: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    refusals: list[str] = field(default_factory=list)
    away: bool = False
    """In tests that do not want the judge, and of values that it cannot read as the engine does."""
    last: Any = None
    """What the last run in this process returned."""

    def seen(self, name: str, verdict: Verdict) -> None:
        self.tally["judged"] += 1
        self.tally["matched"] += verdict.matched
        self.refusals += [f"{name}: {problem}" for problem in verdict.problems]

    def skip(self, reason: str) -> None:
        self.tally["skipped"] += 1
        self.reasons[reason] += 1

    def release(self, project: Any, release: Any) -> None:
        """Judge what a run in this process returned."""
        if self.away:
            return
        if any(_elsewhere(one) for one in (project.tables or {"": project}).values()):
            self.skip("in a database or elsewhere")
            return
        if hasattr(release, "tables"):
            held = {name: _values(one) for name, one in project.tables.items()}
            for name, one in release.tables.items():
                others = [held[other] for other in held if other != name]
                self._one(project.tables[name], one, {a: v for values in others for a, v in values.items()})
        else:
            self._one(project, release, {})

    def _one(self, project: Any, release: Any, beside: Mapping[str, list[Cell]]) -> None:
        """``beside``: by attribute, what other tables hold."""
        claims = json.loads(json.dumps(release.as_dict(), default=str))
        if claims["rows"] > MOST_ROWS:
            self.skip(f"more than {MOST_ROWS:,} rows")
            return
        manifest = release.manifest
        if release.manifest_path is not None:
            manifest = json.loads(release.manifest_path.read_text(encoding="utf-8"))
        original = _in_memory(project)
        released: Path | Sheet = release.output if release.output is not None else of_arrow(_arrow(release.table))
        others = {c.name: beside.get(c.attribute, []) for c in project.columns}
        verdict = judge(_mapping(project), project.folder, released, original, manifest, claims, beside=others)
        self.seen(project.name, verdict)

    def command(self, folder: Path, arguments: list[str], out: str) -> None:
        """Judge what a successful command has written."""
        if self.away or not arguments or arguments[0] != "run":
            return
        for argument in arguments[1:]:
            path = folder / argument
            if path.suffix in (".yaml", ".yml", ".json") and path.is_file():
                if "://" in path.read_text(encoding="utf-8"):
                    self.skip("in a database or elsewhere")
                    return
                if _rows(path) > MOST_ROWS:
                    self.skip(f"more than {MOST_ROWS:,} rows")
                    return
                claims = json.loads(out) if "--json" in arguments else None
                for verdict in judge_files(path, claims):
                    self.seen(path.name, verdict)


def _elsewhere(project: Any) -> bool:
    """Whether a table is read or written where the judge does not look: what such tests expect they compare themselves."""
    from velado.tables import Source

    source, output = Source.of(project.source, project.folder), project.output
    return any(place.database or place.url or place.table for place in (source, output))


WATCH = Watch()


def install() -> None:
    """Every name under which a run can be started gets the judge behind it."""
    import velado
    from velado.project.document import Project

    plain = velado.run
    if hasattr(plain, "__wrapped__"):
        return

    def judged(project: Any, *args: Any, **options: Any) -> Any:
        described = Project.of(project)
        release = plain(described, *args, **options)
        WATCH.last = release
        WATCH.release(described, release)
        return release

    judged.__doc__, judged.__name__ = plain.__doc__, plain.__name__
    judged.__wrapped__ = plain  # type: ignore[attr-defined]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "velado":
            for attribute, value in list(vars(module).items()):
                if value is plain:
                    setattr(module, attribute, judged)


def _mapping(project: Any) -> Mapping[str, Any]:
    """The project as it was written, where it is still what the file says; else as it describes itself."""
    described = project.as_dict()
    if project.file is None or not project.file.is_file():
        return described
    try:
        same = type(project).load(project.file).as_dict() == described
    except ValueError:
        return described
    return yaml.safe_load(project.file.read_text(encoding="utf-8-sig")) if same else described


def _values(project: Any) -> dict[str, list[Cell]]:
    """By attribute, the values that a table holds."""
    described = Described.of(project.as_dict())
    sheet = _in_memory(project)
    if sheet is None:
        path = project.folder / str(described.source["path"])
        sheet = read(path, described.source, list(described.columns), described.missing)
    return {c.attribute: sheet.column(c.name) for c in project.columns}


def _in_memory(project: Any) -> Sheet | None:
    """The original if it is no file."""
    from velado.tables import Source

    source = Source.of(project.source, project.folder)
    if source.path is not None:
        return None
    return of_arrow(_arrow(source.data), source.missing or ())


def _arrow(data: Any) -> Any:
    """A table of any kind as an Arrow table."""
    kind = type(data).__module__.split(".")[0]
    if kind == "polars":
        return (data.collect() if type(data).__name__ == "LazyFrame" else data).to_arrow()
    if kind == "pandas":
        return pa.Table.from_pandas(data.set_axis([str(c) for c in data.columns], axis=1), preserve_index=False)
    return pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data


def _rows(project_file: Path) -> int:
    """About how many rows the sources of a project have, from the lines of its files."""
    project = yaml.safe_load(project_file.read_text(encoding="utf-8-sig"))
    rows = 0
    for table in project.get("tables") or [None]:
        path = project_file.parent / str(Described.of(project, table).source["path"])
        with open(path, "rb") as stream:
            rows = max(rows, sum(1 for _ in stream))
    return rows
