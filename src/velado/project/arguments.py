"""What people hand over in Python, in any of the forms that a project file knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from velado.errors import InputError, short_repr, suggest
from velado.methods import Lattice, Method, method_from
from velado.models import PrivacyModel, model_from
from velado.project.document import COLUMN_KEYS
from velado.schema import Column
from velado.sentences import Sentence

Columns = Mapping[str, Any] | Iterable[Column] | Column
"""Columns by name (a role, or options as in a project file), or a list of `Column`s."""
Models = PrivacyModel | Mapping[str, Any] | Iterable[PrivacyModel | Mapping[str, Any]]
"""A model or several: objects, or mappings as in a project file."""
AnyMethod = Method | str | Mapping[str, Any]
"""A method: an object, its name, or a mapping as in a project file."""


def columns_of(given: Columns) -> tuple[Column, ...]:
    """Columns from a list, or from a mapping of names to roles or options.

    >>> columns_of({"age": "quasi-identifier", "ill": {"role": "sensitive", "variants": "distinct"}})[0].role
    'quasi-identifier'
    """
    if isinstance(given, Column):
        return (given,)
    if isinstance(given, Mapping):
        return tuple(_column(str(name), spec) for name, spec in given.items())
    columns = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    for column in columns:
        if not isinstance(column, Column):
            raise InputError(
                "bad-argument",
                Sentence("'columns' takes Columns, or a mapping of names to roles, got {given}", given=short_repr(column)),
                hint="columns={'age': 'quasi-identifier', 'disease': 'sensitive'}",
            )
    return columns


def models_of(given: Models) -> tuple[PrivacyModel, ...]:
    """Models from one or several objects or mappings.

    >>> models_of({"k-anonymity": {"k": 5}})
    (KAnonymity(k=5),)
    """
    if isinstance(given, PrivacyModel):
        return (given,)
    if isinstance(given, Mapping):
        return tuple(model_from(str(name), arguments) for name, arguments in given.items())
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(
            "bad-argument",
            Sentence("'models' takes models, or mappings of names to parameters, got {given}", given=short_repr(given)),
            hint="models={'k-anonymity': {'k': 5}}",
        )
    return tuple(model for one in given for model in models_of(one))


def method_of(given: AnyMethod | None) -> Method:
    """A method from an object, its name, or a mapping; the lattice if none is given.

    >>> method_of("mondrian").name
    'mondrian'
    """
    if given is None:
        return Lattice()
    if isinstance(given, Method):
        return given
    if isinstance(given, str):
        return method_from(given, None)
    if isinstance(given, Mapping) and len(given) == 1:
        ((name, arguments),) = given.items()
        return method_from(str(name), arguments)
    raise InputError(
        "bad-argument",
        Sentence("'method' takes a method, its name, or a mapping of its name to parameters, got {given}", given=short_repr(given)),
        hint="method={'mondrian': {'represent': 'mean'}}",
    )


def names_of(given: str | Sequence[str]) -> list[str]:
    """Names of columns, from one or several.

    >>> names_of("age"), names_of(["age", "sex"])
    (['age'], ['age', 'sex'])
    """
    return [given] if isinstance(given, str) else list(given)


def _column(name: str, spec: Any) -> Column:
    if isinstance(spec, Column):
        return spec
    options = {"role": spec} if isinstance(spec, str) else spec
    if not isinstance(options, Mapping):
        raise InputError(
            "bad-argument",
            Sentence("a column takes its role, or a mapping of options, got {given}", given=short_repr(spec)),
            column=name,
            hint="'age': {'role': 'quasi-identifier', 'hierarchy': {'intervals': [5, 10]}}",
        )
    for key in options:
        if key not in COLUMN_KEYS:
            raise InputError(
                "unknown-key",
                Sentence("the column '{column}' has no key '{key}'", column=name, key=str(key)),
                hint=suggest(str(key), COLUMN_KEYS),
            )
    return Column(name, **options)
