"""When pruning by monotonicity is allowed."""

from __future__ import annotations

from collections.abc import Sequence

from velado.errors import InputError
from velado.methods.suppression import Suppression, forbidden
from velado.models import PrivacyModel
from velado.sentences import Sentence


def require_monotone(method: str, models: Sequence[PrivacyModel], suppression: Suppression) -> None:
    """Refuse models for which "generalizing keeps the models satisfied" does not hold.

    Without suppression the model must be monotone. With suppression it must be hereditary: only
    then does a coarser node never suppress more records than a finer one.
    """
    whole = forbidden(suppression)
    for model in models:
        fits = model.is_monotone if whole else model.is_hereditary
        if not fits:
            raise InputError(
                "not-monotone",
                Sentence(
                    "{method} needs monotone models, and {model} is not monotone"
                    if whole
                    else "{method} needs monotone models, and {model} is not monotone when records are suppressed",
                    method=method,
                    model=model.name,
                ),
                hint="Use the method lattice, which proves its optimum for every model, or 'suppression: 0'."
                if not whole and model.is_monotone
                else "Use the method lattice, which proves its optimum for every model.",
            )
