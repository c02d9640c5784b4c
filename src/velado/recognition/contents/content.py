"""What the values of a column are, whatever its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from velado.recognition.contents.codes import plates, record_numbers
from velado.recognition.contents.free_texts import free_text
from velado.recognition.contents.numbers import checked_numbers, phones
from velado.recognition.contents.patterns import signs
from velado.recognition.contents.people import personal_names
from velado.recognition.contents.places import addresses, coordinates
from velado.recognition.contents.sample import Content, Sample

RECOGNISERS: tuple[Callable[[Sample], Content | None], ...] = (
    signs,
    coordinates,
    checked_numbers,
    phones,
    plates,
    addresses,
    personal_names,
    free_text,
    record_numbers,
)
"""The surest first; the first that recognises the values is believed."""


SURE = (signs, checked_numbers)
"""What needs no many values to be recognised."""


def content_of(name: str, amount: Mapping[str, int]) -> Content | None:
    """What identifies people in the values of a column, or None.

    ``amount``: the values that are not missing, with their numbers of records. About 2,000 different ones are looked
    at, so that a column of millions takes no longer.

    >>> content_of("contact", {"ana@mail.example": 1, "luis@mail.example": 1, "none": 5}).kind
    'e-mail addresses'
    """
    return _first(RECOGNISERS, Sample.of(name, amount))


def sure_content_of(name: str, amount: Mapping[str, int]) -> Content | None:
    """The same of few values: only what signs or check digits tell."""
    return _first(SURE, Sample.of(name, amount))


def _first(recognisers: Sequence[Callable[[Sample], Content | None]], sample: Sample) -> Content | None:
    return next((found for recognise in recognisers if sample.values and (found := recognise(sample))), None)
