"""The project file: schema, load, save."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from velado.errors import InputError, shown, suggest
from velado.hierarchies import Hierarchy
from velado.methods import Lattice, Method, method_from
from velado.models import PrivacyModel, check_basis, model_from
from velado.project.output import OUTPUT_KEYS, Output, output_from
from velado.project.yaml_file import read_yaml
from velado.schema import REST, Column
from velado.sentences import Sentence
from velado.tables import Source, Table
from velado.tables.files import path_of
from velado.twins import TWINS

VERSION = 1
UNITS = ("person", "household")
ROWS = "rows"
"""Every row is a person."""
TABLE_KEYS = ("anonymization", "source", "columns", "rest", *UNITS, "models", "method", "output", "twins")
SHARED_KEYS = ("anonymization", "models", "method", "twins")
"""What several tables take from the top of the file, if they do not say it themselves."""
TABLES_KEYS = ("tables", "attributes", "joinable")
KEYS = ("velado", "name", *TABLE_KEYS, *TABLES_KEYS)
COLUMN_KEYS = ("role", "type", "hierarchy", "format", "missing", "operation", "attribute", "twins", "published")
ATTRIBUTE_KEYS = tuple(key for key in COLUMN_KEYS if key != "attribute")
ANONYMIZATIONS = ("models", "light")
PLAIN = (int, float, bytes, list, tuple, set, date)
"""What a project file may hold that is neither text, mapping nor table."""


@dataclass(frozen=True)
class Several(Source):
    """In the place of the source of a project of several tables, which has none itself."""

    def kind(self) -> str:
        """The first thing that an engine asks."""
        raise several_tables()


def several_tables() -> InputError:
    """The error for a project of several tables where one is needed."""
    return InputError(
        "several-tables", "this project describes several tables, and one is needed here",
        hint="'velado run' takes it as a whole; in Python, project.tables[NAME] is the project of one table.",
    )  # fmt: skip


@dataclass(frozen=True)
class Project:
    """A release described once: source, columns, models, method, output. Paths are relative to ``folder``.

    ``anonymization``: models (default), or light: only the operations of the columns are applied, and no model is
    checked. A project of several ``tables`` has a project for each, and nothing of a single one; its ``joinable``
    attributes must match after the run as they did before. ``person`` or ``household`` names the column whose equal values
    are one person's (or household's) rows, so that k and risk count these; "rows": every row is a person.
    """

    source: Any
    columns: tuple[Column, ...]
    models: tuple[PrivacyModel, ...] = ()
    method: Method = field(default_factory=Lattice)
    output: Output = field(default_factory=Output)
    rest: str | None = None
    person: str | None = None
    household: str | None = None
    name: str = "release"
    folder: Path = field(default_factory=Path)
    file: Path | None = None
    anonymization: str = "models"
    tables: Mapping[str, Project] = field(default_factory=dict)
    joinable: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_anonymization(self.anonymization)
        _check_units(self.person, self.household)

    @property
    def unit(self) -> str | None:
        """The column that says which rows belong together, "rows" if none do, None if nothing is said."""
        return self.person or self.household

    @property
    def light(self) -> bool:
        """Whether only operations are applied."""
        return self.anonymization == "light"

    @classmethod
    def of(cls, project: AnyProject) -> Project:
        """A project, the one of a project file, or that of the mapping which such a file holds."""
        if isinstance(project, Project):
            return project
        return cls.from_dict(project) if isinstance(project, Mapping) else cls.load(project)

    @classmethod
    def load(cls, path: str | Path) -> Project:
        """Read a YAML or JSON project file."""
        path = path_of(path, Sentence("the project"))
        try:
            return cls.from_dict(read_yaml(path), path.parent, path)
        except InputError as error:
            if error.file is None:
                error.file = str(path)
                error.args = (str(error),)
            raise
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError, OverflowError) as error:
            # The last net: every part is checked where it is read, but nobody knows all that people write.
            raise InputError(
                "bad-project",
                Sentence("a part of the project has the wrong shape ({kind})", kind=type(error).__name__),
                file=path,
                hint="Compare it with the reference of the project file.",
            ) from None

    @classmethod
    def from_dict(cls, data: Any, folder: Path | str = ".", file: Path | None = None) -> Project:
        """A project from the mapping that a project file holds."""
        _mapping(data, Sentence("a project"), KEYS)
        if data.get("velado", VERSION) != VERSION or isinstance(data.get("velado"), bool):
            raise InputError(
                "bad-version",
                Sentence(
                    "this Velado reads project files of version {version}, not {given}",
                    version=VERSION,
                    given=repr(data["velado"]),
                ),
            )
        if "tables" in data:
            return cls._of_tables(data, Path(folder), file)
        for key in TABLES_KEYS:
            if key in data:
                raise InputError(
                    "bad-project", Sentence("'{key}' is for projects of several tables", key=key), hint="See 'tables'."
                )
        return cls._of_table(data, Path(folder), file, _name(data), {})

    @classmethod
    def _of_table(
        cls, data: Mapping[str, Any], folder: Path, file: Path | None, name: str, attributes: Mapping[str, Any]
    ) -> Project:
        _check_anonymization(data.get("anonymization", "models"))
        light = data.get("anonymization") == "light"
        for key in ("source", "columns", *(() if light else ("models",))):
            value = data.get(key)
            # The truth of a data frame is nobody's.
            if value is None or (isinstance(value, (str, Mapping, *PLAIN)) and not value):
                raise InputError(
                    "missing-key",
                    Sentence("the project has no '{key}'", key=key),
                    hint="Or write 'anonymization: light' to apply operations only." if key == "models" else "",
                )
        for key in ("models", "method"):
            if light and key in data:
                raise InputError(
                    "light-project", Sentence("'anonymization: light' checks no model, and there is '{key}'", key=key),
                    hint=Sentence("Leave out '{key}', or leave out 'anonymization: light'.", key=key),
                )  # fmt: skip
        if data.get("rest") not in (None, *REST):
            raise InputError(
                "bad-rest", Sentence("'rest' must be drop or insensitive, got {given}", given=repr(data["rest"]))
            )
        source = data["source"]
        if isinstance(source, (str, Mapping)):
            source = Source.of(source, folder)
        elif isinstance(source, PLAIN):
            raise InputError(
                "bad-project", Sentence("'source' is a path or a mapping with a path, got {given}", given=shown(source))
            )
        columns = _mapping(data["columns"], "columns").items()
        twins = data.get("twins", "fold")
        if twins not in TWINS:
            raise InputError("bad-twins", Sentence("'twins' must be fold or distinct, got {given}", given=repr(twins)))
        return cls(
            source=source,
            columns=tuple(_column(column, spec, light, attributes, twins) for column, spec in columns),
            models=tuple(_one(spec, "models", model_from) for spec in _list(data.get("models") or (), "models")),
            method=_one(data["method"], "method", method_from) if data.get("method") else Lattice(),
            output=output_from(
                _mapping(_as_path(data.get("output") or {}), Sentence("the output"), OUTPUT_KEYS), folder
            ),
            rest=data.get("rest"),
            person=data.get("person"),
            household=data.get("household"),
            name=name,
            folder=folder,
            file=file,
            anonymization=data.get("anonymization", "models"),
        )

    @classmethod
    def _of_tables(cls, data: Mapping[str, Any], folder: Path, file: Path | None) -> Project:
        """Every table takes what it does not say itself from the top of the file."""
        for key in TABLE_KEYS:
            if key in data and key not in SHARED_KEYS:
                raise InputError(
                    "bad-project", Sentence("'{key}' stands in each table where there are 'tables'", key=key)
                )
        name = _name(data)
        attributes = _mapping(data.get("attributes") or {}, "attributes")
        for attribute, spec in attributes.items():
            _mapping(
                spec,
                Sentence("the attribute '{attribute}'", attribute=attribute),
                ATTRIBUTE_KEYS,
            )
        shared = {key: data[key] for key in SHARED_KEYS if key in data}
        tables = {}
        for table, spec in _mapping(data["tables"], "tables").items():
            own = _mapping(spec, Sentence("the table '{table}'", table=table), TABLE_KEYS)
            if str(table) in tables:
                raise InputError("bad-project", Sentence("the table '{table}' is described twice", table=table))
            light = own.get("anonymization") == "light"
            inherited = {k: v for k, v in shared.items() if not light or k == "twins"}
            try:
                tables[str(table)] = cls._of_table({**inherited, **own}, folder, file, f"{name}/{table}", attributes)
            except InputError as error:
                error.message = Sentence("table '{table}': {message}", table=str(table), message=error.message)
                error.args = (str(error),)
                raise
        joinable = data.get("joinable") or ()
        if isinstance(joinable, str) or not isinstance(joinable, Sequence):
            raise InputError("bad-project", "'joinable' is a list of attributes")
        return cls.of_tables(tables, tuple(map(str, joinable)), name, folder, file)

    @classmethod
    def of_tables(
        cls, tables: Mapping[str, Project], joinable: Sequence[str] = (), name: str = "release",
        folder: Path | str = ".", file: Path | None = None,
    ) -> Project:  # fmt: skip
        """A project of several tables; attributes that they share must be described alike."""
        from velado.project.attributes import check_attributes

        check_attributes(tables, joinable)
        return cls(Several(), (), name=name, folder=Path(folder), file=file, tables=tables, joinable=tuple(joinable))

    def released(self, original: Table | None = None) -> Source:
        """The release, which must have been written, as it is read back.

        Its delimiter is found out unless the project says it, or the original is at hand, which has the same.
        """
        path = self.output.path
        if path is None or not path.exists():
            raise InputError(
                "no-release", "the project's release is not there", file=path or self.file,
                hint="velado run PROJECT writes it.",
            )  # fmt: skip
        if original is not None:
            return self.output.sink(None if original.dialect is None else original.dialect.delimiter).source()
        return replace(self.output.sink().source(), delimiter=self.output.delimiter)

    def check_modelled(self) -> None:
        """This is one table, protected by models that its method can satisfy: there is something to measure or report."""
        if self.tables:
            raise several_tables()
        if self.light:
            raise InputError(
                "light-project", "'anonymization: light' checks no model, and this needs one",
                hint="Only 'velado run' takes such a project; velado check tells what its release reaches.",
            )  # fmt: skip
        check_basis(self.models, self.method.takes)

    def as_dict(self) -> dict[str, Any]:
        """The mapping that a project file holds; what has its default is left out."""
        top: dict[str, Any] = {"velado": VERSION, "name": self.name}
        if self.tables:
            tables = {name: table._as_table() for name, table in self.tables.items()}
            return {**top, "tables": tables, **({"joinable": list(self.joinable)} if self.joinable else {})}
        return {**top, **self._as_table()}

    def _as_table(self) -> dict[str, Any]:
        source = Source.of(self.source)
        columns = {}
        for c in self.columns:
            shown: dict[str, Any] = {"role": c.role} if c.role else {}
            if c.operation is not None and (c.operation.name, c.role) != ("suppress", "identifier"):
                shown["operation"] = c.operation.spec()
            for key, default in (
                ("type", "text"),
                ("hierarchy", None),
                ("format", None),
                ("missing", "own-category"),
                ("attribute", c.name),
                ("twins", "fold"),
                ("published", ""),
            ):
                value = getattr(c, key)
                if isinstance(value, Hierarchy):
                    shown[key] = {"rows": value.rows()}
                elif value != default:
                    shown[key] = list(value) if isinstance(value, tuple) else value
            columns[c.name] = shown
        options: dict[str, Any] = {
            "path": self._relative(source.path) if source.path else source.name,
            **source.options,
        }
        output = {k: getattr(self.output, k) for k in OUTPUT_KEYS if getattr(self.output, k) != getattr(Output(), k)}
        data: dict[str, Any] = {
            "source": options,
            "columns": columns,
            "models": [{m.name: m.required()} for m in self.models],
            "method": {self.method.name: {k: getattr(self.method, k) for k in self.method.parameters}},
            "output": {k: self._relative(v) if isinstance(v, Path) else v for k, v in output.items()},
        }
        if self.light:
            data = {"anonymization": "light", **{k: v for k, v in data.items() if k not in ("models", "method")}}
        for key in ("rest", *UNITS):
            if getattr(self, key):
                data[key] = getattr(self, key)
        return data

    def _relative(self, path: Path) -> str:
        """A path as the project file writes it: relative to its folder if it lies below it."""
        try:
            return str(path.resolve().relative_to(self.folder.resolve()))
        except ValueError:
            return str(path.resolve())

    def save(self, path: str | Path) -> None:
        """Write as YAML; paths stay relative to the project's folder, so save it there."""
        Path(path).write_text(yaml.safe_dump(self.as_dict(), sort_keys=False, allow_unicode=True), encoding="utf-8")

    def digest(self) -> str:
        """SHA-256 of the project's content."""
        shown = self.as_dict()
        return hashlib.sha256(json.dumps(shown, sort_keys=True, default=str).encode()).hexdigest()


