"""Options of commands that come from declarations: none is forgotten, and each says what its declaration says."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from functools import wraps
from typing import Annotated, Any

import typer

from velado import InputError
from velado.cli.terminal import names
from velado.parameters import FLAG, Choice, Limit, Lists, Number, Parameter
from velado.sentences import Sentence, join_sentences

Given = dict[str, Any]
"""What was given for declared parameters, by name."""


class Help(Sentence):
    """The help of an option: a sentence that begins with a capital in every language."""

    def __new__(cls, template: str, /, **places: Any) -> Help:  # noqa: D102
        plain = Sentence(template, **places)
        made = str.__new__(cls, _capital(plain))
        made.template, made.places = plain.template, plain.places
        return made

    def into(self, code: str) -> str:
        """The help in a language."""
        return _capital(super().into(code))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def takes(
    into: str, *kinds: Any, skip: Iterable[str] = (), unset: Iterable[str] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command an option for every declared parameter of some classes, in the place of its parameter ``into``.

    The command gets what was given as one mapping. ``unset`` parameters have no default of their own: what is not given is
    not in the mapping; None: all of them. A parameter that several classes have is one option.
    """
    declared: dict[str, list[Any]] = {}
    for kind in kinds:
        for name in kind.parameters:
            if name not in skip:
                declared.setdefault(name, []).append(kind)
    free = set(declared) if unset is None else set(unset)
    of_several = len(kinds) > 1
    group = [_option(name, found, name in free, of_several) for name, found in declared.items()]

    def gather(chosen: Mapping[str, Any]) -> Given:
        return {
            name: _read(f"--{name.replace('_', '-')}", declared[name][0].parameters[name], value)
            for name, value in chosen.items()
            if value is not None
        }

    return lambda command: in_place_of(into, group, gather, command)


def in_place_of(
    name: str, group: Iterable[inspect.Parameter], make: Callable[[Mapping[str, Any]], Any], command: Callable[..., Any]
) -> Callable[..., Any]:
    """A command with several options in the place of one of its parameters, which is made of them."""
    every, options = inspect.signature(command, eval_str=True), list(group)

    @wraps(command)
    def run(**given: Any) -> Any:
        chosen = {p.name: given.pop(p.name) for p in options}
        return command(**{name: make(chosen)}, **given)

    shown = [x for p in every.parameters.values() for x in (options if p.name == name else [p])]
    # By keyword only: then what has a default may stand before what has none.
    listed = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in shown]
    run.__dict__["__signature__"] = every.replace(parameters=listed)
    run.__annotations__ = {p.name: p.annotation for p in listed}
    return run


def _option(name: str, kinds: list[Any], free: bool, of_several: bool) -> inspect.Parameter:
    parameter = kinds[0].parameters[name]
    usual = {f.name: f.default for f in fields(kinds[0])}[name]
    default = None if free or usual is MISSING or isinstance(parameter, Lists) else usual
    kind: Any = _type(parameter)
    meaning = _help(parameter, join_sentences(", ", [k.name for k in kinds]) if of_several else "")
    written = typer.Option(f"--{name.replace('_', '-')}", help=meaning)
    option = Annotated[kind if default is not None else kind | None, written]  # type: ignore[valid-type]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option)


def _type(parameter: Parameter) -> Any:
    """What the command line reads for a parameter; ranges are checked by the declaration itself."""
    if isinstance(parameter, Lists):
        return list[str]
    if isinstance(parameter, Choice):
        return bool if parameter.options == FLAG else str
    if isinstance(parameter, Number) and parameter.word is None:
        return int if parameter.integer else float
    return str


def _help(parameter: Parameter, methods: str = "") -> Help:
    """What the parameter means, for which methods, and what may be given."""
    meaning: Sentence = Sentence(parameter.help)
    if isinstance(parameter, Lists):
        return Help("COLUMN=VALUE,VALUE,…: {meaning}; may be repeated.", meaning=meaning)
    if methods:
        meaning = Sentence("{meaning} ({methods})", meaning=meaning, methods=methods)
    if isinstance(parameter, Number):
        return Help("{meaning}: {wanted}.", meaning=meaning, wanted=parameter.describe_range())
    if isinstance(parameter, Choice) and parameter.options != FLAG:
        return Help("{meaning}: {wanted}.", meaning=meaning, wanted=", ".join(map(str, parameter.options)))
    return Help("{meaning}.", meaning=meaning)


def _read(option: str, parameter: Parameter, value: Any) -> Any:
    """A value of the command line as a project file would have it."""
    if isinstance(parameter, Lists):
        lists = _lists(option, value)
        return {c: _numbers(option, c, v) for c, v in lists.items()} if parameter.numbers else lists
    if isinstance(value, str) and isinstance(parameter, (Number, Limit)):
        try:
            number = float(value)
        except ValueError:
            return value
        return int(number) if number.is_integer() else number
    return value


def _lists(option: str, given: list[str]) -> dict[str, list[str]]:
    found = {}
    for one in given:
        column, sign, values = one.partition("=")
        if not sign or not names(values):
            raise InputError("bad-option", Sentence("{option} takes COLUMN=VALUE,VALUE,…, got {got!r}", option=option, got=one))
        if column in found:
            raise InputError("bad-option", Sentence("{option} names the column twice", option=option), column=column)
        found[column] = names(values)
    return found


def _numbers(option: str, column: str, texts: list[str]) -> list[float]:
    try:
        return [float(text) for text in texts]
    except ValueError:
        raise InputError("bad-option", Sentence("{option} takes numbers", option=option), column=column, values=texts) from None
