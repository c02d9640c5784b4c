"""k-map: anonymity in a population of which the table is a part."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import ClassVar

import numpy as np

from velado.declarations import Declaration, Strength
from velado.errors import InputError
from velado.frequency import Classes, Population
from velado.models.base import PEOPLE, Verdict, WholeModel
from velado.parameters import FileName, Number
from velado.sentences import Sentence


@dataclass(frozen=True)
class KMap(WholeModel):
    """Every released class fits at least k people of a population table.

    Sweeney, "Computational disclosure control", 2001; El Emam and Dankar, "Protecting privacy using k-anonymity", 2008.
    Weaker than k-anonymity where the table is a sample: nobody knows who of the population is in it. The population is
    generalized by the hierarchies of the table (see `velado.frequency.population`).
    """

    k: int
    population: str
    name: ClassVar[str] = "k-map"
    tells: ClassVar[str] = PEOPLE
    declaration: ClassVar = Declaration(
        title="k-map",
        meaning="Every released record could belong to at least k people of a population table.",
        reached="the fewest people of the population that fit a class",
        example={"k": 5, "population": "population.csv"},
        more={"stops": ["linkage"]},
    )
    strength: ClassVar = {"k": Strength("k", 1)}
    parameters: ClassVar = {
        "k": Number("fewest people of the population that fit a class", low=2, integer=True),
        "population": FileName("file of the population, with the columns that are quasi-identifiers"),
    }
    hereditary: ClassVar[bool] = True

    @property
    def populations(self) -> tuple[str, ...]:
        """The one table."""
        return (self.population,)

    def keep(self, classes: Classes, kept: np.ndarray) -> np.ndarray:
        """The classes that fit enough people."""
        return np.asarray(kept & (self._table(classes).members(classes) >= self.k))

    def judge(self, classes: Classes) -> Verdict:
        """The fewest people that fit a class."""
        people = self._table(classes).members(classes)
        achieved = int(people.min()) if len(people) else None
        # A verdict is published: the file is named, not where it lies.
        required = {**self.requirements(), "population": PurePath(self.population).name}
        return Verdict(self.name, required, achieved, bool((people >= self.k).all()))

    def _table(self, classes: Classes) -> Population:
        found = classes.frequency.populations.get(self.population)
        if found is None or classes.levels is None:
            raise InputError(
                "needs-population",
                Sentence("{model} compares with a population table, and here there is none", model=self.name),
                hint="Only run, compare, check and evaluate with a project read the population of a model.",
            )
        return found
