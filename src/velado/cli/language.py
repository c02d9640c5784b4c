"""The language of a command: ``--language``, ``VELADO_LANGUAGE``, or that of the system."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from velado.i18n import LANGUAGES, Language, language
from velado.sentences import Sentence

OPTION = "--language"
VARIABLE = "VELADO_LANGUAGE"
LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")
_chosen: Language | None = None


def current() -> Language:
    """The language of this command."""
    return Language("en") if _chosen is None else _chosen


def translate_plain(sentence: str, /, **places: Any) -> str:
    """A sentence in the language of this command; for texts with markup there is `velado.cli.terminal.translate`."""
    return Sentence(sentence, **places).into(current().code)


def choose(arguments: Sequence[str] | None = None, environment: Mapping[str, str] | None = None) -> Language:
    """Find out the language before anything is said, help and usage errors included."""
    global _chosen
    arguments = sys.argv[1:] if arguments is None else arguments
    environment = os.environ if environment is None else environment
    # In this one it is told that the language that was asked for does not exist.
    _chosen = Language(_of_system(environment))
    wanted = _option(arguments) or environment.get(VARIABLE)
    if wanted:
        _chosen = language(wanted)
    return _chosen


def _option(arguments: Sequence[str]) -> str | None:
    """The last --language of the command line."""
    found = None
    for i, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == OPTION and i + 1 < len(arguments):
            found = arguments[i + 1]
        elif argument.startswith(OPTION + "="):
            found = argument.removeprefix(OPTION + "=")
    return found


def _of_system(environment: Mapping[str, str]) -> str:
    """The language of the first locale that is set; English where it is none of ours."""
    locale = next((environment[name] for name in LOCALES if environment.get(name)), "")
    code = locale.partition("_")[0].partition(".")[0].lower()
    return code if code in LANGUAGES else "en"
