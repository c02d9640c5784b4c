"""Re-identification risk (``measures.md`` §4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

THRESHOLD = 0.1


@dataclass(frozen=True)
class Risk:
    """Prosecutor risk of the released records: 1/size of their class.

    ``highest`` = 1/smallest size, ``average`` = classes/records (also the marketer risk), ``at_risk`` =
    share of records whose risk exceeds the threshold 0.1.
    """

    highest: float
    average: float
    at_risk: float
    singled_out_before: int
    singled_out_after: int


def risk(sizes: np.ndarray, singled_out_before: int, threshold: float = THRESHOLD) -> Risk:
    """Risk of classes of the given sizes."""
    records = int(sizes.sum())
    if not records:
        return Risk(0.0, 0.0, 0.0, singled_out_before, 0)
    exposed = int(sizes[1 / sizes > threshold + 1e-12].sum())
    return Risk(
        highest=1 / int(sizes.min()),
        average=len(sizes) / records,
        at_risk=exposed / records,
        singled_out_before=singled_out_before,
        singled_out_after=int((sizes == 1).sum()),
    )
