"""The options of ``compare`` and ``balance`` that say which parameters are tried with which values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from velado.cli.options import Help, in_place_of
from velado.methods import METHODS
from velado.models import MODELS
from velado.parameters import Number, Parameter, Parametrized
from velado.questions.compare import grid_parameters
from velado.questions.grid import grid_of
from velado.sentences import Sentence

ALL = grid_parameters()


def tries(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command an option for each parameter of a comparison, in the place of its parameter ``grid``."""
    return lambda command: in_place_of("grid", map(_option, names), _grid, command)


def _option(name: str) -> inspect.Parameter:
    option = Annotated[str | None, typer.Option(f"--{name}", help=_help(name))]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)


def _help(name: str) -> Help:
    """What the declarations say of the parameter, and how its values are written."""
    if name == "method":
        return Help("Methods to try, separated by commas: {methods}.", methods=", ".join(METHODS))
    if name == "suppression":
        return Help("Suppression limits: shares of the records, or 0..3 records.")
    having: list[type[Parametrized]] = [kind for kind in MODELS.values() if name in kind.parameters]
    return Help(
        "Values of {name} to try, such as {example}: {meaning} ({kinds}).",
        name=name,
        example=_example(having[0].parameters[name]),
        meaning=Sentence(having[0].parameters[name].help),
        kinds=", ".join(kind.name for kind in having),
    )


def _example(parameter: Parameter) -> str:
    return Sentence("2..25 or 2,5,10") if isinstance(parameter, Number) and parameter.integer else "0.1..0.5:0.1"


def _grid(options: Mapping[str, str | None]) -> dict[str, list[Any]]:
    """The grid from the options that were given."""
    return grid_of({name: text for name, text in options.items() if text is not None}, "--")
