"""What is said of attacks: their titles, what was tried, what their figures are called, and which of them says most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from velado.attacks.base import Trial
from velado.sentences import Sentence

OTHERWISE = {("order", "other"): Sentence("The rows of the two releases are joined one by one, in order.")}
"""What is tried where an attack has two ways."""
TOGETHER = Sentence("People are looked up by all published columns at once that others know or could know.")
DISCLOSED = Sentence("The sensitive value of the people found is read off.")
FIGURES = {
    "know": Sentence("values ruled out"),
    "classes": Sentence("classes"),
    "records": Sentence("records"),
    "other_records": Sentence("records of the other release"),
    "singled_out_alone": Sentence("records alone with their value"),
    "few_alone": Sentence("records with a value that few share"),
    "singled_out_together": Sentence("records alone with it and their quasi-identifiers"),
    "few_together": Sentence("records with few others alike in both"),
    "singled_out_by_all": Sentence("records alone by all of it"),
    "few_by_all": Sentence("records in groups smaller than k by all of it"),
    "if_known": Sentence("records alone if what only the person and the keeper know were known"),
    "exposed_classes": Sentence("classes exposed"),
    "exposed_records": Sentence("records exposed"),
    "exposed_share": Sentence("share exposed"),
    "certain_classes": Sentence("classes learnt for certain"),
    "certain_records": Sentence("records learnt for certain"),
    "certain_without_knowledge": Sentence("… without ruling anything out"),
    "lowest_confidence": Sentence("lowest confidence"),
    "median_confidence": Sentence("median confidence"),
    "mean_confidence": Sentence("mean confidence"),
    "highest_confidence": Sentence("highest confidence"),
    "best_guess": Sentence("records that the best guess gets right"),
    "largest_gain": Sentence("largest gain (times as likely)"),
    "largest_difference": Sentence("largest difference of shares"),
    "near": Sentence("alike: within this share of the range"),
    "people": Sentence("people of the external table"),
    "matched": Sentence("people with a candidate"),
    "unique": Sentence("people with one candidate only"),
    "exposed_people": Sentence("people exposed"),
    "expected_correct": Sentence("expected right links"),
    "known": Sentence("people who are in the original, too"),
    "correct": Sentence("their own record is a candidate"),
    "unique_correct": Sentence("their own record is the only candidate"),
    "expected_true": Sentence("expected right links, checked"),
    "disclosed": Sentence("people whose value is certain"),
    "rows": Sentence("rows"),
    "other_rows": Sentence("rows of the other release"),
    "left_out": Sentence("rows left out"),
    "in_order": Sentence("rows that fit in order"),
    "chance": Sentence("… in random order"),
    "shuffles_as_good": Sentence("share of random orders as good"),
    "k": Sentence("k of the release"),
    "other_k": Sentence("k of the other release"),
    "combined_classes": Sentence("classes, joined"),
    "smallest_combined": Sentence("smallest class, joined"),
    "in_smaller_classes": Sentence("records in classes below k, joined"),
    "singled_out": Sentence("records singled out, joined"),
    "exact_cells": Sentence("cells that become exact"),
    "exact_records": Sentence("records that become exact"),
    "linked": Sentence("records linked to one class"),
    "other_linked": Sentence("records of the other linked to one class"),
    "linked_if_present": Sentence("… if they were not suppressed there"),
    "other_linked_if_present": Sentence("… if they were not suppressed here"),
}
SHARES = {"exposed_share", "best_guess", "largest_difference", "near", "in_order", "chance", "shuffles_as_good"}
"""Figures that are shares of 1; all confidences are, too."""
MAIN = ("few_alone", "few_by_all", "exposed_records", "exposed_people", "smallest_combined", "singled_out", "in_order")
"""Figures that say how far an attack came, the most telling first."""


def describe_attack(trial: Trial, name: str, column: str | None = None, against: str | None = None) -> Sentence:
    """What an attack does, on a sensitive column, with another table."""
    if name == "linkage" and column:
        return DISCLOSED
    if name == "lookup" and column is None:
        return TOGETHER
    return OTHERWISE.get((name, against or ""), Sentence(trial.declaration.meaning))


def figure_title(name: str) -> Sentence:
    """What a figure of an attack is called."""
    if name.startswith("level_"):
        _, level, what = name.split("_")
        if what == "classes":
            return Sentence("classes alike at level {level}", level=level)
        return Sentence("records alike at level {level}", level=level)
    return FIGURES[name]


def is_share(name: str) -> bool:
    """Whether a figure of an attack is a share of 1."""
    return name in SHARES or name.endswith("_confidence")


def main_figure(figures: Mapping[str, Any]) -> str | None:
    """The figure that says how far an attack came; None if it has none of these."""
    return next((name for name in MAIN if name in figures), None)
