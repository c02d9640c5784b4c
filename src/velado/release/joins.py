"""Attributes that several tables share: the same value became the same in all of them, and keys still match."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from velado.errors import InputError
from velado.release.plan import Planned
from velado.release.verify import column_records, verification_error
from velado.results import Discreet
from velado.schema import Column
from velado.sentences import Sentence
from velado.tables import Slot, Stage
from velado.values import ROOT, Text


@dataclass(frozen=True)
class Joined:
    """How many different values of an attribute two releases have in common, as many as their originals."""

    attribute: str
    tables: tuple[str, str]
    matching: int


@dataclass(frozen=True, repr=False)
class Key(Discreet):
    """A column of a shared attribute: what its values become."""

    NAMES: ClassVar[tuple[str, ...]] = ("table",)
    table: str
    column: Column
    plan: Planned

    @property
    def name(self) -> str:
        """The column."""
        return self.column.name

    def value_map(self) -> dict[Text, Text]:
        """Value → what it becomes, for the values of the table that may be published; empty where nothing is left."""
        labels = self.plan.labels_of(self.name)
        return {} if labels is None else {v: x for v, x in labels.items() if v is not None}


def check_plans(keys: Sequence[Key], attribute: str, joinable: bool) -> None:
    """The same value becomes the same everywhere; and different values stay different where that was promised."""
    became: dict[Text, Text] = {}
    for key in keys:
        for value, label in key.value_map().items():
            if became.setdefault(value, label) != label:
                raise InputError(
                    "attribute-differs",
                    Sentence("the same value of the attribute '{attribute}' would become different ones", attribute=attribute),
                    column=key.name,
                    hint="This should not happen; please report it.",
                )
    merged = len(became) - len(set(became.values()))
    operation = keys[0].column.operation
    if merged and operation is not None and (joinable or operation.hides) and not operation.erases:
        raise InputError(
            "not-joinable",
            Sentence(
                "{values:,} value(s) of the attribute '{attribute}' would become the same as another",
                values=merged,
                attribute=attribute,
            ),
            column=keys[0].name,
            hint="Pseudonymize with a greater 'length', or encrypt the attribute.",
        )


def verify_joins(keys: Sequence[Key], stage: Stage, slots: Mapping[str, Slot], attribute: str) -> list[Joined]:
    """Keys that match in the originals, among published records, match in what was written, and no others do."""
    shown: dict[str, set[Text]] = {}
    before: dict[str, set[Text]] = {}
    for key in keys:
        slot = slots[key.table]
        with stage.read_back(slot) as table:
            labels = set(column_records(table, key.name, slot.sink.is_guarded))
        # Generalized values match if their groups do; tokens match if the values behind them do.
        plain = {label: value for value, label in key.value_map().items()}
        behind = {label: label if key.column.operation is None else value for label, value in plain.items()}
        labels -= {None} | ({ROOT} - set(behind))
        if not labels <= set(behind):
            raise verification_error(
                Sentence(
                    "the attribute '{attribute}' of the table '{table}' shows unknown values", attribute=attribute, table=key.table
                )
            )
        shown.setdefault(key.table, set()).update(labels)
        before.setdefault(key.table, set()).update(behind[label] for label in labels)
    joined = []
    for one, other in itertools.combinations(shown, 2):
        matching, expected = len(shown[one] & shown[other]), len(before[one] & before[other])
        if matching != expected:
            raise verification_error(
                Sentence(
                    "'{attribute}' joins '{one}' and '{other}' by {matching:,} values instead of {expected:,}",
                    attribute=attribute,
                    one=one,
                    other=other,
                    matching=matching,
                    expected=expected,
                )
            )
        joined.append(Joined(attribute, (one, other), matching))
    return joined
