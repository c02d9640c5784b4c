"""Errors without paths of the server: what lies in the folder of a job is called by its name alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar

from velado.errors import VeladoError
from velado.sentences import Sentence

Error = TypeVar("Error", bound=VeladoError)


def discreet(error: Error, folder: Path) -> Error:
    """The error, and those that it carries, with names in the place of paths below a folder."""
    every: list[VeladoError] = [error, *error.others]
    for one in every:
        one.message, one.hint = _hide_paths(one.message, folder), _hide_paths(one.hint, folder)
        one.fields = {name: _hide_paths(value, folder) for name, value in one.fields.items()}
        one.file = None if one.file is None else Path(one.file).name
        one.args = (str(one),)
    return error


def _hide_paths(value: Any, folder: Path) -> Any:
    if isinstance(value, Sentence) and value.places:
        return Sentence(value.template, **{name: _hide_paths(inner, folder) for name, inner in value.places.items()})
    if isinstance(value, Path):
        value = str(value)
    if isinstance(value, str):
        found = _without(str(value), folder)
        return value if found == value else found
    if isinstance(value, (list, tuple)):
        return [_hide_paths(inner, folder) for inner in value]
    return value


def _without(text: str, folder: Path) -> str:
    # The folder itself, and all above it that is ours: uploads lie beside.
    for place in dict.fromkeys((folder, folder.resolve(), folder.parent, folder.parent.parent)):
        if len(place.parts) > 2:
            text = re.sub(re.escape(str(place)) + r"(/[^\s:'\"]*/|/|(?=\W|$))", "", text)
    return text.replace("inputs/", "")
