"""Commands that explain themselves in the user's language: usage, options, panels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.utils import get_params_from_function

from velado.cli.language import current, translate_plain
from velado.sentences import Sentence, into

PANELS = {
    "DEFAULT_STRING": Sentence("[default: {}]"),
    "REQUIRED_LONG_STRING": Sentence("[required]"),
    "ARGUMENTS_PANEL_TITLE": Sentence("Arguments"),
    "OPTIONS_PANEL_TITLE": Sentence("Options"),
    "COMMANDS_PANEL_TITLE": Sentence("Commands"),
}
"""The words of Typer's help, by their names in `typer.rich_utils`."""
KINDS = {"str": Sentence("<text>"), "int": Sentence("<integer>"), "float": Sentence("<number>"), "path": Sentence("<path>")}
"""What an option takes; a switch takes nothing."""


class _Speaks:
    """A command of Typer in the user's language. It is made after the language was chosen; English has its texts."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        if current().code != "en":
            _translate(self)
        for parameter in self.params:  # type: ignore[attr-defined]
            _show_kind(parameter)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        pieces = self.collect_usage_pieces(ctx)  # type: ignore[attr-defined]
        formatter.write_usage(ctx.command_path, " ".join(pieces), prefix=translate_plain("Usage: "))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from typer import rich_utils

        for name, text in PANELS.items():
            setattr(rich_utils, name, text.into(current().code))
        super().format_help(ctx, formatter)  # type: ignore[misc]

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.help = translate_plain("Show this message and exit.")
            _show_kind(option)
        return option


class Command(_Speaks, TyperCommand):
    """A command."""


class Group(_Speaks, TyperGroup):
    """A command with commands of its own."""


class App(typer.Typer):
    """An application of such commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{"cls": Group, "add_completion": False, **attributes})

    def command(  # type: ignore[override]
        self, name: str | None = None, **attributes: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Make a command of a function."""
        return super().command(name, **{"cls": Command, **attributes})


def _translate(command: Any) -> None:
    if command.help:
        lines = " ".join(command.help.split())
        command.help = translate_plain(lines)
    command.options_metavar = translate_plain("[OPTIONS]")
    if hasattr(command, "subcommand_metavar"):
        command.subcommand_metavar = translate_plain("COMMAND [ARGS]...")
    helps = _helps(command)
    for parameter in command.params:
        parameter.help = into(helps.get(parameter.name) or Sentence(parameter.help), current().code)
        if parameter.param_type_name == "argument":
            parameter.metavar = translate_plain(parameter.metavar or parameter.name)


def _helps(command: Any) -> dict[str, str]:
    """What the function of a command says about its parameters: Typer keeps the English text of it only."""
    if command.callback is None:
        return {}
    declared = get_params_from_function(command.callback)
    helps = {name: getattr(parameter.default, "help", None) for name, parameter in declared.items()}
    return {name: Sentence(text) for name, text in helps.items() if text}


def _show_kind(parameter: Any) -> None:
    """Say what a parameter takes in words; a switch takes nothing, a list may be given several times."""
    kind = parameter.bare_type().lower()
    inner = kind.removeprefix("list[").removesuffix("]")
    if parameter.metavar is None or parameter.param_type_name == "argument":
        told = "" if inner == "bool" else into(KINDS.get(inner, f"<{inner}>"), current().code)
        parameter.display_type = lambda ctx: told + ("..." if inner != kind else "")
