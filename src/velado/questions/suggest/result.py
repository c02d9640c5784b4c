"""What is suggested for a table: columns, models, methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from velado.errors import InputError
from velado.project import Project
from velado.recognition.units import Unit
from velado.results import IF_SET, UNSAID, Discreet, Result
from velado.sentences import Sentence, join_sentences


@dataclass(frozen=True, repr=False)
class SuggestedColumn(Discreet):
    """A column as a project file should describe it, and why; ``kept``: it is published or protected, not left out.

    ``tries``: how often its rounding was not enough. ``wanted``: the owner said what it is to be.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("name",)
    name: str
    spec: dict[str, Any]
    reason: str
    kept: bool = True
    tries: int = 0
    wanted: bool = False


@dataclass(frozen=True, repr=False)
class Trial(Discreet):
    """What a method made of the table: the information lost and the records suppressed, or why it was not tried."""

    NAMES: ClassVar[tuple[str, ...]] = ("method",)
    method: Mapping[str, Any]
    loss: float | None = None
    suppressed: float = 0.0
    problem: str = ""

    @property
    def name(self) -> str:
        """The name of the method, and of what it does not do by default."""
        ((name, options),) = self.method.items()
        width = options.get("width")
        return Sentence("{method} by {width}", method=name, width=width) if width else name


class Without(NamedTuple):
    """A model that was left out, and why."""

    model: dict[str, Any]
    reason: str


@dataclass(frozen=True, repr=False)
class Suggestion(Result):
    """A project for a table: columns, models, methods with what they lose, the best first.

    ``unit`` is ``person`` or ``household`` and a column, where rows belong together; ``without`` are models that were left
    out, and why. ``remarks`` say what models cost, and how many rows are copies. ``source`` is the table, with what stands for
    missing values in it.
    """

    SCHEMA: ClassVar[str] = "velado-suggestion-1"
    columns: tuple[SuggestedColumn, ...]
    models: tuple[dict[str, Any], ...]
    without: tuple[Without, ...] = ()
    unit: Unit | None = None
    trials: tuple[Trial, ...] = ()
    remarks: tuple[str, ...] = field(default=(), metadata=IF_SET)
    source: Any = field(default=None, metadata=UNSAID)

    @property
    def project(self) -> Project:
        """The project, ready to run; the release stays in memory."""
        if self.source is None:
            raise InputError(
                "no-source",
                "a suggestion that was read back knows its table no more",
                hint="Suggest again, or hand its columns, models and method to velado.anonymize.",
            )
        return Project.from_dict(self.mapping(self.source, self.method))

    @property
    def kept(self) -> dict[str, dict[str, Any]]:
        """The columns that are not left out, as `velado.anonymize` and project files take them."""
        return {c.name: c.spec for c in self.columns if c.kept}

    @property
    def method(self) -> Mapping[str, Any]:
        """The method that loses least."""
        return self.trials[0].method

    def column(self, name: str) -> SuggestedColumn:
        """One of the columns."""
        return next(c for c in self.columns if c.name == name)

    @property
    def k(self) -> int:
        """The k of k-anonymity."""
        return int(self.models[0]["k-anonymity"]["k"])

    @property
    def quasi(self) -> tuple[SuggestedColumn, ...]:
        """The quasi-identifiers that are kept."""
        return tuple(c for c in self.columns if c.kept and c.spec["role"] == "quasi-identifier")

    def changing(self, columns: Iterable[SuggestedColumn]) -> Suggestion:
        """The same with other descriptions of some columns."""
        other = {c.name: c for c in columns}
        return replace(self, columns=tuple(other.get(c.name, c) for c in self.columns))

    def leaving_out(self, name: str, reason: str) -> Suggestion:
        """The same without a column, and without the models that protect it."""
        columns = tuple(
            replace(c, kept=False, reason=join_sentences("; ", [c.reason, reason])) if c.name == name else c for c in self.columns
        )
        return replace(self, columns=columns, models=tuple(m for m in self.models if protects(m) != name))

    def summary(self) -> dict[str, Any]:
        """The columns by the role that they get, the models, and what the methods lose."""
        roles: dict[str, list[str]] = {}
        for column in self.columns:
            roles.setdefault(str(column.spec.get("role", "")) if column.kept else "left out", []).append(column.name)
        return {
            **{role: tuple(names) for role, names in roles.items()},
            "models": tuple(name for model in self.models for name in model),
            **{f"loss of {trial.name}": trial.loss for trial in self.trials if trial.loss is not None},
        }

    def mapping(self, source: Any, method: Mapping[str, Any]) -> dict[str, Any]:
        """The mapping that a project file holds."""
        unit = {} if self.unit is None else dict([self.unit])
        return {"source": source, "columns": self.kept, "rest": "drop", **unit, "models": list(self.models), "method": method}


def protects(model: Mapping[str, Any]) -> str | None:
    """The column that a model protects."""
    ((_, parameters),) = model.items()
    column = parameters.get("column")
    return None if column is None else str(column)
