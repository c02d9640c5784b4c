"""Look-up: people are found by a published column that is no quasi-identifier."""

from __future__ import annotations

from velado.attacks.base import Attack, Prevention
from velado.declared import declared
from velado.evaluation.exposure import Exposure


@declared(
    title="look-up in other columns",
    meaning="People are looked up by a published column that is no quasi-identifier.",
)
def lookup(exposure: Exposure) -> Attack:
    """Whoever knows a value of the column about a person finds the record, if few others have it.

    It succeeds where the column is an identifier in disguise: see `velado.evaluation.exposure.DANGERS`.
    """
    figures: dict[str, int | float] = {
        "records": exposure.records,
        "singled_out_alone": exposure.singled_out,
        "few_alone": exposure.few,
        "singled_out_together": exposure.singled_out_together,
        "few_together": exposure.few_together,
    }
    found = bool(exposure.dangers)
    prevented = (Prevention(measure="role"),) if found else ()
    return Attack("lookup", found, figures, prevented_by=prevented, column=exposure.column)
