"""Options that come from declarations: none is forgotten, and what is given arrives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from velado import KAnonymity
from velado.appointments.planners.registry import PLANNERS
from velado.appointments.tables.generate import PeopleLike, SlotsLike
from velado.cli import commands, language
from velado.cli.options import Help
from velado.methods import Fuzzy
from velado.models import MODELS, QAnonymity
from velado.parameters import Number
from velado.questions.compare import grid_parameters
from velado.sentences import Sentence


def options(*path: str) -> dict[str, Any]:
    language.choose([], {})
    command = commands.load(path[0])
    for name in path[1:]:
        command = command.commands[name]
    return {option: p for p in command.params for option in (*p.opts, *p.secondary_opts)}


DECLARED = [
    (("fuzzy",), [Fuzzy, KAnonymity, QAnonymity]),
    (("appointments", "assign"), list(PLANNERS.values())),
    (("appointments", "compare"), list(PLANNERS.values())),
    (("appointments", "generate"), [PeopleLike, SlotsLike]),
]


@pytest.mark.parametrize(("path", "kinds"), DECLARED, ids=lambda x: " ".join(x) if isinstance(x, tuple) else "")
def test_every_declared_parameter_has_an_option(path: tuple[str, ...], kinds: list[Any]) -> None:
    there = options(*path)
    for kind in kinds:
        assert [n for n in kind.parameters if f"--{n.replace('_', '-')}" not in there] == [], kind.name


@pytest.mark.parametrize("command", ["compare", "balance"])
def test_whatever_can_be_compared_has_an_option(command: str) -> None:
    there = options(command)
    assert [name for name in grid_parameters() if f"--{name}" not in there] == []
    # What makes a model stronger is a number without a default: each of those can be varied.
    strong = {
        name
        for model in MODELS.values()
        for name, p in model.parameters.items()
        if isinstance(p, Number) and name not in ("possibility",)
    }
    assert [name for name in sorted(strong) if f"--{name}" not in there] == []


def test_help_says_meaning_and_range() -> None:
    help = options("fuzzy")["--fuzzifier"].help
    assert help == "How much the learned sets overlap: a number above 1 and up to 100."
    assert options("appointments", "assign")["--trials"].help.startswith("How often a few slots are given out anew (best-fit): ")
    assert Help("{meaning}.", meaning=Sentence("number of sets")).into("es") == "Número de conjuntos."


def test_what_is_given_arrives(tmp_path: Path, main: Command) -> None:
    rows = "\n".join(f"{20 + i * 7 % 50},{1000 + i * 13 % 400}" for i in range(40))
    (tmp_path / "people.csv").write_text(f"age,pay\n{rows}\n")
    plain = main("fuzzy", "people.csv", "--qi", "age,pay", "--sets", "3", "--json").json
    crisp = main("fuzzy", "people.csv", "--qi", "age,pay", "--sets", "3", "--fuzzifier", "1.2", "--json").json
    assert plain != crisp
    assert main("fuzzy", "people.csv", "--qi", "age", "--restarts", "1", "--json").code == 0
    named = main("fuzzy", "people.csv", "--qi", "age", "--breakpoints", "age=20,40,60", "--names", "age=a,b,c", "--json")
    assert named.code == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--fuzzifier", "1"), "the 'fuzzifier' parameter of fuzzy must be a number above 1 and up to 100, got 1"),
        (("--restarts", "0"), "the 'restarts' parameter of fuzzy must be a whole number from 1 to 1,000, got 0"),
        (("--sets", "many"), "the 'sets' parameter of fuzzy must be 'auto' or a whole number from 2 to 1,000, got 'many'"),
        (("--breakpoints", "age"), "--breakpoints takes COLUMN=VALUE,VALUE,…"),
        (("--breakpoints", "age=a,b"), "--breakpoints takes numbers"),
    ],
)
def test_the_declaration_refuses_what_it_does_not_allow(given: tuple[str, ...], words: str, tmp_path: Path, main: Command) -> None:
    (tmp_path / "people.csv").write_text("age\n1\n2\n3\n")
    ended = main("fuzzy", "people.csv", "--qi", "age", *given)
    assert ended.code == 2
    assert words in ended.err


def test_comparing_by_parameters_that_had_no_option(write_project, main: Command) -> None:
    write_project(
        models=[{"beta-likeness": {"beta": 4, "column": "diagnosis"}}, {"alpha-k": {"alpha": 0.9, "k": 2, "column": "diagnosis"}}]
    )
    found = main("compare", "project.yaml", "--beta", "4,8", "--alpha", "0.8", "--json").json
    assert [s["parameters"] for s in found["settings"]] == [{"beta": 4, "alpha": 0.8}, {"beta": 8, "alpha": 0.8}]
