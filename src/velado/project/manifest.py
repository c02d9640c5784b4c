"""The audit manifest: enough to repeat a run and to show what was done. No original value is in it."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from velado.engines import Source
from velado.evaluation import Evaluation
from velado.methods import Found
from velado.project.document import Project
from velado.recoding import Recoding

PACKAGES = ("velado", "numpy", "numba", "duckdb", "pyarrow")


def manifest_of(
    project: Project,
    input_digest: str | None,
    found: Found,
    recoding: Recoding,
    evaluation: Evaluation,
    output_digest: str | None,
) -> dict[str, Any]:
    """The manifest of a verified release."""
    source = Source.of(project.source)
    return {
        "velado-manifest": 1,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "project": {"name": project.name, "sha256": project.digest()},
        "input": {
            "name": source.path.name if source.path else source.name,
            "sha256": input_digest,
            "rows": evaluation.rows,
        },
        "versions": {"python": platform.python_version(), **{p: _version(p) for p in PACKAGES}},
        "method": {project.method.name: {k: getattr(project.method, k) for k in project.method.parameters}},
        "models": [{m.name: m.required()} for m in project.models],
        "columns": {c.name: {"role": c.role, "missing": c.missing} for c in project.columns},
        "recoding": {"levels": recoding.levels, "classes": len(recoding.kept), "sha256": recoding.digest},
        "search": {
            "nodes": found.search.nodes,
            "evaluated": found.search.evaluated,
            "proven_optimal": found.search.proven_optimal,
            "gap": found.search.gap,
        },
        "evaluation": evaluation.as_dict(),
        "output": {
            "name": project.output.path.name if project.output.path else None,
            "sha256": output_digest,
            "order": project.output.order,
            "suppressed": project.output.suppressed,
        },
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
