"""A parameter's JSON Schema accepts what its own check accepts, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator as Validator

from case_loop import failures
from velado.appointments.planners.registry import PLANNERS
from velado.methods import METHODS
from velado.models import MODELS
from velado.operations import OPERATIONS
from velado.parameters import (
    FLAG,
    LARGEST,
    Choice,
    ChoiceByColumn,
    ColumnName,
    FileName,
    KeyPlace,
    Levels,
    Limit,
    Lists,
    Number,
    Parameter,
    Size,
    Span,
    Substitutes,
    Weights,
    Word,
    bytes_of,
    schema_of,
)
from velado.sentences import translations

PARAMETERS: list[Parameter] = [
    Number(""),
    Number("", low=2, integer=True),
    Number("", low=0, high=1),
    Number("", low=0, low_open=True, high=3),
    Number("", low=1, high=9, integer=True, optional=True),
    Number("", low=2, high=9, integer=True, word="auto"),
    Number("", low=2, integer=True, word="auto", optional=True),
    Limit(""),
    Choice("", FLAG),
    Choice("", (2, "e")),
    ChoiceByColumn("", ("mode", "mean")),
    ColumnName(""),
    ColumnName("", optional=True),
    Levels(""),
    Weights(""),
    Lists(""),
    Lists("", numbers=True),
    Word(""),
    FileName("", optional=True),
    Word("", characters=1),
    Word("", characters=2, optional=True),
    Span("", 30),
    Substitutes(""),
    KeyPlace(""),
    Size(""),
    Limit(""),
]
KINDS = [*MODELS.values(), *METHODS.values(), *OPERATIONS.values(), *PLANNERS.values()]

numbers = st.one_of(
    st.integers(-35, 35),
    st.integers(LARGEST - 1, LARGEST + 1),
    st.integers(-LARGEST - 1, -LARGEST + 1),
    st.integers(-30, 30).map(float),
    st.floats(-2, 12),
    st.sampled_from([0.0, -0.0, 1e-300, 1e300, float("inf"), -float("inf"), 10**400]),
)
words = st.one_of(
    st.sampled_from(["", "auto", "e", "mode", "mean", "env:A", "file:", "env:\0", "file:a\nb\n", "env:a:b", "ENV:A", "a"]),
    st.sampled_from(
        [
            "1GB",
            "0",
            "0.0k",
            "0.5",
            "1.5 MB\n",
            " 2 T ",
            "1GB\nx",
            "١GB",
            "1e9",
            "12345678901234567",
            "MB",
            "5KB",
            "3 records",
            "0 records\n",
            "1 record",
        ]
    ),
    st.text(max_size=3),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, words)
odd = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=2), inner, max_size=2), st.lists(numbers, max_size=3)
    ),
    max_leaves=4,
)


def backwards(parameter: Parameter, value: Any) -> bool:
    """The one thing that no JSON Schema can say: that the first of two numbers is the lower one."""
    return isinstance(parameter, Span) and isinstance(value, list) and len(value) == 2 and value[0] > value[1]


@pytest.mark.parametrize("parameter", PARAMETERS, ids=repr)
@given(value=odd)
@example(value=True)
@example(value=2.0)
@example(value={"a": [1.0, 2]})
@example(value={"a": 1.0, "b": 2})
@example(value={"a": "mode", "b": "median"})
@example(value=[0, 0])
@example(value=[-3.0, 3])
@example(value=[31, -31])
def test_the_schema_accepts_what_has_no_problem(parameter: Parameter, value: Any) -> None:
    accepted = Validator(parameter.schema()).is_valid(value)
    good = parameter.problem(value) is None
    assert accepted == good or (backwards(parameter, value) and accepted and not good)


@pytest.mark.lint
def test_every_kind_of_parameter_is_held_against_its_schema() -> None:
    declared = {type(p) for kind in KINDS for p in kind.parameters.values()}
    assert declared <= {type(p) for p in PARAMETERS}


@pytest.mark.lint
def test_a_declared_class_describes_itself() -> None:
    def check(kind: Any) -> None:
        schema = schema_of(kind)
        Validator.check_schema(schema)
        assert json.loads(json.dumps(schema)) == schema
        assert list(schema["properties"]) == list(kind.parameters)
        assert not Validator(schema).is_valid({"no-such-parameter": 1})
        for name, described in schema["properties"].items():
            assert described["description"] == kind.parameters[name].help
            assert described.get("x-expert", False) == kind.parameters[name].expert
            # What has a default may be left out, and the default is one of the values.
            assert ("default" in described) == (name not in schema["required"])
            if "default" in described:
                Validator(described).validate(described["default"])
            else:
                assert not described.get("x-expert"), "a form must show what has no default"

    assert failures(check, KINDS) == []


@pytest.mark.lint
def test_meanings_and_units_are_translated() -> None:
    def check(kind: Any, language: str) -> None:
        schema = schema_of(kind, language)
        for name, parameter in kind.parameters.items():
            described = schema["properties"][name]
            assert described["description"] == translations()[parameter.help][language]
            assert not parameter.unit or described["x-unit"] == translations()[parameter.unit][language]

    assert failures(check, [(kind, language) for kind in KINDS for language in ("es", "pt")]) == []


@pytest.mark.lint
def test_problems_are_sentences_in_every_language() -> None:
    for parameter in PARAMETERS:
        problem = parameter.problem(object())
        assert problem is not None
        assert len({problem.into(code) for code in ("en", "es", "pt")}) == 3, problem
    found = Number("", low=1, high=100_000_000, integer=True).problem(0)
    assert found == "must be a whole number from 1 to 100,000,000"
    assert found.into("es") == "debe ser un número entero de 1 a 100.000.000"


def test_amounts_of_memory() -> None:
    amounts = ["1GB", "1.5 MB", "0.5", 7, 7.0, "0", 0, -1, True, "much", None, 1.5]
    assert [bytes_of(a) for a in amounts] == [10**9, 1_500_000, 1, 7, 7, *[None] * 7]
