"""The form of the page Compare: what varies, which methods, what is measured, which conditions must be kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from velado.choices import kind_of
from velado.errors import InputError, VeladoError
from velado.evaluation import MEASURES
from velado.evaluation.kolmogorov import KEPT
from velado.methods import METHODS
from velado.models import MODELS
from velado.parameters import required_of
from velado.questions.compare import DEFAULT_K, grid_parameters
from velado.questions.grid import grid_of
from velado.sentences import Sentence
from velado.service.jobs.answers import JobAnswer
from velado.service.sources.schemas import SourceAnswer
from velado.service.web.problems import ProblemPart, part
from velado.studio.project_page import ProjectPage
from velado.studio.views.comparison_view import format_value, label, upper

COMPARE, BALANCE = QUESTIONS = ("compare", "balance")
EXAMPLES = {
    "k": "2..25",
    "l": "2..12",
    "c": "2..12",
    "t": "0.1..1:0.1",
    "beta": "0.5..4:0.5",
    "delta": "0.5..3:0.5",
    "alpha": "0.1..1:0.1",
    "risk": "0.05..0.5:0.05",
    "q": "2..25",
    "suppression": "0, 0.01, 0.05, 0.1",
}
"""Values that are usually tried."""
TERMS = {
    "k": "k-anonymity",
    "l": "l-diversity",
    "c": "recursive-diversity",
    "t": "t-closeness",
    "beta": "beta-likeness",
    "delta": "delta-disclosure",
    "alpha": "alpha-k",
    "risk": "average-risk",
    "q": "q-anonymity",
    "suppression": "suppression-limit",
    "method": "method",
}
TITLES = {
    "privacy": Sentence("privacy of the original and of each setting"),
    "aggregates": Sentence("answers about numbers: smallest, largest, mean, most frequent"),
    "ks": Sentence("distributions of numbers (Kolmogorov–Smirnov)"),
    "queries": Sentence("1,000 random COUNT queries"),
}
"""What may be measured beside loss, risk and suppressed records."""
MEASURED = ("ks", "privacy")
LIMITS = {"ks": KEPT, "loss": 0.25}
"""Conditions that are suggested: that of the Anonylitics thesis, where there are numbers."""
NUMBERS = {"integer", "decimal", "float"}


@dataclass(frozen=True)
class Varied:
    """A parameter that can be tried with several values: what it is now, and what was typed."""

    name: str
    title: str
    meaning: str
    now: str
    text: str
    example: str
    term: str
    wrong: str = ""


@dataclass(frozen=True)
class Wish:
    """A condition that can be asked for."""

    name: str
    title: str
    meaning: str
    sign: str
    text: str
    high: float | None
    wrong: str = ""


@dataclass(frozen=True)
class CompareForm:
    """The form: what varies, which methods, what is measured, which conditions."""

    question: str
    varied: list[Varied]
    methods: list[tuple[str, str, bool]]
    measures: list[tuple[str, str, bool]]
    wishes: list[Wish]
    wrong: ProblemPart | None = None


@dataclass(frozen=True)
class FormProblems:
    """What is wrong with a form: the problem itself, or texts by field."""

    problem: VeladoError | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


def parameters_of(work: ProjectPage, question: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The parameters of the job, and what is wrong by field."""
    form, wrong = work.form, dict[str, str]()
    grid: dict[str, list[Any]] = {}
    for name, text in form.under("grid").items():
        if text.strip() and name in grid_parameters():
            try:
                grid |= grid_of({name: text})
            except InputError as error:
                wrong[f"grid.{name}"] = _problem_text(work, error)
    if form.all("method"):
        grid["method"] = form.all("method")
    found: dict[str, Any] = {"table": work.table} if work.table else {}
    if question == COMPARE:
        if not grid and not wrong:
            wrong["grid.k"] = work.say("Say which values to try, such as 2..25.")
        return {**found, "grid": grid, "measures": [name for name in form.all("measure") if name in MEASURES]}, wrong
    limits: dict[str, float] = {}
    for name, text in form.under("condition").items():
        if text.strip():
            try:
                limits[name] = float(text.replace(",", "."))
            except ValueError:
                wrong[f"condition.{name}"] = work.say("This is no number.")
    if not limits and not wrong:
        wrong["condition.loss"] = work.say("Say what must be kept: at least one condition.")
    return {**found, "conditions": limits, **({"grid": grid} if grid else {})}, wrong


def _problem_text(work: ProjectPage, error: VeladoError) -> str:
    told = part(error, work.words.code)
    return " ".join(text for text in (told["message"], told.get("hint")) if text)


