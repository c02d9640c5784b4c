"""Import a project of Anonylitics: the JSON language of the thesis, as a Velado project file.

The language is that of the thesis's figures 17 to 19 and its table 2; ``docs/reference/anonylitics.md`` describes it.
Nothing is dropped in silence: what has no counterpart, or another one, is a `Remark`. Where something is unclear, the
column is protected more, never less.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from velado.errors import InputError, reason
from velado.project.document import VERSION, Project
from velado.project.importers.anonylitics.columns import Converted, convert_column, operation_part
from velado.project.importers.anonylitics.connection import address_of
from velado.project.importers.anonylitics.language import OPERATIONS, PRINCIPLES, ROLES, Part, Remark, fold
from velado.sentences import Sentence
from velado.tables import Address, TableName
from velado.tables.files import not_found

MONDRIAN = {"split": "distribution", "width": "std"}
"""The thesis's method, with the width that gives its printed figures."""
TABLE_KEYS = ("table_name", "table_schema", "anonymized_table_name", "anonymized_table_schema", "columns")
PROJECT_KEYS = ("user", "project_name", "anonymization_type", "connection", "tables", "repeated_attributes", "principles")


class Imported(NamedTuple):
    """A project as a project file holds it, and what the reader should know about it."""

    project: dict[str, Any]
    report: tuple[Remark, ...]


class _Table(NamedTuple):
    """A table with its converted columns, and where it stands in the file."""

    part: Part
    name: str
    file: str
    full: bool
    columns: dict[str, Converted]


def import_anonylitics(path: str | Path) -> Imported:
    """Convert an Anonylitics project; an `InputError` if the file is not one.

    >>> import_anonylitics("clinic.json").project["models"]     # doctest: +SKIP
    [{'k-anonymity': {'k': 2}}]
    """
    path = Path(path)
    remarks: dict[Remark, None] = {}
    top = Part("", _read(path), remarks)
    try:
        project = _project(top, path)
        _check(project, path.parent)
    except InputError as error:
        error.file = error.file or str(path)
        error.args = (str(error),)
        raise
    return Imported(project, tuple(remarks))


