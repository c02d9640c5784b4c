"""What describes itself: everything that can be chosen says what it is, what it means and how it is written.

A model, method, operation, hierarchy builder, attack, measure, condition, objective or planner has a `Declaration`: a
class as its attribute ``declaration``, a function by `declare`, an entry of a registry in itself. Forms, the catalog,
reports, the command line and the reference pages read it; none of them knows a thing by its name. Texts are
English here; their translations stand in ``i18n/sentences/catalog.yaml``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from velado.parameters import Parameter

SIGNS = {1: "≥", -1: "≤", 0: ""}
Kind = TypeVar("Kind", bound=Callable[..., Any])


@dataclass(frozen=True)
class Declaration:
    """What a thing is called, what it means in one sentence, and an example as a project file writes it.

    ``reached`` is what the figure of a model is called. ``more`` is what only its kind has to say: JSON-ready, names and
    truth values, no sentences.
    """

    title: str
    meaning: str
    example: Any = None
    reached: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Strength:
    """A parameter that decides how strong a model is: larger is safer (``stronger`` = 1), or smaller (−1).

    ``sign`` is how reports write the requirement: k ≥ 5, t ≤ 0.2, c < 3.
    """

    symbol: str
    stronger: int
    sign: str = ""

    @property
    def relation(self) -> str:
        """The sign between the symbol and what is required."""
        return self.sign or SIGNS[self.stronger]


@dataclass(frozen=True)
class Figure:
    """A figure by which things are compared: ``better`` = 1 if larger is better, −1 if smaller is, 0 if neither.

    ``low`` and ``high`` are its range, None where it has no end; ``unit``: records, classes, or none; ``at``: where results
    have it.
    """

    title: str
    meaning: str
    better: int
    low: float | None = 0.0
    high: float | None = None
    unit: str = ""
    at: str = ""

    def as_dict(self) -> dict[str, Any]:
        """What the catalog says beside title and meaning."""
        return {"better": BETTER[self.better], "range": [self.low, self.high], "unit": self.unit, "at": self.at}

    @property
    def declaration(self) -> Declaration:
        """The figure as any thing that is declared."""
        return Declaration(self.title, self.meaning, more=self.as_dict())


BETTER = {1: "larger", -1: "smaller", 0: None}


def declare(**texts: Any) -> Callable[[Kind], Kind]:
    """Declare a function; the arguments are those of `Declaration`, and ``parameters`` if it has any.

    >>> @declare(title="nothing", meaning="Nothing happens.")
    ... def nothing() -> None: ...
    >>> declaration_of(nothing).title
    'nothing'
    """
    parameters: Mapping[str, Parameter] = texts.pop("parameters", {})

    def mark(thing: Kind) -> Kind:
        vars(thing).update(declaration=Declaration(**texts), parameters=parameters)
        return thing

    return mark


def declaration_of(thing: Any) -> Declaration:
    """The declaration of a class, function or entry of a registry, which may be a declaration itself."""
    found = thing if isinstance(thing, Declaration) else thing.declaration
    assert isinstance(found, Declaration)
    return found