def build_form(work: ProjectPage, question: str, shown: JobAnswer | None, refused: FormProblems) -> CompareForm:
    """The form, with what was typed, else with what the shown result was asked."""
    sent, given = bool(work.form.fields), (shown.parameters if shown is not None else None) or {}
    grid: Mapping[str, Any] = given.get("grid") or ({} if shown is not None and question == COMPARE else {"k": list(DEFAULT_K)})
    typed = work.form.under("grid") if sent else {name: ranges(values) for name, values in grid.items() if name != "method"}
    chosen = work.form.all("method") if sent else grid.get("method") or []
    measured = work.form.all("measure") if sent else given.get("measures") or MEASURED
    limits = _limits(work) if shown is None else given.get("conditions") or {}
    wanted = work.form.under("condition") if sent else {name: f"{limit:g}" for name, limit in limits.items()}
    problem = None if refused.problem is None else ProblemPart(**part(refused.problem, work.words.code))
    return CompareForm(
        question,
        list(_varying_parameters(work, typed, refused.fields)),
        _methods(work, chosen),
        [(name, TITLES[name].into(work.words.code), name in measured) for name in MEASURES if name in TITLES],
        [_wish(entry, wanted, refused.fields) for entry in kind_of("conditions").entries(work.words.code)],
        problem,
    )


def ranges(values: Iterable[Any]) -> str:
    """Values as people write them: what follows one by one as a range."""
    given, found, at = list(values), list[str](), 0
    while at < len(given):
        end = at
        while end + 1 < len(given) and isinstance(given[end], int) and given[end + 1] == given[end] + 1:
            end += 1
        if end - at > 1:
            found.append(f"{given[at]}..{given[end]}")
        else:
            found += [f"{value:g}" if isinstance(value, float) else str(value) for value in given[at : end + 1]]
        at = end + 1
    return ", ".join(found)


def _varying_parameters(work: ProjectPage, typed: Mapping[str, str], wrong: Mapping[str, str]) -> Iterable[Varied]:
    """The parameters that can vary here: those of the project's models and method, and k."""
    models, (method, said) = work.part.models, work.part.method
    for name in grid_parameters():
        if name == "method":
            continue
        if name == "suppression":
            if name not in METHODS[method].parameters:
                continue
            values, meaning = [said.get(name, 0)], METHODS[method].parameters[name].help
        else:
            having = [(model, own) for model, own in models if name in MODELS[model].parameters]
            if not having and name != "k":
                continue
            values = list(dict.fromkeys(own[name] for _, own in having if name in own))
            kind = MODELS[having[0][0]] if having else MODELS["k-anonymity"]
            meaning = kind.parameters[name].help
        now = ", ".join(format_value(name, value, work.words) for value in values)
        yield Varied(
            name,
            label(name, work.words),
            upper(Sentence(meaning).into(work.words.code)),
            now,
            typed.get(name, ""),
            EXAMPLES.get(name, ""),
            TERMS[name],
            wrong.get(f"grid.{name}", ""),
        )


def _methods(work: ProjectPage, chosen: Iterable[str]) -> list[tuple[str, str, bool]]:
    """The methods that can satisfy the project's models, and need no parameters of their own."""
    models = {name for name, _ in work.part.models}
    entries = kind_of("methods").entries(work.words.code)
    return [
        (entry["name"], upper(entry["title"].partition(":")[0]), entry["name"] in set(chosen))
        for entry in entries
        if models <= set(entry["models"]) and not required_of(METHODS[entry["name"]]) and entry["name"] != "fuzzy"
    ]


def _wish(entry: Mapping[str, Any], wanted: Mapping[str, str], wrong: Mapping[str, str]) -> Wish:
    name = entry["name"]
    return Wish(
        name,
        upper(entry["title"]),
        entry["meaning"],
        "≥" if entry["limit"] == "at least" else "≤",
        wanted.get(name, ""),
        entry["range"][1],
        wrong.get(f"condition.{name}", ""),
    )


def _limits(work: ProjectPage) -> dict[str, float]:
    name = "ks" if numbers_in(work, work.source) else "loss"
    return {name: LIMITS[name]}


def numbers_in(work: ProjectPage, source: SourceAnswer | None) -> list[str]:
    """The quasi-identifiers that are numbers."""
    types = {} if source is None else {column.name: column.type for column in source.columns}
    columns = work.part.columns
    return [name for name in work.part.with_role("quasi-identifier") if (columns[name].type or types.get(name)) in NUMBERS]
