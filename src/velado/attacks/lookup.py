"""Look-up: people are found by a published column that is no quasi-identifier."""

from __future__ import annotations

from velado.attacks.base import Attack, Prevention
from velado.declarations import declare
from velado.evaluation.exposure import LEAST, NEVER, Exposure
from velado.evaluation.joint_exposure import JointExposure


@declare(title="look-up in other columns", meaning="People are looked up by a published column that is no quasi-identifier.")
def lookup(exposure: Exposure) -> Attack:
    """Whoever knows a value of the column about a person finds the record, if few others have it.

    It succeeds where the column is an identifier in disguise: see `velado.evaluation.exposure.DANGERS`. Of a column that only the
    person and the keeper know, ``if_known`` says how many would be alone if somebody else did.
    """
    figures: dict[str, int | float] = {
        "records": exposure.records,
        "singled_out_alone": exposure.singled_out,
        "few_alone": exposure.few,
        "singled_out_together": exposure.singled_out_together,
        "few_together": exposure.few_together,
    }
    if exposure.known == NEVER:
        figures["if_known"] = exposure.singled_out_together
    found = bool(exposure.dangers)
    prevented = (Prevention(measure="role"),) if found else ()
    return Attack("lookup", found, figures, prevented_by=prevented, column=exposure.column)


def lookup_together(joint: JointExposure) -> Attack:
    """Whoever knows all that others know or could know of a person: how many are found by all of it at once.

    It succeeds where more are in groups smaller than k than by the quasi-identifiers alone. ``if_known``: how many would be
    alone if also that were known which only the person and the keeper know.
    """
    figures: dict[str, int | float] = {"records": joint.people, "singled_out_by_all": joint.alone, "few_by_all": joint.below}
    if joint.private:
        figures["if_known"] = joint.alone_with_private
    found = joint.people >= LEAST and joint.below > joint.below_known
    prevented = (Prevention(measure="role"),) if found else ()
    return Attack("lookup", found, figures, prevented_by=prevented)
