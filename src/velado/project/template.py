"""A commented project file for an inspected table."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from velado.project.people import ROWS
from velado.sentences import Sentence, into, join_sentences
from velado.tables import Source, TableName
from velado.tables.source import format_of, said_of

if TYPE_CHECKING:
    from velado.questions.inspect import Inspection
    from velado.questions.suggest import SuggestedColumn, Suggestion, Trial


def project_text(
    seen: Inspection, suggested: Suggestion, source: Source, target: Path, language: str = "en", beside: bool = True
) -> str:
    """The YAML text; every suggestion says why, in a language.

    ``beside``: whether the release of a table of a database goes beside it, where it may; else it goes to a file.
    """
    comment = partial(_comment, language=language)
    lines = [
        comment(
            Sentence(
                "Velado project for {file}: {rows:,} records. Check the roles: nobody knows the table as you do.",
                file=source.short_name,
                rows=seen.rows,
            )
        ),
        "velado: 1",
        f"name: {_value(source.stem)}",
        f"source: {_value(_source(seen, source, target))}",
        "",
        comment(Sentence("Roles: identifier (never leaves), quasi-identifier (others may know it: recoded),")),
        comment(Sentence("sensitive (what must not be learnt), insensitive (passes through).")),
        comment(Sentence("known: never says that only the person and the keeper of the table know a column.")),
        "columns:",
        *_columns([c for c in suggested.columns if c.kept], language),
    ]
    left = [c for c in suggested.columns if not c.kept]
    if left:
        lines += [
            "  " + comment(Sentence("Left out of the release, until you give them a role:")),
            *(f"  # {line.strip()}" for line in _columns(left, language)),
            "rest: drop",
        ]
    if suggested.unit is not None:
        key, unit = suggested.unit
        lines += ["", *map(comment, EVERY_ROW if unit == ROWS else UNIT), f"{key}: {_value(unit)}"]
    lines += ["", comment(Sentence("Every class of records that look alike must satisfy all of these."))]
    lines += [*map(comment, suggested.remarks), "models:"]
    lines += [f"  - {_value(model)}" for model in suggested.models]
    lines += [f"  # - {_value(model)}   {comment(why)}" for model, why in suggested.without]
    lines += ["", *_methods(suggested, language), ""]
    if source.table is not None:
        lines.append(comment(AGAIN if beside else NO_RIGHT))
    lines += [f"output: {_value(release_place(source, target, beside))}", ""]
    return "\n".join(lines)


KEPT = (".parquet", ".xlsx", ".tsv")
"""Suffixes that the release takes over."""
ENDING = "_anonymous"
LONGEST = 63
"""Bytes that the name of a table may have in every database."""
AGAIN = Sentence("A table that is there already stays as it is, unless you add 'if_exists: replace'.")
NO_RIGHT = Sentence("You may not create tables beside this one: the release goes to a file. Or name a table of another schema.")
UNIT = (
    Sentence("Identifiers repeat: k counts the different values of this column, not rows."),
    Sentence("Write 'person: rows' if every row is a person."),
)
EVERY_ROW = (
    Sentence("Identifiers repeat, and every row is taken for a person. Name the column if some people have several rows."),
)


def _source(seen: Inspection, source: Source, target: Path) -> dict[str, Any]:
    """How the table is read, beside its place from the project file."""
    options: dict[str, Any] = _place(source, target)
    if source.table is not None:
        options["table"] = source.table
    if seen.dialect:
        options["delimiter"] = seen.dialect["delimiter"]
        if seen.dialect["encoding"] not in ("utf-8", "utf-8-sig"):
            options["encoding"] = seen.dialect["encoding"]
    markers = list(seen.markers(source))
    if markers:
        options["missing"] = markers
    if source.path is not None and format_of(source.path) != source.format:
        options |= {k: v for k, v in source.options.items() if k == "format"}
    options |= {k: v for k, v in source.options.items() if k in ("quote", "sheet", "header", "skip", "names")}
    return options


def release_place(source: Source, target: Path, beside: bool = True) -> dict[str, Any]:
    """A table ``beside`` that of the source; a file beside the project."""
    if source.table is not None and beside:
        table = TableName.parse(source.table)
        # Room for the names that are put behind it.
        short = table.name.encode()[: LONGEST - len(f"{ENDING}_manifest")].decode(errors="ignore")
        return {**_place(source, target), "table": str(replace(table, name=short + ENDING))}
    suffix = "" if source.table is not None else Path(source.short_name).suffix
    if source.database is not None and source.url is not None and beside:
        # What a cluster reads is too large to be brought here.
        there = _place(source, target)
        return {**there, "path": f"{there['path'].rstrip('/').removesuffix(suffix)}{ENDING}{suffix}"}
    return {"path": f"{source.stem}{ENDING}{suffix if suffix.lower() in KEPT else '.csv'}"}


def _place(source: Source, target: Path) -> dict[str, Any]:
    """Where a table is, as the project file says it."""
    if elsewhere := said_of(source.database, source.url):
        here = (source.url or "").removeprefix("file://")
        if source.database is not None and here != (source.url or ""):
            elsewhere["path"] = os.path.relpath(here, target.resolve().parent)
        return elsewhere
    assert source.path is not None
    return {"path": os.path.relpath(source.path.resolve(), target.resolve().parent)}


def _columns(columns: Sequence[SuggestedColumn], language: str) -> list[str]:
    """Each column with its reason above it."""
    width = max((len(_value(c.name)) for c in columns), default=0)
    lines = []
    for c in columns:
        spec = c.spec if c.spec["role"] else {**c.spec, "role": "quasi-identifier"}
        lines += [f"  {_comment(c.reason, language)}", f"  {_value(c.name)}: {' ' * (width - len(_value(c.name)))}{_value(spec)}"]
    return lines


def _methods(suggested: Suggestion, language: str) -> list[str]:
    """The method that lost least on the table, and the others as comments."""
    best, *others = suggested.trials
    tried = Sentence("{trials}.", trials=join_sentences(", ", map(_loss_sentence, suggested.trials)))
    return [_comment(tried, language), f"method: {_value(best.method)}", *(f"# method: {_value(t.method)}" for t in others)]


def _loss_sentence(trial: Trial) -> Sentence:
    if trial.loss is None:
        return join_sentences(" ", (trial.name, trial.problem))
    if not trial.suppressed:
        return Sentence("{method} loses {loss:.1%} of the information", method=trial.name, loss=trial.loss)
    return Sentence(
        "{method} loses {loss:.1%} of the information and suppresses {suppressed:.1%} of the records",
        method=trial.name,
        loss=trial.loss,
        suppressed=trial.suppressed,
    )


def _comment(text: str, language: str) -> str:
    """A comment of one line in a language, whatever names and messages are in it."""
    return "# " + "".join(c if c.isprintable() else " " for c in into(text, language))


def _value(value: Any) -> str:
    """Flow-style YAML; JSON strings are valid YAML wherever a plain word will not do."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_value(k)}: {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    if isinstance(value, str):
        plain = value.replace("-", "").replace("_", "").isalpha() and value.isascii() and value[0].isalpha()
        return value if plain and value.lower() not in READ_OTHERWISE else _quote(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and "e" in repr(value) and "." not in repr(value):
        # Without the point YAML takes it for a text.
        return repr(value).replace("e", ".0e")
    return str(value)


READ_OTHERWISE = ("yes", "no", "on", "off", "true", "false", "null", "y", "n")
"""Words that YAML takes for something else."""


def _quote(text: str) -> str:
    """A text in quotes; what cannot be printed is escaped."""
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in json.dumps(text, ensure_ascii=False))
