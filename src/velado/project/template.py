"""A commented project file for an inspected table."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from velado.project.document import ROWS
from velado.tables import Source

if TYPE_CHECKING:
    from velado.questions.inspect import ColumnInspection, Inspection


def project_text(seen: Inspection, source: Source, target: Path) -> str:
    """The YAML text; every suggestion says why."""
    assert source.path is not None
    path = os.path.relpath(source.path.resolve(), target.resolve().parent)
    stem = source.path.stem
    suffix = source.path.suffix if source.path.suffix.lower() in (".parquet", ".xlsx", ".tsv") else ".csv"
    options: dict[str, Any] = {"path": path}
    if seen.dialect:
        options["delimiter"] = seen.dialect["delimiter"]
        if seen.dialect["encoding"] not in ("utf-8", "utf-8-sig"):
            options["encoding"] = seen.dialect["encoding"]
    markers = list(dict.fromkeys([*(source.missing or ()), *(m for c in seen.columns for m in c.markers)]))
    if markers:
        options["missing"] = markers
    options |= {k: v for k, v in source.options.items() if k in ("quote", "sheet", "header", "skip", "names")}
    lines = [
        f"# Velado project for {source.path.name}: {seen.rows:,} records. Correct the roles before you run it.",
        "velado: 1",
        f"name: {_value(stem)}",
        f"source: {_value(options)}",
        "",
        "# Roles: identifier (never leaves), quasi-identifier (others may know it: recoded),",
        "# sensitive (what must not be learnt), insensitive (passes through).",
        "columns:",
    ]
    width = max(len(_value(c.name)) for c in seen.columns)
    for c in seen.columns:
        lines.append(f"  # {c.reason}")
        lines.append(f"  {_value(c.name)}: {' ' * (width - len(_value(c.name)))}{_value(_column(c))}")
    lines += _person(seen)
    lines += [
        "",
        "# Every class of records that look alike must satisfy all of these.",
        "models:",
        "  - {k-anonymity: {k: 5}}",
    ]
    for c in seen.columns:
        if c.role == "sensitive" and c.distinct > 0.5 * seen.rows:
            lines.append(
                f"  # - {{t-closeness: {{t: 0.3, column: {_value(c.name)}, distance: ordered}}}}   # nearly all values differ"
            )
        elif c.role == "sensitive" and c.distinct > 1:
            lines.append(f"  - {{distinct-diversity: {{l: 2, column: {_value(c.name)}}}}}")
    lines += [
        "  # - {t-closeness: {t: 0.3, column: ..., distance: equal}}      # also ordered, hierarchical",
        "",
        "# The optimal recoding; at most this share of the records may be suppressed.",
        "method: {lattice: {suppression: 0.05, objective: loss}}",
        "",
        f"output: {_value({'path': f'{stem}_anonymous{suffix}'})}",
        "",
    ]
    return "\n".join(lines)


def _person(seen: Inspection) -> list[str]:
    """Who has several rows, where identifiers repeat."""
    identifiers = [c for c in seen.columns if c.role == "identifier"]
    if not identifiers or any(c.distinct == seen.rows for c in identifiers):
        return []
    whole = [c for c in identifiers if not c.missing]
    unit = max(whole, key=lambda c: c.distinct).name if whole else ROWS
    return [
        "",
        "# Identifiers repeat: k counts the different values of this column, not rows.",
        "# Write 'person: rows' if every row is a person.",
        f"person: {_value(unit)}",
    ]


def _column(c: ColumnInspection) -> dict[str, Any]:
    shown: dict[str, Any] = {"role": c.role}
    if c.role == "quasi-identifier":
        if c.type != "text":
            shown["type"] = c.type
        if c.format:
            shown["format"] = c.format
        if c.hierarchy is not None:
            shown["hierarchy"] = c.hierarchy
    return shown


def _value(value: Any) -> str:
    """Flow-style YAML; JSON strings are valid YAML wherever a plain word will not do."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_value(k)}: {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    if isinstance(value, str) and not (
        value and value.replace("-", "").replace("_", "").isalpha() and value.isascii() and value[0].isalpha()
    ):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value.lower() in ("yes", "no", "on", "off", "true", "false", "null", "y", "n"):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
