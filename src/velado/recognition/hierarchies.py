"""A first hierarchy for a column."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from velado.numbers import parse_all
from velado.recognition.types import Reading


def suggest_hierarchy(name: str, reading: Reading, amount: Mapping[str, int]) -> Any:
    """A first hierarchy for a column, as a project file writes it; None = value → *.

    ``amount``: the values that are neither missing nor stand for it, with their numbers of records.
    """
    kind, values = reading.type, list(amount)
    if kind == "date":
        return {"dates": ["month", "year", "decade"]}
    if kind in ("integer", "number"):
        numbers = np.array(parse_all(name, values))
        if re.search(r"zip|postal|cep", name, re.IGNORECASE) and len({len(v) for v in values}) == 1:
            return {"mask": "right"}
        span = float(numbers.max() - numbers.min())
        if span <= 0:
            return None
        step = 10.0 ** np.floor(np.log10(span / 12)) * 5
        step = step / 5 if span / step < 4 else step
        step = max(step, 1.0) if kind == "integer" else step
        widths = [step, step * 2, step * 4]
        return {"intervals": [int(w) if w == int(w) else float(w) for w in widths]}
    lengths = {len(v) for v in values}
    if all("/" in v for v in values) and len({v.count("/") for v in values}) == 1:
        return {"path": "/"}
    if len(lengths) == 1 and 3 <= min(lengths) <= 10 and all(v.isdigit() for v in values):
        return {"mask": "right"}
    return None