AnyProject = Project | str | Path | Mapping[str, Any]
"""A project in any of its forms: the object, a file, or the mapping that a file holds."""


def _name(data: Mapping[str, Any]) -> str:
    name = data.get("name", "release")
    if isinstance(name, bool) or not isinstance(name, (str, int, float)):
        raise InputError("bad-project", Sentence("'name' must be a text, got {given}", given=shown(name)))
    return str(name)


def _mapping(data: Any, what: str, known: Sequence[str] | None = None) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise InputError(
            "bad-project", Sentence("{what} must be a mapping, got {kind}", what=what, kind=type(data).__name__)
        )
    for key in data:
        if known is not None and key not in known:
            raise InputError(
                "unknown-key", Sentence("{what} has no key '{key}'", what=what, key=key), hint=suggest(str(key), known)
            )
    return data


def _check_anonymization(word: Any) -> None:
    if word not in ANONYMIZATIONS:
        raise InputError(
            "bad-anonymization", Sentence("'anonymization' must be models or light, got {given}", given=repr(word))
        )


def _check_units(person: Any, household: Any) -> None:
    for key, column in zip(UNITS, (person, household), strict=True):
        if column is not None and (not isinstance(column, str) or not column):
            raise InputError(
                "bad-project",
                Sentence("'{key}' is the name of a column, got {given}", key=key, given=repr(column)),
                hint=Sentence("{key}: patient_id", key=key),
            )
    if person is not None and household is not None:
        raise InputError("bad-project", "say either 'person' or 'household': k counts one of them")
    if household == ROWS:
        raise InputError(
            "bad-project", "'household' is the name of a column", hint="Write 'person: rows' if every row is a person."
        )


