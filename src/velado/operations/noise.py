"""Add noise."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from velado.declarations import Declaration
from velado.errors import Note
from velado.operations.base import Given, Operation
from velado.operations.numbers import MOST_DECIMALS, Style, parse
from velado.operations.treatment import Adding, Replacing, Treatment
from velado.parameters import Choice, Number
from velado.tables import ColumnType, Noise, Table

SMALL: dict[str, Callable[[float], float]] = {"laplace": lambda x: 1 - math.exp(-x), "normal": lambda x: math.erf(x / math.sqrt(2))}
"""Chance that noise of scale 1 is smaller than x."""
SECRET_BYTES = 32
"""Length of the seed that a run draws for itself."""


@dataclass(frozen=True)
class AddNoise(Operation):
    """A random number is added to every number, drawn anew for every record.

    ``scale`` is the scale b of the Laplace distribution (mean deviation b), or the standard deviation of the normal
    one. Every run draws a secret ``seed`` of its own and forgets it. A named seed gives the same noise again, and
    whoever knows or guesses it can take the noise off. Noise on single columns is not differential privacy.
    """

    scale: float
    distribution: str = "laplace"
    seed: int | None = field(default=None, repr=False)
    decimals: int | None = None
    name: ClassVar[str] = "noise"
    declaration: ClassVar = Declaration(
        title="add noise", meaning="A random number is added to every number, drawn anew for every record.", example={"noise": 2.5}
    )
    main: ClassVar = "scale"
    parameters: ClassVar = {
        "scale": Number("how large the noise is", low=0, low_open=True),
        "distribution": Choice("how the noise is distributed", tuple(SMALL)),
        "seed": Number("fixes the noise; none: a secret one for every run", low=0, integer=True, optional=True, expert=True),
        "decimals": Number("decimals that are shown", low=0, high=MOST_DECIMALS, integer=True, optional=True, expert=True),
    }

    @property
    def per_record(self) -> bool:
        """Every record has noise of its own."""
        return True

    @property
    def follows_rows(self) -> bool:
        """With a named seed the noise follows from the number of the row."""
        return self.seed is not None

    def notes(self, column: str) -> tuple[Note, ...]:
        """What a named seed costs."""
        if self.seed is None:
            return ()
        message = (
            "the seed of the noise is named in the project: whoever knows or guesses it can take the noise off; "
            "leave 'seed' out unless the release must be repeated"
        )
        return (Note("fixed-seed", message, column),)

    def describe(self, folder: Path) -> dict[str, Any]:
        """All but the seed, with which the noise could be taken off."""
        return {"scale": self.scale, "distribution": self.distribution}

    def treat(self, table: Table, given: Given) -> Treatment:
        """Find out which number each text denotes, and how many decimals the column has."""
        counts = table.count([given.column])
        values = counts.dictionaries[0]
        present = [v for v in values if v is not None]
        numbers = parse(present, given)
        style = Style.of(present, numbers)
        decimals = style.decimals if self.decimals is None else int(self.decimals)
        plain = dict(zip(present, (format(n, "f") for n in numbers), strict=True))
        kind = table.type_of(given.column)
        typed = kind.numeric and (decimals == 0 or kind is not ColumnType.INTEGER)
        read = Replacing.of(given, self, counts, [None if v is None else plain[v] for v in values], typed)
        seed = secrets.token_hex(SECRET_BYTES) if self.seed is None else str(self.seed)
        noise = Noise(read.translation, self.distribution, self.scale, seed, decimals, style.comma)
        still = SMALL[self.distribution](0.5 * 10.0**-decimals / self.scale)
        return Adding(given, self, noise, read.records, still)
