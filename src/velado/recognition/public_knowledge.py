"""Whether others may know what a published column holds, where its owner does not say.

Columns that pass through may be known: they are visible, published elsewhere, or follow from something that is. Of sensitive
ones it is the kind that decides. A diagnosis, an answer, a laboratory value is known to the person and the keeper of the table.
A date, a rank, a price, an amount of money, a code of many values, a figure of the place where somebody lives may stand on
a web page. On any doubt a column may be known.
"""

from __future__ import annotations

from collections.abc import Mapping

from velado.recognition.names import PRIVATE
from velado.recognition.roles import CATEGORIES, Seen
from velado.recognition.types import reading_of

NEVER = "never"
POSSIBLY = "possibly"


def knowledge_of(name: str, role: str, present: Mapping[str, int]) -> str:
    """``possibly`` or ``never``, from the role, the name and the values with their numbers of records.

    >>> knowledge_of("diagnosis", "sensitive", {"flu": 40, "asthma": 25})
    'never'
    >>> knowledge_of("rank", "sensitive", {str(n): 1 for n in range(500)})
    'possibly'
    """
    if role != "sensitive":
        return POSSIBLY
    seen = Seen(name, reading_of(present).type, present, sum(present.values()))
    if seen.has_dates:
        return POSSIBLY
    if not seen.numeric:
        return NEVER if seen.categories or seen.distinct <= CATEGORIES else POSSIBLY
    private = seen.topic == "health" or (seen.topic in PRIVATE and seen.distinct <= CATEGORIES)
    return NEVER if private else POSSIBLY
