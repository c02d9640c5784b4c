"""The project file: schema, load, save."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, cast

import yaml

from velado.errors import InputError, Problems, VeladoError, short_repr, suggest
from velado.hierarchies import Hierarchy
from velado.hierarchies.build import check_description
from velado.methods import Lattice, Method, method_from
from velado.models import PrivacyModel, check_basis, model_from
from velado.project.attributes import check_attributes
from velado.project.check import problems_of
from velado.project.output import OUTPUT_KEYS, Output, output_from
from velado.project.people import ROWS
from velado.project.yaml_file import read_yaml
from velado.results import Discreet
from velado.schema import REST, Column
from velado.sentences import Sentence
from velado.spelling_variants import VARIANTS
from velado.tables import Source, Table
from velado.tables.files import path_of
from velado.tables.source import PLACES, said_of

VERSION = 1
UNITS = ("person", "household")
TABLE_KEYS = ("protection", "source", "columns", "rest", *UNITS, "models", "allowance", "method", "output", "variants")
SHARED_KEYS = ("protection", "models", "allowance", "method", "variants")
"""What several tables take from the top of the file, if they do not say it themselves."""
TABLES_KEYS = ("tables", "attributes", "joinable")
KEYS = ("velado", "name", *TABLE_KEYS, *TABLES_KEYS)
COLUMN_KEYS = ("role", "type", "hierarchy", "format", "missing", "operation", "attribute", "variants", "exposure", "known")
ATTRIBUTE_KEYS = tuple(key for key in COLUMN_KEYS if key != "attribute")
PROTECTIONS = ("models", "operations")
PLAIN = (int, float, bytes, list, tuple, set, date)
"""What a project file may hold that is neither text, mapping nor table."""


@dataclass(frozen=True, repr=False)
class Several(Source):
    """In the place of the source of a project of several tables, which has none itself."""

    def kind(self) -> str:
        """The first thing that an engine asks."""
        raise several_tables()


def several_tables() -> InputError:
    """The error for a project of several tables where one is needed."""
    return InputError(
        "several-tables",
        "this project describes several tables, and one is needed here",
        hint="'velado run' takes it as a whole; in Python, project.tables[NAME] is the project of one table.",
    )


@dataclass(frozen=True, repr=False)
class Project(Discreet):
    """A release described once: source, columns, models, method, output. Paths are relative to ``folder``.

    The ``source`` may be given as everything that tells where a table is, and is a `Source` from then on.

    ``protection``: models (default), or operations: only the operations of the columns are applied, and no model is
    checked. A project of several ``tables`` has a project for each, and nothing of a single one; its ``joinable``
    attributes must match after the run as they did before. ``person`` or ``household`` names the column whose equal values
    are one person's (or household's) rows, so that k and risk count these; "rows": every row is a person. ``allowance``: the
    share of the people who may be in groups smaller than k by all that is published and that others know or could know.
    """

    source: Any
    columns: tuple[Column, ...]
    models: tuple[PrivacyModel, ...] = ()
    method: Method = field(default_factory=Lattice)
    output: Output = field(default_factory=Output)
    rest: str | None = None
    person: str | None = None
    household: str | None = None
    allowance: float = 0.0
    name: str = "release"
    folder: Path = field(default_factory=Path)
    file: Path | None = None
    protection: str = "models"
    tables: Mapping[str, Project] = field(default_factory=dict)
    joinable: tuple[str, ...] = ()

    def summary(self) -> dict[str, Any]:
        """What is done with how many columns; nothing of the source and of what the columns hold."""
        if self.tables:
            return {"name": self.name, "tables": tuple(self.tables)}
        done = {"protection": "operations"} if self.light else {"models": tuple(m.name for m in self.models)}
        method = {} if self.light else {"method": self.method.name}
        return {"name": self.name, "columns": len(self.columns), **done, **method}

    def __post_init__(self) -> None:
        _check_protection(self.protection)
        _check_units(self.person, self.household)
        check_allowance(self.allowance)
        object.__setattr__(self, "source", Source.of(self.source, self.folder))

    @property
    def unit(self) -> str | None:
        """The column that says which rows belong together, "rows" if none do, None if nothing is said."""
        return self.person or self.household

    @property
    def manifest_entry(self) -> dict[str, Any]:
        """What manifests call it."""
        return {"name": self.name}

    @property
    def light(self) -> bool:
        """Whether only operations are applied."""
        return self.protection == "operations"

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
            for one in (error, *error.others):
                if one.file is None:
                    one.file = str(path)
                    one.args = (str(one),)
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
        """A project from the mapping that a project file holds. All of it is looked at: see `Problems`."""
        problems = Problems()
        _check_mapping(data, Sentence("a project"))
        _check_keys(data, Sentence("a project"), KEYS, problems)
        version = data.get("velado", VERSION)
        if version != VERSION or isinstance(version, bool):
            message = Sentence(
                "this Velado reads project files of version {version}, not {given}", version=VERSION, given=repr(version)
            )
            problems.add(InputError("bad-version", message), "velado")
        several = "tables" in data
        for key in () if several else TABLES_KEYS:
            if key in data:
                message = Sentence("'{key}' is for projects of several tables", key=key)
                problems.add(InputError("bad-project", message, hint="See 'tables'."), key)
        name = "release"
        with problems.at("name"):
            name = _name(data)
        with problems.at():
            make = cls._of_tables if several else cls._of_table
            project = make(data, Path(folder), file, name)
        problems.raise_if_any()
        return project

    @classmethod
    def _of_table(
        cls, data: Mapping[str, Any], folder: Path, file: Path | None, name: str, attributes: Mapping[str, Any] | None = None
    ) -> Project:
        problems = Problems()
        with problems.at("protection"):
            _check_protection(data.get("protection", "models"))
        light = data.get("protection") == "operations"
        parts: dict[str, Any] = {}
        for key in ("source", "columns", *(() if light else ("models",))):
            if _is_empty(data.get(key)):
                hint = Sentence("Or write 'protection: operations' to apply operations only." if key == "models" else "")
                error = InputError("missing-key", Sentence("the project has no '{key}'", key=key), hint=hint)
                problems.add(error, *((key,) if key in data else ()))
        for key in ("models", "method", "allowance"):
            if light and key in data:
                message = Sentence("'protection: operations' checks no model, and there is '{key}'", key=key)
                hint = Sentence("Leave out '{key}', or leave out 'protection: operations'.", key=key)
                problems.add(InputError("light-project", message, hint=hint), key)
        if data.get("rest") not in (None, *REST):
            message = Sentence("'rest' must be drop or insensitive, got {given}", given=repr(data["rest"]))
            problems.add(InputError("bad-rest", message), "rest")
        with problems.at():
            _check_units(data.get("person"), data.get("household"))
        with problems.at("allowance"):
            check_allowance(data.get("allowance", 0.0))
        with problems.at("source"):
            parts["source"] = _source(data.get("source"), folder)
        variants = VARIANTS[0]
        with problems.at("variants"):
            variants = _variants(data.get("variants", VARIANTS[0]))
        with problems.at("columns"):
            parts["columns"] = _columns(data.get("columns") or {}, light, attributes or {}, variants)
        with problems.at("models"):
            parts["models"] = _models(data.get("models") or ())
        with problems.at("method"):
            given = data.get("method")
            parts["method"] = Lattice() if given is None else _one(given, "method", method_from)
        with problems.at("output"):
            parts["output"] = _output(data.get("output"), folder)
        problems.raise_if_any()
        said = {key: data[key] for key in ("rest", *UNITS, "allowance", "protection") if key in data}
        return cls(**parts, **said, name=name, folder=folder, file=file)

    @classmethod
    def _of_tables(cls, data: Mapping[str, Any], folder: Path, file: Path | None, name: str) -> Project:
        """Every table takes what it does not say itself from the top of the file."""
        problems = Problems()
        for key in TABLE_KEYS:
            if key in data and key not in SHARED_KEYS:
                message = Sentence("'{key}' stands in each table where there are 'tables'", key=key)
                problems.add(InputError("bad-project", message), key)
        attributes: Mapping[str, Any] = {}
        with problems.at("attributes"):
            attributes = _attributes(data.get("attributes"))
        shared = {key: data[key] for key in SHARED_KEYS if key in data}
        tables: dict[str, Project] = {}
        with problems.at("tables"):
            _check_mapping(data["tables"], "tables")
        described = data["tables"] if isinstance(data["tables"], Mapping) else {}
        for table, own in described.items():
            with problems.at("tables", str(table)):
                if str(table) in tables:
                    raise InputError("bad-project", Sentence("the table '{table}' is described twice", table=table))
                tables[str(table)] = cls._one_of_tables(table, own, shared, folder, file, f"{name}/{table}", attributes)
        joinable = () if data.get("joinable") is None else data["joinable"]
        if isinstance(joinable, str) or not isinstance(joinable, Sequence):
            problems.add(InputError("bad-project", "'joinable' is a list of attributes"), "joinable")
        problems.raise_if_any()
        return cls.of_tables(tables, tuple(map(str, joinable)), name, folder, file)

    @classmethod
    def _one_of_tables(
        cls,
        table: Any,
        own: Any,
        shared: Mapping[str, Any],
        folder: Path,
        file: Path | None,
        name: str,
        attributes: Mapping[str, Any],
    ) -> Project:
        """A table; its errors say which it is."""
        problems, what = Problems(), Sentence("the table '{table}'", table=table)
        _check_mapping(own, what)
        _check_keys(own, what, TABLE_KEYS, problems)
        light = own.get("protection") == "operations"
        inherited = {k: v for k, v in shared.items() if not light or k == "variants"}
        try:
            with problems.at():
                project = cls._of_table({**inherited, **own}, folder, file, name, attributes)
            problems.raise_if_any()
        except InputError as error:
            for one in (error, *error.others):
                one.message = Sentence("table '{table}': {message}", table=str(table), message=one.message)
                one.args = (str(one),)
            raise
        return project

    @classmethod
    def of_tables(
        cls,
        tables: Mapping[str, Project],
        joinable: Sequence[str] = (),
        name: str = "release",
        folder: Path | str = ".",
        file: Path | None = None,
    ) -> Project:
        """A project of several tables; attributes that they share must be described alike."""
        check_attributes(tables, joinable)
        return cls(Several(), (), name=name, folder=Path(folder), file=file, tables=tables, joinable=tuple(joinable))

    def check(self: AnyProject) -> list[VeladoError]:
        """All that is wrong with a project, its table included, each with its ``path`` in the file; nothing is written.

        Also ``Project.check("patients.yaml")``, for a file or a mapping that cannot be loaded.

        >>> found = Project.check({"source": "patients.csv", "columns": {"age": "quasi"}, "models": []})
        >>> [(error.path, error.code) for error in found]
        [('models', 'missing-key'), ('columns.age.role', 'bad-role')]
        """
        try:
            project = Project.of(self)
        except InputError as error:
            return [error, *error.others]
        return problems_of(project)

    def release_source(self, original: Table | None = None) -> Source:
        """The release, which must have been written, as it is read back.

        Its delimiter is found out unless the project says it, or the original is at hand, which has the same.
        """
        path = self.output.path
        if self.output.in_memory or (path is not None and not path.exists()):
            raise InputError(
                "no-release", "the project's release is not there", file=path or self.file, hint="velado run PROJECT writes it."
            )
        if original is not None:
            return self.output.sink(None if original.dialect is None else original.dialect.delimiter).source()
        return replace(self.output.sink().source(), delimiter=self.output.delimiter)

    def check_modelled(self) -> None:
        """This is one table, protected by models that its method can satisfy: there is something to measure or report."""
        if self.tables:
            raise several_tables()
        if self.light:
            raise InputError(
                "light-project",
                "'protection: operations' checks no model, and this needs one",
                hint="Only 'velado run' takes such a project; velado check tells what its release reaches.",
            )
        check_basis(self.models, self.method.takes)

    def as_dict(self) -> dict[str, Any]:
        """The mapping that a project file holds; what has its default is left out."""
        top: dict[str, Any] = {"velado": VERSION, "name": self.name}
        if self.tables:
            tables = {name: table._as_table() for name, table in self.tables.items()}
            return {**top, "tables": tables, **({"joinable": list(self.joinable)} if self.joinable else {})}
        return {**top, **self._as_table()}

    def _as_table(self) -> dict[str, Any]:
        source: Source = self.source
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
                ("variants", "fold"),
                ("exposure", ""),
                ("known", ""),
            ):
                value = getattr(c, key)
                if isinstance(value, Hierarchy):
                    shown[key] = {"rows": value.rows()}
                elif value != default:
                    shown[key] = list(value) if isinstance(value, tuple) else value
            columns[c.name] = shown
        options: dict[str, Any] = {**self._place(source), **source.options}
        said = [k for k in OUTPUT_KEYS if k not in PLACES and getattr(self.output, k) != getattr(Output, k)]
        place = {} if self.output.in_memory else self._place(self.output)
        output = place | {k: list(v) if isinstance(v := getattr(self.output, k), tuple) else v for k in said}
        data: dict[str, Any] = {
            "source": options,
            "columns": columns,
            "models": [{m.name: m.requirements()} for m in self.models],
            "method": {self.method.name: {k: getattr(self.method, k) for k in self.method.parameters}},
            "output": {k: self._relative(v) if isinstance(v, Path) else v for k, v in output.items()},
        }
        if self.light:
            data = {"protection": "operations", **{k: v for k, v in data.items() if k not in ("models", "method")}}
        for key in ("rest", *UNITS, "allowance"):
            if getattr(self, key):
                data[key] = getattr(self, key)
        return data

    def _place(self, place: Source | Output) -> dict[str, Any]:
        """Where a table is, as a project file says it; no password."""
        if elsewhere := said_of(place.database, place.url):
            return elsewhere
        return {"path": self._relative(place.path) if place.path else self.source.name}

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
        raise InputError("bad-project", Sentence("'name' must be a text, got {given}", given=short_repr(name)))
    return str(name)


def _check_mapping(data: Any, what: str) -> None:
    if not isinstance(data, Mapping):
        raise InputError("bad-project", Sentence("{what} must be a mapping, got {kind}", what=what, kind=type(data).__name__))


def _check_keys(data: Mapping[str, Any], what: str, known: Sequence[str], problems: Problems) -> None:
    for key in data:
        if key not in known:
            message = Sentence("{what} has no key '{key}'", what=what, key=key)
            problems.add(InputError("unknown-key", message, hint=suggest(str(key), known)), str(key))


def _is_empty(value: Any) -> bool:
    # The truth of a data frame is nobody's.
    return value is None or (isinstance(value, (str, Mapping, *PLAIN)) and not value)


def _source(given: Any, folder: Path) -> Any:
    if isinstance(given, PLAIN) and given:
        raise InputError(
            "bad-project", Sentence("'source' is a path or a mapping with a path, got {given}", given=short_repr(given))
        )
    return Source.of(given, folder) if isinstance(given, (str, Mapping)) and given else given


def _variants(given: Any) -> str:
    if given not in VARIANTS:
        raise InputError("bad-variants", Sentence("'variants' must be fold or distinct, got {given}", given=repr(given)))
    return str(given)


def _models(given: Any) -> tuple[PrivacyModel, ...]:
    problems, models = Problems(), []
    mapped = isinstance(given, Mapping)
    for number, spec in enumerate(_list(given, "models")):
        with problems.at(*(() if mapped else (number,))):
            models.append(_one(spec, "models", model_from))
    problems.raise_if_any()
    return tuple(models)


def _output(given: Any, folder: Path) -> Output:
    problems = Problems()
    options = {} if given is None else {"path": given} if isinstance(given, str) else given
    _check_mapping(options, Sentence("the output"))
    _check_keys(options, Sentence("the output"), OUTPUT_KEYS, problems)
    with problems.at():
        output = output_from({key: value for key, value in options.items() if key in OUTPUT_KEYS}, folder)
    problems.raise_if_any()
    return output


def _attributes(given: Any) -> Mapping[str, Any]:
    """What columns of an attribute have in common; names of keys are checked, their values where a column has them."""
    if given is None:
        return {}
    _check_mapping(given, "attributes")
    problems = Problems()
    for attribute, spec in given.items():
        what = Sentence("the attribute '{attribute}'", attribute=attribute)
        with problems.at(str(attribute)):
            inner = Problems()
            _check_mapping(spec, what)
            _check_keys(spec, what, ATTRIBUTE_KEYS, inner)
            inner.raise_if_any()
    problems.raise_if_any()
    return cast(Mapping[str, Any], given)


def _columns(given: Any, light: bool, attributes: Mapping[str, Any], variants: str) -> tuple[Column, ...]:
    _check_mapping(given, "columns")
    problems, columns = Problems(), []
    for name, spec in given.items():
        with problems.at(str(name)):
            columns.append(_column(str(name), spec, light, attributes, variants))
    problems.raise_if_any()
    return tuple(columns)


def _check_protection(word: Any) -> None:
    if word not in PROTECTIONS:
        raise InputError("bad-protection", Sentence("'protection' must be models or operations, got {given}", given=repr(word)))


def check_allowance(given: Any) -> None:
    """Refuse what is no share of the people."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given <= 1:
        raise InputError(
            "bad-allowance",
            Sentence("'allowance' must be a share of the people from 0 to 1, got {given}", given=short_repr(given)),
            hint="For example allowance: 0.01.",
        )


