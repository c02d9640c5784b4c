"""Methods: from a frequency table and models to a recoding."""

from collections.abc import Mapping
from typing import Any

from velado.errors import InputError, suggest
from velado.methods.base import Found, Method, Search, kernels_ready
from velado.methods.datafly import Datafly
from velado.methods.fixed import Fixed
from velado.methods.fuzzy import Fuzzy
from velado.methods.incognito import Incognito
from velado.methods.lattice import Lattice
from velado.methods.local import Local
from velado.methods.mondrian import Mondrian
from velado.methods.objectives import OBJECTIVES
from velado.methods.samarati import Samarati
from velado.parameters import build
from velado.sentences import Sentence

METHODS: dict[str, type[Method]] = {m.name: m for m in (Lattice, Local, Mondrian, Samarati, Datafly, Incognito, Fuzzy, Fixed)}


def method_from(name: str, arguments: Mapping[str, Any] | None) -> Method:
    """A method from its name and parameters as in a project file.

    >>> method_from("lattice", {"suppression": 0.05}).suppression
    0.05
    """
    if name not in METHODS:
        raise InputError("unknown-method", Sentence("there is no method '{name}'", name=name), hint=suggest(name, METHODS))
    return build(METHODS[name], arguments, Sentence("the method {name}", name=name))


__all__ = [
    "METHODS",
    "OBJECTIVES",
    "Datafly",
    "Fixed",
    "Found",
    "Fuzzy",
    "Incognito",
    "Lattice",
    "Local",
    "Method",
    "Mondrian",
    "Samarati",
    "Search",
    "kernels_ready",
    "method_from",
]
