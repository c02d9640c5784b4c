"""What a balance found: the strongest setting that keeps the conditions, or how near the settings come to them."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field

from velado.evaluation import CONDITIONS
from velado.models import strengths
from velado.report.charts import Level
from velado.service.jobs.answers import JobAnswer
from velado.studio.forms.comparison_form import ranges
from velado.studio.project_page import ProjectPage
from velado.studio.views.comparison_view import (
    Compared,
    Kept,
    Picture,
    SettingRow,
    conditions,
    format_parameter,
    format_value,
    label,
)


@dataclass(frozen=True)
class Balanced:
    """What a balance found: the strongest setting, in words, and the next stronger one with what it breaks."""

    chosen: SettingRow
    sentence: str
    conditions: list[Kept]
    pictures: list[Picture]
    following: SettingRow | None = None
    broken: str = ""


@dataclass(frozen=True)
class Nearest:
    """How near a setting comes to a condition that none keeps."""

    text: str
    title: str = ""
    setting: str = ""
    instead: str = ""
    fields: list[tuple[str, str]] = field(default_factory=list)


def balance_of(work: ProjectPage, compared: Compared, axis: str | None) -> Balanced | None:
    """The strongest setting, with its evidence."""
    result, words = compared.result, work.words
    chosen = next((row for row in compared.rows if row.parameters == result.get("chosen")), None)
    if chosen is None:
        return None
    kept = conditions(result.get("conditions") or {}, words)
    stronger = [row for row in compared.rows if row.setting.strength > chosen.setting.strength]
    following = min(stronger, key=lambda row: row.setting.strength, default=None)
    pictures = [] if axis is None else [p for one in kept if (p := _evidence(compared, one, axis, chosen)) is not None]
    return Balanced(
        chosen,
        _sentence(work, compared, chosen, kept),
        kept,
        pictures,
        following,
        "" if following is None else _broken_conditions(work, following, kept),
    )


def _evidence(compared: Compared, one: Kept, axis: str, chosen: SettingRow) -> Picture | None:
    """The curve of a condition, with its limit, and the best setting marked."""
    if one.name == "ks":
        return compared.p_value_curve(axis, chosen, one.limit, wide=True)
    figure = next((figure for figure in compared.figures if figure.name == one.name), None)
    if figure is None:
        return None
    limit = f"{one.sign} {figure.text(one.limit, compared.words)}"
    return compared.curve(figure, axis, chosen, Level(limit, one.limit, "limit"), wide=True)


def _sentence(work: ProjectPage, compared: Compared, chosen: SettingRow, kept: list[Kept]) -> str:
    """What was found, in one sentence."""
    wanted = work.words.language.join_words([one.text(work.words) for one in kept])
    if list(chosen.parameters) == [compared.parameters[0]] and compared.parameters[0] in strengths():
        ((name, value),) = chosen.parameters.items()
        places = {"parameter": label(name, work.words), "conditions": wanted, "value": format_value(name, value, work.words)}
        if strengths()[name].stronger > 0:
            return work.say("Largest {parameter} that keeps {conditions}: {value}", **places)
        return work.say("Smallest {parameter} that keeps {conditions}: {value}", **places)
    return work.say(
        "Strongest of {n} settings that keep {conditions}: {setting}",
        n=work.words.integer(len(compared.rows)),
        conditions=wanted,
        setting=chosen.title,
    )


def _broken_conditions(work: ProjectPage, row: SettingRow, kept: list[Kept]) -> str:
    """Why a setting is not chosen: conditions that it breaks, with their figures."""
    if row.evaluation is None:
        return row.reason or work.say("it has no solution")
    found = []
    for one in kept:
        value = one.value(row.evaluation)
        if isinstance(value, (int, float)) and not CONDITIONS[one.name].holds(value, one.limit):
            found.append(f"{one.title}: {one.format_value(value, work.words)}")
    return ", ".join(found)


def nearest(work: ProjectPage, job: JobAnswer) -> list[Nearest]:
    """How near the settings come to the conditions, and what could be asked for instead."""
    given = job.parameters or {}
    limits: dict[str, float] = dict(given.get("conditions") or {})
    found = []
    for name, near in ((job.error.fields or {}).get("nearest") or {}).items() if job.error is not None else ():
        (one,) = conditions({name: limits.get(name, near["wanted"])}, work.words)
        if near.get("best") is None:
            found.append(
                Nearest(work.say("{condition}: no setting has a solution with this figure.", condition=one.text(work.words)))
            )
            continue
        instead = relax_limit(float(near["best"]), one.sign == "≥")
        fields = [(f"condition.{key}", f"{instead if key == name else limit:g}") for key, limit in limits.items()]
        for key, values in (given.get("grid") or {}).items():
            fields += [("method", str(value)) for value in values] if key == "method" else [(f"grid.{key}", ranges(values))]
        title = ", ".join(format_parameter(key, value, work.words) for key, value in near["setting"].items())
        text = work.say(
            "{condition} is kept by none. The nearest is {value}, with {setting}.",
            condition=one.text(work.words),
            value=one.format_value(float(near["best"]), work.words),
            setting=title,
        )
        found.append(
            Nearest(
                text, title, json.dumps(near["setting"]), f"{one.title} {one.sign} {one.format_value(instead, work.words)}", fields
            )
        )
    return found


def relax_limit(best: float, at_least: bool) -> float:
    """A round limit that a figure keeps."""
    return (math.floor if at_least else math.ceil)(best * 10_000) / 10_000
