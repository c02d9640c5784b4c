"""Wrong usage of the command line, told in the user's language."""

from __future__ import annotations

import re
import sys
from typing import Any

from velado.cli.language import current, translate_plain
from velado.errors import redact
from velado.sentences import PLACE, Sentence

PROBLEMS = (
    Sentence("Missing argument {name}."),
    Sentence("Missing option {name}."),
    Sentence("Missing command."),
    Sentence("Invalid value for {name}: {why}"),
    Sentence("Invalid value: {why}"),
    Sentence("No such option: {name} (Possible options: {names})"),
    Sentence("No such option: {name}"),
    Sentence("No such command {name}. Did you mean {names}?"),
    Sentence("No such command {name}."),
    Sentence("Option {name} requires an argument."),
    Sentence("Option {name} does not take a value."),
    Sentence("Got unexpected extra argument(s) ({names})"),
    Sentence("Input should be a valid integer, unable to parse string as an integer"),
    Sentence("Input should be a valid number, unable to parse string as a number"),
    Sentence("Input should be a valid integer, got a number with a fractional part"),
    Sentence("Unable to parse input string as an integer, exceeded maximum size"),
    Sentence("Input should be greater than or equal to {limit}"),
    Sentence("Input should be less than or equal to {limit}"),
)
"""What the argument parser says, in English only; a text that is none of these stays as it is."""


def problem(text: str) -> Sentence:
    """What the argument parser said, as a sentence.

    >>> problem("Missing option '--qi'.").into("es")
    "Falta la opción '--qi'."
    """
    for known in PROBLEMS:
        found = re.fullmatch(_pattern(known), text, re.DOTALL)
        if found:
            places = {name: problem(part) if name == "why" else part for name, part in found.groupdict().items()}
            return Sentence(str(known), **places)
    # Braces in it mean braces.
    return Sentence("{text}", text=text)


def _pattern(template: str) -> str:
    """A template as a pattern: its places fit any text."""
    places = [place[1:-1] for place in PLACE.findall(template)]
    parts = [re.escape(part) for part in PLACE.split(template)]
    named = [f"(?P<{place}>.+)" for place in places]
    return "".join(part + place for part, place in zip(parts, [*named, ""], strict=True))


def translate_error(error: Any) -> str:
    """A usage error in the user's language."""
    return redact(problem(error.format_message()).into(current().code))


def show(error: Any) -> None:
    """Print a usage error as the argument parser does: how to use the command, where its help is, what is wrong."""
    context = getattr(error, "ctx", None)
    text = translate_error(error)
    if not text:
        # The help was shown instead.
        print(file=sys.stderr)
        return
    if context is not None:
        print(context.get_usage(), file=sys.stderr)
        print(translate_plain("Try '{command} --help' for help.", command=context.command_path), file=sys.stderr)
        print(file=sys.stderr)
    print(translate_plain("Error: {message}", message=text), file=sys.stderr)
