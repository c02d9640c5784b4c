"""Results of jobs in one language: their sentences stand in them in all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from velado.i18n.language import LANGUAGES


def spoken(found: Any, language: str) -> Any:
    """A part of a result, each of its sentences in the language; ``reasons`` take the place of ``reason``."""
    if isinstance(found, Mapping):
        if set(found) == set(LANGUAGES):
            return found[language]
        said = {key: spoken(value, language) for key, value in found.items() if key != "reasons"}
        return said | ({"reason": spoken(found["reasons"], language)} if "reasons" in found else {})
    return [spoken(one, language) for one in found] if isinstance(found, (list, tuple)) else found
