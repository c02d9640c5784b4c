"""A bounded sample of a column's different values, the same whatever their order, and what a recogniser answers."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from velado.recognition.names import topic_of
from velado.results import Discreet
from velado.sentences import Sentence

SAMPLED = 2000
"""About so many different values are looked at."""


@dataclass(frozen=True)
class Content:
    """What the values of a column are, and the share of the different values that are so."""

    kind: str
    share: float

    @property
    def description(self) -> Sentence:
        """The kind in words."""
        general, _, which = self.kind.partition(": ")
        return Sentence("national ids: {which}", which=Sentence(which)) if which else Sentence(general)


KINDS = (
    Sentence("e-mail addresses"),
    Sentence("links"),
    Sentence("UUIDs"),
    Sentence("MAC addresses"),
    Sentence("IP addresses"),
    Sentence("hashes"),
    Sentence("machine codes"),
    Sentence("phone numbers"),
    Sentence("street addresses"),
    Sentence("coordinates"),
    Sentence("personal names"),
    Sentence("full names"),
    Sentence("vehicle plates"),
    Sentence("record numbers"),
    Sentence("free text"),
    Sentence("card numbers"),
    Sentence("account numbers (IBAN)"),
    Sentence("account numbers (CBU)"),
    Sentence("numbers of phones (IMEI)"),
)
"""All kinds of contents, beside ids of countries."""


@dataclass(frozen=True, repr=False)
class Sample(Discreet):
    """Different values of a column; ``distinct`` and ``records`` count all of them."""

    NAMES: ClassVar[tuple[str, ...]] = ("name",)
    name: str
    values: tuple[str, ...]
    distinct: int
    records: int

    @classmethod
    def of(cls, name: str, amount: Mapping[str, int]) -> Sample:
        """A sample by a checksum of the values: it does not depend on their order, and needs no sorting."""
        every = len(amount) // SAMPLED
        chosen = [v for v in amount if zlib.crc32(v.encode(errors="surrogatepass")) % every == 0] if every > 1 else list(amount)
        stripped = {v.strip() for v in chosen} - {""}
        return cls(name, tuple(sorted(stripped)), len(amount), sum(amount.values()))

    @cached_property
    def topic(self) -> str | None:
        """What the column's name says."""
        return topic_of(self.name)

    @property
    def ratio(self) -> float:
        """Different values per record: 1 where each stands once."""
        return self.distinct / max(self.records, 1)

    def few(self, n: int) -> Sample:
        """A smaller sample, spread over the values."""
        step = max(1, len(self.values) // n)
        return Sample(self.name, self.values[::step][:n], self.distinct, self.records)

    def share(self, accepts: Callable[[str], object]) -> float:
        """The share of the values for which something is true."""
        return sum(1 for v in self.values if accepts(v)) / max(len(self.values), 1)

    def matching(self, pattern: str) -> float:
        """The share of the values that match a pattern as a whole."""
        return self.share(re.compile(pattern, re.IGNORECASE).fullmatch)

    @cached_property
    def plain_numbers(self) -> bool:
        """Whether these are amounts, ages, years or other plain numbers of at most six digits, or with decimals."""
        return self.matching(r"[+-]?[$€£]?\s?(\d{1,6}|\d{1,3}(?:[.,]\d{3})*(?:[.,]\d+)?|\d+[.,]\d+)\s?[%$€£]?") >= 0.9

    @cached_property
    def dates(self) -> bool:
        """Whether these are dates or times."""
        year, n = r"(1[6-9]|20)\d\d", r"(0?[1-9]|[12]\d|3[01])"
        month = r"[a-z]{3,10}\.?"
        day = "|".join(
            (
                rf"{year}[-/.]{n}[-/.]{n}",
                rf"{n}[-/.]{n}[-/.]({year}|\d\d)",
                rf"{n}[ -]?{month}[ -]?({year}|\d\d)",
                rf"{month} {n},? {year}",
                rf"{year}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])",
            )
        )
        return self.matching(rf"({day})([ T]\d{{1,2}}:\d{{2}}.*)?|\d{{1,2}}:\d{{2}}(:\d{{2}})?") >= 0.9
