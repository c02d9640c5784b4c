"""Names of a package whose modules are loaded when a name of them is first used.

A command or a notebook that needs little starts at once; type checkers see the names as usual.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package; ``homes`` maps modules to names, a name to another one by ``public=inner``."""
    places = {}
    for home, listed in homes.items():
        for entry in listed.split():
            public, _, inner = entry.partition("=")
            places[public] = (home, inner or public)

    def get(name: str) -> Any:
        if name in places:
            home, inner = places[name]
            found = getattr(import_module(home), inner)
            setattr(sys.modules[package], name, found)
            return found
        if not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    def listed_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places})

    return get, listed_names
