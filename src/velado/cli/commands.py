"""All commands by name; the module of a command is loaded when it is called, so that the others cost no time."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from velado.cli.help import App, Command, Group

COMMANDS = {
    "run": ("run", "Run a project: find the best recoding, write the release, verify it."),
    "validate": ("validate", "Say all that is wrong with a project file, its table included; nothing is written."),
    "apply": ("apply", "Recode new rows as an earlier release was, and check the models on old and new rows together."),
    "check": ("check", "Say which privacy models a table satisfies as it is, and to which degree."),
    "estimate": (
        "estimate",
        "Say beforehand how many distinct rows a project has, what memory they need, and how it will be solved.",
    ),
    "evaluate": ("evaluate", "Measure what a release lost and what risk is left, whoever made it: any original and any release."),
    "compare": (
        "compare",
        "Try many settings on one reading of the table: loss, risk, suppressed records and class sizes of each.",
    ),
    "balance": ("balance", "Find the strongest setting that still keeps the utility asked for; default k = 2 to 20."),
    "explore": (
        "explore",
        "Show every node of the generalization lattice: what a release at these levels would lose, suppress and achieve.",
    ),
    "attack": ("attack", "Try what an adversary would try with a release, and say what would have prevented it."),
    "catalog": ("catalog", "Show what there is to choose from: models, methods, operations, and what each means."),
    "report": (
        "report",
        "Write the report of a release as HTML, PDF and XLSX; values of k, ℓ, t add a comparison with other settings.",
    ),
    "fuzzy": ("fuzzy", "Show the fuzzy sets of numeric columns and what they achieve; with --output, release their labels."),
    "tables": ("tables", "List the tables and views of a database: columns, types, about how many rows."),
    "inspect": ("inspect", "Show types, missing values, who is singled out, and suggested roles."),
    "init": ("init", "Write a commented project file from what the table looks like."),
    "schema": ("schema", "Print the JSON Schema of project files, for editors and other programs."),
    "hierarchy": ("hierarchy", "Export the hierarchy of a column as a file (leaf;level 1;…;*), or look at it."),
    "key": ("key", "Make a random key for encrypt, pseudonymize and shift."),
    "decrypt": ("decrypt", "Restore encrypted columns, with the key."),
    "demo": ("demo", "Anonymize a built-in sample: 5,000 synthetic hospital patients."),
    "study": ("study", "Reproduce a published experiment: published and obtained figures side by side."),
    "import": ("import_", "Convert the project file of another tool."),
    "appointments": ("appointments", "Give out appointments that keep people anonymous."),
    "status": ("status", "Say how far jobs of a service have come."),
    "studio": ("studio", "Velado in the browser and as a service: for one person at once, or for a team."),
}
"""Module and first sentence of every command, in the order of the help."""


LANGUAGE = Annotated[
    str | None,
    typer.Option(
        help="Language of everything that is said and drawn; else that of VELADO_LANGUAGE, or of the system.", metavar="en|es|pt"
    ),
]


class _Later(Command):
    """A command that so far only has its name and what the list of commands shows of it."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, help=COMMANDS[name][1])

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself."""
        assert self.name is not None
        return load(self.name).make_context(info_name, args, parent, **extra)


class Commands(Group):
    """The group of all commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": {name: _Later(name) for name in COMMANDS}})


def load(name: str) -> Any:
    """The command with its options."""
    module = import_module(f"velado.cli.{COMMANDS[name][0]}")
    if hasattr(module, "app"):
        command: Any = typer.main.get_group(module.app)
    else:
        command = _alone(name, module.command)
    command.name = name
    return _in_all_languages(command)


def _alone(name: str, function: Callable[..., Any]) -> Any:
    alone = App()
    alone.command(name)(function)
    return typer.main.get_command(alone)


def _language(language: LANGUAGE = None) -> None: ...


def _in_all_languages(command: Any) -> Any:
    """The command with --language, which `velado.cli.language` has read already; a group has it in each of its commands."""
    option = _alone("language", _language).params[0]
    option.expose_value = False
    command.params.append(option)
    for part in getattr(command, "commands", {}).values():
        _in_all_languages(part)
    return command
