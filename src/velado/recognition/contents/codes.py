"""Numbers of cases, files and tickets, and plates of vehicles."""

from __future__ import annotations

import re

from velado.recognition.contents.sample import Content, Sample
from velado.recognition.names import KNOWN

PLATE = r"[A-Z0-9]{1,4}[ ·-]?[A-Z0-9]{2,4}([ -]?[A-Z0-9]{1,4})?"
OTHER = re.compile(r"\d{1,4} ?[-–/] ?\d{1,4}|[A-Z]\d{2}(\.?\d{1,3}[A-Z]?)?", re.IGNORECASE)
"""Intervals, and codes of diagnoses."""
CODE = re.compile(r"(?=.*\d.*\d.*\d)[A-Z0-9]+([ ./_#-]{1,2}[A-Z0-9]+)*", re.IGNORECASE)


def _is_code(value: str) -> bool:
    digits = sum(c.isdigit() for c in value)
    other = OTHER.fullmatch(value)
    return 5 <= len(value) <= 40 and digits >= 4 and digits * 3 >= len(value) and bool(CODE.fullmatch(value)) and not other


def plates(sample: Sample) -> Content | None:
    """Plates of vehicles, where the name says so."""
    if sample.topic != "plate" or sample.distinct < 3:
        return None
    share = sample.share(lambda v: re.fullmatch(PLATE, v, re.IGNORECASE) and 4 <= len(v) <= 10)
    return Content("vehicle plates", share) if share >= 0.5 else None


def record_numbers(sample: Sample) -> Content | None:
    """Structured codes with many different values, such as ``11-008012CF10A``: case, file, ticket numbers."""
    if sample.plain_numbers or sample.dates or sample.topic in KNOWN or sample.matching(r"[+-]?[\d.,]+") > 0.5:
        return None
    if sample.distinct < 10 or sample.ratio < 0.3:
        return None
    share = sample.share(_is_code)
    return Content("record numbers", share) if share >= 0.7 else None
