"""What an evaluation shows: its headline figures and what they mean, in the words, units and order of every output.

Terminal, report and pages render what stands here. Figures come as a result writes them (``as_dict``); counts may be told as
"fewer than 3", and what is left out for who looks is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from velado.evaluation.figures import FIGURES
from velado.evaluation.risk import Risk, required_size
from velado.i18n import Language
from velado.models import model_from

Count = int | str | None
UTILITY = {
    "loss": 4,
    "loss_mean": 4,
    "precision": 4,
    "generalized_loss": 4,
    "entropy": 4,
    "discernibility": 0,
    "average_class_size": 2,
    "c_avg": 3,
}
"""Measures of the whole release in their order, with their decimals."""
MOST_COLUMNS = 3


class RiskFigure(NamedTuple):
    """A figure of the prosecutor before and after: its term, what it is called, whether it is a share or a count."""

    term: str
    title: str
    is_share: bool
    before: Any
    after: Any


def utility_title(name: str, words: Language) -> str:
    """What a measure of the whole release is called where its direction is not told beside it."""
    if name == "precision":
        return words.say("precision (1 = nothing generalized)")
    return words.say(FIGURES[name.replace("_", "-")].title)


def size_asked_for(figures: Mapping[str, Any]) -> int | None:
    """The k that the models of an evaluation ask for."""
    return required_size([model_from(v["name"], v["required"]) for v in figures.get("models") or ()])


def risk_figures(before: Risk | None, after: Risk, k: int | None, threshold: float, words: Language) -> list[RiskFigure]:
    """The prosecutor's risk before and after, where classes of k were asked for."""

    def share(term: str, title: str, name: str) -> RiskFigure:
        return RiskFigure(term, title, True, None if before is None else getattr(before, name), getattr(after, name))

    above = words.say("records at risk (above {threshold})", threshold=words.percent(threshold))
    alone = words.say("records singled out (class of 1)")
    found = [
        share("highest-risk", words.say("prosecutor risk, highest"), "highest"),
        share("marketer-risk", words.say("prosecutor risk, average (= marketer risk)"), "average"),
        share("at-risk", above, "at_risk"),
        RiskFigure("singled-out", alone, False, after.singled_out_before, after.singled_out_after),
    ]
    if k is not None and after.smaller_than_k_before is not None:
        title = words.say("in groups smaller than k = {k}", k=words.integer(k))
        found.append(RiskFigure("k-anonymity", title, False, after.smaller_than_k_before, after.smaller_than_k_after))
    return found


def count_in_words(count: Count, words: Language) -> str:
    """A count; one that is only told to be small is said in the language."""
    return words.say(count) if isinstance(count, str) else words.integer(count)


def share_in_words(count: Count, people: Count, words: Language) -> str:
    """A count as a share of the people, small ones with two decimals; what is only told to be small stays so."""
    if isinstance(count, (int, float)) and isinstance(people, (int, float)):
        return words.percent(count / max(people, 1), 2 if 0 < count < people / 100 else 1)
    return count_in_words(count, words)


def exposure_note(joint: Mapping[str, Any], words: Language) -> str:
    """What stands below the share of the exposed."""
    below, alone = (count_in_words(joint.get(name), words) for name in ("below", "alone"))
    return words.say("{n} in groups smaller than k, {alone} alone", n=below, alone=alone)


def sample_note(joint: Mapping[str, Any], words: Language) -> str:
    """Of how many people smallest keys were asked for, if not of all."""
    if not joint.get("sampled"):
        return ""
    return words.say(
        "Of a sample of {n} people, each against all records; shares are known to ±{error} (95 %).",
        n=words.integer(joint["sampled"]),
        error=words.percent(joint.get("error")),
    )


def exposure_sentences(joint: Mapping[str, Any], words: Language, name: Callable[[str], str] = str) -> list[str]:
    """How far all that is published singles people out; the second sentence is about columns that others should not know."""
    people = joint["people"]
    told = [
        words.say(
            "By all published columns that others know or could know, {below} of {people} ({share}) are in groups of fewer than {k}, {alone} of them alone.",
            share=share_in_words(joint.get("below"), people, words),
            **{count: count_in_words(joint.get(count), words) for count in ("below", "people", "k", "alone")},
        )
    ]
    if joint.get("private"):
        told.append(
            words.say(
                "If somebody also knew {columns}, which only the person and the keeper of the table should know, {alone} would be alone.",
                columns=words.join_words([name(str(column)) for column in joint["private"]]),
                alone=share_in_words(joint.get("alone_with_private"), people, words),
            )
        )
    return told


def risk_sentence(figures: Mapping[str, Any], words: Language) -> str:
    """With how many others every record stands, and what follows for who looks for a person; empty where nobody is left."""
    risk, people = figures["risk"], figures.get("people")
    smallest = int(figures["class_size"].get("min", 0) if people is None else people["smallest_class"])
    if smallest > 1:
        return words.plural(
            "Every released record shares its quasi-identifier values with at least {n} other. Whoever knows all these values of a person, and that the person is in the release, picks the right record with a chance of at most {highest}; on average {average}.",
            "Every released record shares its quasi-identifier values with at least {n} others. Whoever knows all these values of a person, and that the person is in the release, picks the right record with a chance of at most {highest}; on average {average}.",
            smallest - 1,
            highest=words.percent(risk["highest"]),
            average=words.percent(risk["average"]),
        )
    if not risk["singled_out_after"]:
        return ""
    return words.say(
        "{n} released records are alone with their quasi-identifier values: whoever knows these values of a person finds the record with certainty.",
        n=words.integer(risk["singled_out_after"]),
    )


def small_groups_sentence(figures: Mapping[str, Any], words: Language) -> str:
    """How many were and are in groups smaller than the k that was asked for; empty where none was."""
    k, risk = size_asked_for(figures), figures["risk"]
    if k is None or risk.get("smaller_than_k_before") is None:
        return ""
    counts = {side: words.integer(risk[f"smaller_than_k_{side}"]) for side in ("before", "after")}
    return words.say("In groups of fewer than {k}: {before} in the original, {after} in the release.", k=words.integer(k), **counts)


def loss_sentence(figures: Mapping[str, Any], words: Language, name: Callable[[str], str] = str) -> str:
    """The price, and the columns that paid most of it."""
    losses = figures["utility"]["columns"].items()
    worst = sorted(((x, column) for column, x in losses if x > 0), reverse=True)[:MOST_COLUMNS]
    if not worst:
        return words.say("No detail of the quasi-identifiers was lost.")
    return words.say(
        "The price: {loss} of the detail of the quasi-identifiers was lost, most in {columns}.",
        loss=words.percent(figures["utility"]["loss"]),
        columns=words.join_words([f"{name(column)} ({words.percent(x)})" for x, column in worst]),
    )
