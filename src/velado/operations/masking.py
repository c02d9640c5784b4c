"""Mask characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from velado.declarations import Declaration
from velado.operations.base import Given, OnValues
from velado.parameters import Choice, Number, Word
from velado.values import ROOT


@dataclass(frozen=True)
class Mask(OnValues):
    """Keep some characters and put another in the place of every other one.

    ``side`` is the side that is masked, as in the hierarchy of that name. A value that is not longer than what would
    be kept is masked altogether.

    >>> Mask(keep=3).labels(["40712", "407"], Given("zip", "zip"))
    ['407**', '***']
    """

    keep: int = 0
    side: str = "right"
    character: str = ROOT
    name: ClassVar[str] = "mask"
    declaration: ClassVar = Declaration(
        title="mask", meaning="Some characters stay, every other one becomes a sign.", example={"mask": {"keep": 3}}
    )
    takes_identifiers: ClassVar[bool] = True
    main: ClassVar = "keep"
    parameters: ClassVar = {
        "keep": Number("how many characters stay", low=0, integer=True, unit="characters"),
        "side": Choice("side that is masked", ("left", "right")),
        "character": Word("what stands for a masked character", characters=1, expert=True),
    }

    def labels(self, values: Sequence[str], given: Given) -> Sequence[str]:
        """Mask every value."""
        return [self._mask_value(v) for v in values]

    def _mask_value(self, value: str) -> str:
        kept = int(self.keep) if len(value) > self.keep else 0
        masked = self.character * (len(value) - kept)
        return value[:kept] + masked if self.side == "right" else masked + value[len(value) - kept :]
