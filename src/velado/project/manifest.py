"""The audit manifest: enough to repeat a run and to show what was done. No original value is in it."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from velado.engines import Source
from velado.evaluation import Evaluation
from velado.methods import Search
from velado.operations import Treatment
from velado.project.document import Project
from velado.project.release import LIGHT
from velado.project.treating import described
from velado.recoding import Recoding

PACKAGES = ("velado", "numpy", "numba", "duckdb", "pyarrow")


def manifest_of(
    project: Project,
    input_digest: str | None,
    treated: Sequence[Treatment],
    search: Search,
    recoding: Recoding | None,
    evaluation: Evaluation,
    output_digest: str | None,
) -> dict[str, Any]:
    """The manifest of a verified release; without a recoding that of one made part by part, too large to keep it."""
    kept = {"levels": recoding.levels, "classes": evaluation.classes, "sha256": recoding.digest} if recoding else None
    return {
        **_head(project, input_digest, evaluation.rows),
        "method": {project.method.name: {k: getattr(project.method, k) for k in project.method.parameters}},
        "models": [{m.name: m.required()} for m in project.models],
        "columns": _columns(project, treated),
        "recoding": kept or {"levels": {}, "classes": evaluation.classes, "sha256": None},
        "search": {
            "nodes": search.nodes,
            "evaluated": search.evaluated,
            "proven_optimal": search.proven_optimal,
            "gap": search.gap,
        },
        "evaluation": evaluation.as_dict(),
        "output": {**_output(project, output_digest), "suppressed": project.output.suppressed},
    }


def light_manifest(
    project: Project, input_digest: str | None, treated: Sequence[Treatment], rows: int, output_digest: str | None
) -> dict[str, Any]:
    """The manifest of a release to which only operations were applied."""
    return {
        **_head(project, input_digest, rows),
        "anonymization": "light",
        "models": [],
        "verified": LIGHT,
        "columns": _columns(project, treated),
        "output": _output(project, output_digest),
    }


def _head(project: Project, input_digest: str | None, rows: int) -> dict[str, Any]:
    source = Source.of(project.source)
    return {
        "velado-manifest": 1,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "project": {"name": project.name, "sha256": project.digest()},
        "input": {"name": source.path.name if source.path else source.name, "sha256": input_digest, "rows": rows},
        "versions": {"python": platform.python_version(), **{p: _version(p) for p in PACKAGES}},
    }


def _columns(project: Project, treated: Sequence[Treatment]) -> dict[str, Any]:
    """Role, missing rule and operation: neither a key nor its place, and nothing of the data."""
    operations = described(treated, project.folder)
    return {
        c.name: {"role": c.role or None, "missing": c.missing}
        | ({"operation": operations[c.name]} if c.name in operations else {})
        for c in project.columns
    }


def _output(project: Project, digest: str | None) -> dict[str, Any]:
    name = project.output.path.name if project.output.path else None
    return {"name": name, "sha256": digest, "order": project.output.order}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