def _check_units(person: Any, household: Any) -> None:
    problems = Problems()
    for key, column in zip(UNITS, (person, household), strict=True):
        if column is not None and (not isinstance(column, str) or not column):
            message = Sentence("'{key}' is the name of a column, got {given}", key=key, given=repr(column))
            problems.add(InputError("bad-project", message, hint=Sentence("{key}: patient_id", key=key)), key)
    if person is not None and household is not None:
        message = Sentence("say either 'person' or 'household': k counts one of them")
        problems.add(InputError("bad-project", message), "household")
    if household == ROWS:
        hint = "Write 'person: rows' if every row is a person."
        problems.add(InputError("bad-project", "'household' is the name of a column", hint=hint), "household")
    problems.raise_if_any()


def _list(data: Any, what: str) -> Sequence[Any]:
    if isinstance(data, Mapping):
        return [{k: v} for k, v in data.items()]
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise InputError("bad-project", Sentence("{what} must be a list, got {kind}", what=what, kind=type(data).__name__))
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
    problems = Problems()
    with problems.at(str(name)):
        if arguments is not None and not isinstance(arguments, Mapping):
            raise InputError(
                "bad-project", Sentence("the parameters of {name} must be a mapping, got {given}", name=name, given=repr(arguments))
            )
        made = make(str(name), arguments)
    problems.raise_if_any()
    return made


def _column(name: str, spec: Any, light: bool, attributes: Mapping[str, Any], variants: str) -> Column:
    """A column; what it does not say itself comes from its attribute, ``variants`` from the top of the project."""
    problems, what = Problems(name), Sentence("the column '{column}'", column=name)
    own = {} if spec is None else {"role": spec} if isinstance(spec, str) else spec
    _check_mapping(own, what)
    _check_keys(own, what, COLUMN_KEYS, problems)
    options = {**attributes.get(str(own.get("attribute", name)), {}), **own}
    options = {key: value for key, value in options.items() if key in COLUMN_KEYS}
    if "role" not in options and not (light and "operation" in options):
        message = Sentence("the column has no role and no operation") if light else Sentence("the column has no role")
        hint = "Choose one of: identifier, quasi-identifier, sensitive, insensitive."
        problems.add(InputError("column-without-role", message, hint=hint))
        # The rest is looked at all the same.
        options["role"] = "quasi-identifier"
    if options.get("role") == "sensitive":
        options = {"variants": variants, **options}
    with problems.at():
        column = Column(name, **options)
    with problems.at("hierarchy"):
        check_description(name, options.get("hierarchy"), options.get("format"))
    problems.raise_if_any()
    return column
