"""Results of jobs in one language: their sentences stand in them in all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from velado.i18n.language import LANGUAGES


def translate_result(found: Any, language: str) -> Any:
    """A part of a result, each of its sentences in the language; ``reasons`` take the place of ``reason``."""
    if isinstance(found, Mapping):
        if set(found) == set(LANGUAGES):
            return found[language]
        said = {key: translate_result(value, language) for key, value in found.items() if key != "reasons"}
        return said | ({"reason": translate_result(found["reasons"], language)} if "reasons" in found else {})
    return [translate_result(one, language) for one in found] if isinstance(found, (list, tuple)) else found
