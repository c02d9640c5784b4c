"""How many records a method may suppress: a share of them, or a number such as ``3 records``."""

from __future__ import annotations

import math

from velado.parameters import Limit, records_of

Suppression = float | str
"""A share from 0 to 1, or a text such as ``3 records``."""
SUPPRESSION = Limit("how many records may be suppressed: a share, or a number such as '3 records'")
"""The declaration that all methods share."""


def suppression_limit(limit: Suppression, records: int) -> int:
    """How many records may be suppressed.

    >>> suppression_limit(0.05, 90), suppression_limit("3 records", 90), suppression_limit("3 records", 2)
    (4, 3, 2)
    """
    counted = records_of(limit)
    return min(records, math.floor(float(limit) * records + 1e-9) if counted is None else counted)


def forbidden(limit: Suppression) -> bool:
    """Whether nothing may be suppressed, whatever the table."""
    return limit == 0 or records_of(limit) == 0


def is_unlimited(limit: Suppression) -> bool:
    """Whether everything may be suppressed, whatever the table."""
    return records_of(limit) is None and float(limit) >= 1