def _check(project: dict[str, Any], folder: Path) -> None:
    """The project can be loaded, but for hierarchies that are to be mended first: remarks say so."""
    try:
        Project.from_dict(project, folder)
    except InputError as error:
        if any(one.code != "not-nested" for one in (error, *error.others)):
            raise


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise not_found(path) from None
    except UnicodeDecodeError:
        raise InputError("unreadable-file", Sentence("the file is not {encoding}", encoding="UTF-8"), file=path) from None
    except OSError as error:
        raise InputError("unreadable-file", Sentence("cannot read the file: {why}", why=reason(error)), file=path) from None
    try:
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
        json.dumps(data, ensure_ascii=False).encode()  # half a character cannot be written
    except json.JSONDecodeError as error:
        raise InputError(
            "bad-json",
            Sentence(
                "not valid JSON at line {line}, column {position}: {why}",
                line=error.lineno,
                position=error.colno,
                why=Sentence(error.msg),
            ),
            file=path,
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError("bad-json", Sentence("not valid JSON: {why}", why=reason(error)), file=path) from None
    if not isinstance(data, dict):
        raise InputError(
            "not-anonylitics", Sentence("an Anonylitics project is a JSON object, not {kind}", kind=type(data).__name__), file=path
        )
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = [name for name, n in Counter(name for name, _ in pairs).items() if n > 1]
    if twice:
        raise ValueError(Sentence("'{key}' is written twice in one object", key=twice[0]))
    return dict(pairs)


def _refuse_constant(name: str) -> Any:
    raise ValueError(Sentence("{word} is not a JSON value", word=name))


def _project(top: Part, path: Path) -> dict[str, Any]:
    given = top.keys(PROJECT_KEYS)
    if "tables" not in given:
        raise InputError("not-anonylitics", "an Anonylitics project has 'tables', and this file has none")
    if given.get("user"):
        top.at("user").say_left_out("A project file has no user: version control says who wrote it.")
    light = _is_light(top, given)
    name = top.text("project_name") or path.stem
    address = address_of(top, given)
    tables = _tables(top, light, in_files=address is None)
    attributes = _attributes(top, given, tables)
    project: dict[str, Any] = {"velado": VERSION, "name": name}
    shown = {t.name: _table(top, given, t, attributes, tables, address) for t in tables}
    if len(tables) == 1:
        return {**project, **next(iter(shown.values()))}
    first = next(iter(shown.values()))
    shared = [k for k in ("protection", "models", "method") if all(k in s and s[k] == first[k] for s in shown.values())]
    project |= {k: first[k] for k in shared}
    return {**project, "tables": {n: {k: v for k, v in s.items() if k not in shared} for n, s in shown.items()}}


def _is_light(top: Part, given: Mapping[str, Any]) -> bool:
    kind = fold(given.get("anonymization_type"))
    if kind not in ("completa", "ligera"):
        part = top.at("anonymization_type")
        say = part.say_unknown if given.get("anonymization_type") else part.say_to_do
        say("It must be Completa or Ligera; Completa was assumed, which protects more.")
    return kind == "ligera"


def _tables(top: Part, light: bool, *, in_files: bool) -> list[_Table]:
    parts = top.at("tables").items(Sentence("tables"))
    names = [_name(part, "table_name") for part in parts]
    schemas = [part.text("table_schema") for part in parts]
    full = [f"{s}.{n}" if names.count(n) > 1 and s else n for n, s in zip(names, schemas, strict=True)]
    tables = []
    for part, name, schema in zip(parts, full, schemas, strict=True):
        if full.count(name) > 1:
            raise InputError("not-anonylitics", Sentence("{path}: two tables have the name '{name}'", path=part.path, name=name))
        part.keys(TABLE_KEYS)
        for key in ("table_schema", "anonymized_table_schema"):
            if part.text(key) and in_files:
                part.at(key).say_left_out("A file has no schema.")
        columns = part.at("columns").items(Sentence("columns"))
        complete = not light and any(_protects(c) for c in columns)
        if not light and not complete:
            part.say_adapted(
                "No column is a quasi-identifier, so no principle can be checked: only operations are applied to the table."
            )
        file = _file_name(f"{schema}_{name.rpartition('.')[2]}" if name not in names else name)
        tables.append(_Table(part, name, file, complete, _columns(columns, complete)))
    return tables


def _columns(parts: Sequence[Part], full: bool) -> dict[str, Converted]:
    found: dict[str, Converted] = {}
    for part in parts:
        name = _name(part, "column_name")
        if name in found:
            raise InputError("duplicate-column", Sentence("{path}: the column is described twice", path=part.path), column=name)
        found[name] = convert_column(part, full)
    return found


def _protects(column: Part) -> bool:
    """Whether a column is a quasi-identifier that stays in the table."""
    operation = OPERATIONS.get(fold(operation_part(column).value))
    return ROLES.get(fold(column.at("attribute_type").value)) == "quasi-identifier" and operation != "suppress"


def _name(part: Part, key: str) -> str:
    name = part.text(key) if isinstance(part.value, dict) else ""
    if not name:
        raise InputError("not-anonylitics", Sentence("{path} has no '{key}'", path=part.path, key=key))
    return name


def _file_name(name: str) -> str:
    """A name that is a file name and nothing else."""
    return re.sub(r"[^\w.-]+", "_", name).strip(".") or "table"


def _table(
    top: Part,
    given: Mapping[str, Any],
    table: _Table,
    attributes: Mapping[tuple[str, str], str],
    tables: Sequence[_Table],
    address: Address | None,
) -> dict[str, Any]:
    if address is None:
        source, output = {"path": f"{table.file}.csv"}, {"path": _output(table, tables)}
        table.part.at("table_name").say_to_do(
            Sentence("Export the table to {file} beside the project file, or say in 'source' where it is.", file=source["path"])
        )
    else:
        source = {"database": address.project_value, "table": str(_names(table)[0])}
        output = {"database": address.project_value, "table": str(_target(table, tables))}
    columns = {}
    for name, column in table.columns.items():
        own = attributes.get((table.name, name))
        columns[name] = {**column.spec, **({"attribute": own} if own else {})}
    shown: dict[str, Any] = {} if table.full else {"protection": "operations"}
    shown |= {"source": source, "columns": columns}
    if table.full:
        shown["models"] = _models(top, given, table)
        shown["method"] = {"mondrian": {**MONDRIAN, "represent": _represent(table)}}
    elif given.get("principles") and fold(given.get("anonymization_type")) == "ligera" and table is tables[0]:
        top.at("principles").say_left_out("A project of operations checks no model; neither did Anonylitics.")
    return {**shown, "output": output}


def _names(table: _Table) -> tuple[TableName, TableName]:
    """A table of a database, and the one of its release."""
    part = table.part
    name, schema = part.text("table_name"), part.text("table_schema") or None
    release = part.text("anonymized_table_name") or f"{name}_anonymous"
    return TableName(name, schema), TableName(release, part.text("anonymized_table_schema") or schema)


def _target(table: _Table, tables: Sequence[_Table]) -> TableName:
    """The table of the release: no other table has its name."""
    every = [_names(t) for t in tables]
    source, wanted = _names(table)
    if wanted in [s for s, _ in every] or [w for _, w in every].count(wanted) > 1:
        table.part.at("anonymized_table_name").say_adapted(
            "A release cannot have the name of a table or of another release: the name of the table was put before it."
        )
        wanted = replace(wanted, name=f"{table.file}_{wanted.name if wanted != source else 'anonymous'}")
    return wanted


def _output(table: _Table, tables: Sequence[_Table]) -> str:
    part = table.part
    wanted = _file_name(part.text("anonymized_table_name") or f"{table.file}_anonymous")
    sources = {t.file for t in tables}
    taken = [_file_name(t.part.text("anonymized_table_name") or f"{t.file}_anonymous") for t in tables]
    if wanted in sources or taken.count(wanted) > 1:
        part.at("anonymized_table_name").say_adapted(
            "A release cannot have the file of a table or of another release: the name of the table was put before it."
        )
        wanted = f"{table.file}_{wanted}" if wanted != table.file else f"{wanted}_anonymous"
    return f"{wanted}.csv"


def _represent(table: _Table) -> str:
    """A number stands for a class where numbers must stay numbers, an interval where none must."""
    flags = {name: c.keep for name, c in table.columns.items() if c.keep is not None}
    if flags and not any(flags.values()):
        return "interval"
    for name, keep in flags.items():
        if not keep:
            table.columns[name].part.at("keep_data_type").say_adapted(
                "One representative serves all columns of a table, and others must stay numbers: so does this one."
            )
    return "mode"


def _models(top: Part, given: Mapping[str, Any], table: _Table) -> list[dict[str, Any]]:
    models: list[dict[str, Any]] = []
    for part in top.at("principles").items(Sentence("principles")) if given.get("principles") else []:
        found = part.keys(("principle_name", "principle_value")) if isinstance(part.value, dict) else {}
        make = PRINCIPLES.get(fold(found.get("principle_name")))
        if make is None:
            part.say_unknown("The principles are k-anonymity and t-closeness; add a model of Velado yourself.")
            continue
        models += make(part, {name: c.spec for name, c in table.columns.items()})
    if not models:
        top.at("principles").say_to_do("No principle was left: k = 2 was written, the weakest of all. Choose your own models.")
        models = [{"k-anonymity": {"k": 2}}]
    return models


def _attributes(top: Part, given: Mapping[str, Any], tables: Sequence[_Table]) -> dict[tuple[str, str], str]:
    """The attribute of every column that needs one: repeated ones share it, others of the same name do not."""
    found: dict[tuple[str, str], str] = {}
    groups = top.at("repeated_attributes").items(Sentence("lists of columns")) if given.get("repeated_attributes") else []
    for group in groups:
        members = _members(group, tables)
        taken = [m for m in members if m in found]
        if taken:
            group.say_unknown("A column is in two lists of repeated attributes; the first list counts.")
            continue
        if len(members) < 2:
            group.say_left_out("Fewer than two columns of the tables are left in the list.")
            continue
        specs = [next(t for t in tables if t.name == m[0]).columns[m[1]].spec for m in members]
        if any(spec != specs[0] for spec in specs):
            group.say_to_do(
                "The columns are not described alike, so they were not linked. Describe them alike, then give them one 'attribute'."
            )
            continue
        name = members[0][1]
        if name in found.values():
            name = ".".join(members[0])
        found |= dict.fromkeys(members, name)
        if len({m[0] for m in members}) > 1 and specs[0].get("role") == "quasi-identifier":
            group.say_adapted("Mondrian recodes class by class: the same value may become different ones in two tables.")
    everywhere = [name for t in tables for name in t.columns]
    for t in tables:
        for name in t.columns:
            if (t.name, name) not in found and (everywhere.count(name) > 1 or name in found.values()):
                found[t.name, name] = f"{t.name}.{name}"
    return {place: name for place, name in found.items() if name != place[1]}


def _members(group: Part, tables: Sequence[_Table]) -> list[tuple[str, str]]:
    places = []
    for part in group.items(Sentence("columns")):
        if isinstance(part.value, dict):
            part.keys(("column_name", "table_name"))
        name, table = (part.text(k) if isinstance(part.value, dict) else "" for k in ("column_name", "table_name"))
        at = [t for t in tables if table in (t.name, t.part.text("table_name")) and name in t.columns]
        if len(at) != 1:
            part.say_unknown("There is no such column of such a table." if not at else "Several tables have this name.")
            continue
        places.append((at[0].name, name))
    return list(dict.fromkeys(places))
