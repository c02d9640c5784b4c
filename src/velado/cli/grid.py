"""The options of ``compare`` and ``balance`` that say which parameters are tried with which values."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from velado import InputError
from velado.cli.options import Help, in_place_of
from velado.methods import METHODS
from velado.models import MODELS
from velado.parameters import Number, Parameter, Parametrized
from velado.questions.compare import grid_parameters
from velado.sentences import Sentence

ALL = grid_parameters()
MOST_VALUES = 10_000


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
        name=name, example=_example(having[0].parameters[name]), meaning=Sentence(having[0].parameters[name].help),
        kinds=", ".join(kind.name for kind in having),
    )  # fmt: skip


def _example(parameter: Parameter) -> str:
    return Sentence("2..25 or 2,5,10") if isinstance(parameter, Number) and parameter.integer else "0.1..0.5:0.1"


def _grid(options: Mapping[str, str | None]) -> dict[str, list[Any]]:
    """The grid from the options that were given."""
    found: dict[str, list[Any]] = {}
    for name, text in options.items():
        if text is not None:
            found[name] = (
                _words(text) if name == "method" else limits(text) if name == "suppression" else values(name, text)
            )
    return found


def limits(text: str) -> list[Any]:
    """Suppression limits: shares, or numbers of records, each a value or a range.

    >>> limits("0,0.05,1..2 records")
    [0, 0.05, '1 record', '2 records']
    """
    found: list[Any] = []
    for part in _words(text):
        numbers = re.sub(r"\s+records?$", "", part)
        counted = values("suppression", numbers)
        found += counted if numbers == part else [f"{n} record{'s' * (n != 1)}" for n in counted]
    if not found:
        raise _bad("suppression", text)
    return found


def values(name: str, text: str) -> list[float]:
    """Numbers from a list of values and ranges ``low..high`` or ``low..high:step``.

    >>> values("k", "2..4,10"), values("t", "0.1..0.3:0.1")
    ([2, 3, 4, 10], [0.1, 0.2, 0.3])
    """
    found: list[float] = []
    for part in _words(text):
        low, dots, rest = part.partition("..")
        high, colon, step = rest.partition(":")
        numbers = [_number(name, text, x) for x in (low, *([high] if dots else []), *([step] if colon else []))]
        if not dots:
            found += numbers
            continue
        by = numbers[2] if colon else 1
        if by <= 0 or numbers[1] < numbers[0] or (numbers[1] - numbers[0]) / by > MOST_VALUES:
            raise _bad(name, text)
        count = math.floor((numbers[1] - numbers[0]) / by + 1e-9)
        found += [_tidy(numbers[0] + i * by) for i in range(count + 1)]
    if not found:
        raise _bad(name, text)
    return list(dict.fromkeys(found))


def _words(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _number(name: str, text: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise _bad(name, text) from None
    if not math.isfinite(value):
        raise _bad(name, text)
    return _tidy(value)


def _tidy(value: float) -> float:
    rounded = round(value, 10)
    return int(rounded) if rounded == int(rounded) else rounded


def _bad(name: str, text: str) -> InputError:
    return InputError(
        "bad-option",
        Sentence("{option} takes values and ascending ranges, got {got!r}", option=f"--{name}", got=text),
        hint="For example 2..25, 2,5,10 or 0.1..0.5:0.1.",
    )