def _list(data: Any, what: str) -> Sequence[Any]:
    if isinstance(data, Mapping):
        return [{k: v} for k, v in data.items()]
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise InputError(
            "bad-project", Sentence("{what} must be a list, got {kind}", what=what, kind=type(data).__name__)
        )
    return data


def _one(spec: Any, what: str, make: Any) -> Any:
    if isinstance(spec, str):
        return make(spec, None)
    if not isinstance(spec, Mapping) or len(spec) != 1:
        raise InputError(
            "bad-project",
            Sentence(
                "each of {what} is a mapping with one name, such as {{k-anonymity: {{k: 5}}}}; got {given}",
                what=what,
                given=repr(spec),
            ),
        )
    ((name, arguments),) = spec.items()
    if arguments is not None and not isinstance(arguments, Mapping):
        raise InputError(
            "bad-project",
            Sentence("the parameters of {name} must be a mapping, got {given}", name=name, given=repr(arguments)),
        )
    return make(str(name), arguments)


def _column(name: Any, spec: Any, light: bool, attributes: Mapping[str, Any], twins: str) -> Column:
    """A column; what it does not say itself comes from its attribute, ``twins`` from the top of the project."""
    name = str(name)
    options = (
        {"role": spec}
        if isinstance(spec, str)
        else _mapping(spec or {}, Sentence("the column '{column}'", column=name), COLUMN_KEYS)
    )
    options = {**attributes.get(str(options.get("attribute", name)), {}), **options}
    if "role" not in options and not (light and "operation" in options):
        raise InputError(
            "column-without-role", "the column has no role and no operation" if light else "the column has no role", column=name,
            hint="Choose one of: identifier, quasi-identifier, sensitive, insensitive.",
        )  # fmt: skip
    if options.get("role") == "sensitive":
        options = {"twins": twins, **options}
    return Column(name, **options)


def _as_path(data: Any) -> Any:
    return {"path": data} if isinstance(data, str) else data
