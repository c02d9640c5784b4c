"""Operations on single columns: suppress, substitute, encrypt, pseudonymize, mask, code, round, shift, add noise."""

from collections.abc import Mapping
from typing import Any

from velado.errors import InputError, Problems, suggest
from velado.operations.base import Given, Operation
from velado.operations.coding import Bottom, Limits, Top
from velado.operations.encryption import Encrypt, decrypt_tokens
from velado.operations.keys import SECRETS, create_key, key_in_project, read_key
from velado.operations.masking import Mask
from velado.operations.noise import AddNoise
from velado.operations.pseudonyms import Pseudonymize
from velado.operations.rounding import Round
from velado.operations.shifting import Shift
from velado.operations.substitution import Substitute
from velado.operations.suppression import Drop, Suppress
from velado.operations.treatment import Treatment
from velado.parameters import build
from velado.sentences import Sentence

OPERATIONS: dict[str, type[Operation]] = {
    o.name: o for o in (Suppress, Drop, Substitute, Encrypt, Pseudonymize, Mask, Top, Bottom, Limits, Round, Shift, AddNoise)
}


def operation_from(spec: Any) -> Operation:
    """An operation from what a project file says: its name, or a mapping from its name to its parameters.

    >>> operation_from({"round": 10}), operation_from("suppress")
    (Round(to=10), Suppress())
    """
    if isinstance(spec, Operation):
        return spec
    if isinstance(spec, Mapping) and len(spec) == 1:
        ((name, arguments),) = spec.items()
    elif isinstance(spec, str):
        name, arguments = spec, None
    else:
        raise InputError(
            "bad-operation",
            "an operation is its name, or a mapping from its name to its parameters",
            hint="For example suppress, {round: 10} or {mask: {keep: 3}}.",
        )
    if name not in OPERATIONS:
        raise InputError(
            "bad-operation", Sentence("unknown operation {given}", given=repr(name)), hint=suggest(str(name), OPERATIONS)
        )
    problems = Problems()
    with problems.at(*(() if isinstance(spec, str) else (name,))):
        made = _with_parameters(OPERATIONS[name], arguments)
    problems.raise_if_any()
    return made


def _with_parameters(kind: type[Operation], arguments: Any) -> Operation:
    if arguments is not None and not isinstance(arguments, Mapping):
        if kind.main is None:
            raise InputError("bad-operation", Sentence("the parameters of {name} must be a mapping", name=kind.name))
        return _short_form(kind, {kind.main: arguments})
    if any(str(key).lower() in SECRETS for key in arguments or ()):
        raise key_in_project()
    return build(kind, arguments, Sentence("the operation {name}", name=kind.name))


def _short_form(kind: type[Operation], arguments: Mapping[str, Any]) -> Operation:
    try:
        return build(kind, arguments, Sentence("the operation {name}", name=kind.name))
    except InputError as error:
        # The parameter has no place of its own.
        error.fields.pop("path", None)
        raise


__all__ = ["OPERATIONS", "Given", "Operation", "Treatment", "create_key", "decrypt_tokens", "operation_from", "read_key"]
