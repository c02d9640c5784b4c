"""The page 'Compare': settings side by side, the strongest that keeps what the data are needed for, adopting one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fastapi import APIRouter, Response

from velado.errors import VeladoError
from velado.questions.compare import DEFAULT_K
from velado.service.errors import NotFound
from velado.service.jobs.parameters import Report
from velado.service.web.job_answer import JobAnswer
from velado.service.web.resources import jobs, releases, results
from velado.service.web.resources.results import ResultEntry
from velado.studio import adopting
from velado.studio.balanced import balance_of, nearest
from velado.studio.compared import Compared, Picture, Row, conditions, label, named, written
from velado.studio.comparing import (
    BALANCE,
    COMPARE,
    QUESTIONS,
    TITLES,
    Refused,
    asked,
    numbers_in,
    parameters_of,
    ranges,
)
from velado.studio.visit import PageRoute
from velado.studio.work import Work, Working

router = APIRouter(route_class=PageRoute)
LISTED = 100
THESIS = {"split": "distribution", "represent": "mode", "width": "std"}
"""Mondrian as in the Anonylitics thesis: what is released are numbers."""


@router.get("/projects/{id}/compare")
def compare(work: Working) -> Response:
    """Settings side by side, or the balance."""
    return _page(work)


def _page(work: Work, status: int = 200, refused: Refused | None = None) -> Response:
    entries = _entries(work)
    question = _question(work, entries)
    shown = _shown(work, entries, question)
    blocked = _blocked(work)
    context: dict[str, Any] = {
        "question": question, "entries": entries, "shown": shown, "blocked": blocked, "compared": None, "balanced": None, "near": [],
        "asked": None if blocked or not work.can("jobs.analyse") else asked(work, question, shown, refused or Refused()),
        "numbers": numbers_in(work, work.source), "thesis": _is_thesis(work), "titles": _titles(work, entries),
        "measure_titles": {name: title.into(work.words.code) for name, title in TITLES.items()},
    }  # fmt: skip
    if shown is not None and shown.state == "done" and work.can("results.read"):
        context |= _found(work, shown)
    if shown is not None and shown.error is not None and shown.error.code == "no-balance":
        context["near"] = nearest(work, shown)
    return work.show("compare.html", "compare", status, **context)


@router.post("/projects/{id}/compare")
def try_them(work: Working) -> Response:
    """Put a comparison or a balance into the queue."""
    question = BALANCE if work.form.text("question") == BALANCE else COMPARE
    parameters, wrong = parameters_of(work, question)
    if wrong:
        return _page(work, 422, Refused(fields=wrong))
    try:
        job = work.submit(question, project=work.id, parameters=parameters)
    except VeladoError as error:
        return _page(work, 422, Refused(error))
    return work.go(work.address("compare", question=question, result=job))


@router.post("/projects/{id}/compare/adopt")
def adopt(work: Working) -> Response:
    """Put a setting that was tried into the project."""
    job = next((one for one in _jobs(work) if one.id == work.form.text("result")), None)
    if job is None:
        raise NotFound()
    setting = _setting(job, work.form.text("setting"))
    changed = adopting.adopted(work.part, setting)

    def change(part: dict[str, Any]) -> None:
        part.update(changed)

    title = ", ".join(named(name, value, work.words) for name, value in setting.items())
    return work.save(
        change, work.address("run"), work.say("{setting}: that is the project now. Run it.", setting=title)
    )


@router.post("/projects/{id}/compare/report")
def report(work: Working) -> Response:
    """Put the settings of a comparison into the report of the newest release."""
    job = next((one for one in _jobs(work) if one.id == work.form.text("result")), None)
    release = work.release()
    if job is None or release is None:
        raise NotFound()
    grid = (job.parameters or {}).get("grid") or {"k": list(DEFAULT_K)}
    body = Report.model_validate({"languages": [work.words.code], "grid": grid, "table": work.table})
    made = releases.write_reports(work.call, release.id, body, Response())
    return work.go(
        work.address("publish", release=release.id, report=made.job), work.say("The report is being written.")
    )


@router.post("/projects/{id}/compare/numbers")
def keep_numbers(work: Working) -> Response:
    """Release numbers as numbers: Mondrian as in the Anonylitics thesis."""
    own, said = adopting.method_in(work.part)

    def change(part: dict[str, Any]) -> None:
        part["method"] = {"mondrian": {**(said if own == "mondrian" else {}), **THESIS}}

    said_ = work.say("The method is Mondrian now, and classes show their most frequent number.")
    return work.save(change, work.address("compare", question=BALANCE), said_)


def _setting(job: JobAnswer, text: str) -> dict[str, Any]:
    """A setting of a job's grid, as the form says it."""
    grid = (job.parameters or {}).get("grid") or {"k": list(DEFAULT_K)}
    try:
        setting = json.loads(text)
        known = bool(setting) and all(value in grid[name] for name, value in setting.items())
    except (ValueError, KeyError, AttributeError, TypeError):
        known = False
    if not known:
        raise NotFound()
    return dict(setting)


def _is_thesis(work: Work) -> bool:
    """Whether what is released of numbers are numbers."""
    method, said = adopting.method_in(work.part)
    return method == "mondrian" and said.get("represent", "interval") != "interval"


def _blocked(work: Work) -> str:
    """Why nothing can be compared: data, models, light, or nothing."""
    if work.part.get("anonymization") == "light":
        return "light"
    if not any(_role(said) == "quasi-identifier" for said in (work.part.get("columns") or {}).values()):
        return "columns"
    return "" if work.part.get("models") else "models"


def _role(said: Any) -> str:
    return str(said.get("role", "")) if isinstance(said, Mapping) else str(said)


# What was found


def _entries(work: Work) -> list[ResultEntry]:
    """The comparisons of the chosen table, the newest first."""
    if not work.can("results.read"):
        return []
    found = results.list_comparisons(work.call, work.id, limit=LISTED).items
    return [one for one in found if one.parameters.get("table") == work.table]


def _jobs(work: Work, *kinds: str) -> list[JobAnswer]:
    if not work.can("jobs.read"):
        return []
    return [
        one
        for kind in kinds or QUESTIONS
        for one in jobs.list_jobs(work.call, project=work.id, kind=kind, limit=LISTED).items
    ]


def _question(work: Work, entries: list[ResultEntry]) -> str:
    """Which of the two is asked: as the form or the address says, as the chosen result was."""
    wanted = work.form.text("question") or work.request.query_params.get("question", "")
    if wanted in QUESTIONS:
        return wanted
    chosen = work.request.query_params.get("result")
    return next((one.kind for one in entries if one.id == chosen), COMPARE)


def _shown(work: Work, entries: list[ResultEntry], question: str) -> JobAnswer | None:
    """The result that is asked for, else the newest one of the question."""
    wanted = work.request.query_params.get("result")
    ids = (
        [one.id for one in entries if one.id == wanted]
        if wanted
        else [one.id for one in entries if one.kind == question][:1]
    )
    if wanted and not ids:
        raise NotFound()
    return next((one for one in _jobs(work) if one.id in ids), None)


def _titles(work: Work, entries: list[ResultEntry]) -> dict[str, str]:
    """What was compared, by result."""
    return {one.id: _title(work, one.parameters) for one in entries}


def _title(work: Work, parameters: Mapping[str, Any]) -> str:
    grid = parameters.get("grid") or {"k": list(DEFAULT_K)}
    varied = "; ".join(f"{label(name, work.words)}: {ranges(values)}" for name, values in grid.items())
    kept = ", ".join(one.text(work.words) for one in conditions(parameters.get("conditions") or {}, work.words))
    return f"{varied} · {kept}" if kept else varied


def _found(work: Work, shown: JobAnswer) -> dict[str, Any]:
    """A result: its table, curves and frontier, and the chosen setting of a balance."""
    compared = Compared(results.read_comparison(work.call, shown.id).result, work.words)
    query = work.request.query_params
    axis = query.get("axis") if query.get("axis") in compared.axes else next(iter(compared.axes), None)
    everything = work.request.cookies.get("velado-simple", "1") != "1"
    balanced = balance_of(work, compared, axis) if shown.kind == BALANCE else None
    best = None if balanced is None else balanced.chosen
    sort, down = query.get("sort", ""), query.get("down") == "1"
    return {
        "compared": compared, "balanced": balanced, "axis": axis, "sort": sort, "down": down, "rows": compared.sorted(sort, down),
        "figures": compared.shown(everything), "curves": list(_curves(compared, axis, best, everything)) if axis else [],
        "release": work.release() if work.can("jobs.release") else None, "frontier": compared.frontier(_released(work)), "head": {name: label(name, work.words) for name in compared.parameters},
        "cell": lambda row, name: written(name, row.parameters.get(name), work.words),
        "setting": lambda row: json.dumps(row.parameters), "is_now": _is_now(work), "changed": shown.version != work.project.version,
    }  # fmt: skip


def _curves(compared: Compared, axis: str, best: Row | None, everything: bool) -> Iterable[Picture]:
    """A curve of each figure; the tests of all columns in one."""
    for figure in compared.shown(everything):
        if figure.at[0] != "ks":
            yield compared.curve(figure, axis, best)
    tested = compared.tested(axis, best)
    if tested is not None and best is None:
        yield tested


def _released(work: Work) -> Mapping[str, Any] | None:
    """The evaluation of the newest release, if there is one."""
    newest = releases.list_releases(work.call, work.id, limit=1).items
    if not newest or (work.table and work.table not in (newest[0].summary.get("tables") or {})):
        return None
    return releases.read_evaluation(work.call, newest[0].id, False, work.table)


def _is_now(work: Work) -> Callable[[Row], bool]:
    """Whether a setting is what the project says already."""
    before = {"models": adopting.written(adopting.models_in(work.part)), "method": adopting.method_in(work.part)}

    def same(row: Row) -> bool:
        changed = adopting.adopted(work.part, row.parameters)
        method = adopting.method_in(changed) if "method" in changed else before["method"]
        return changed.get("models", before["models"]) == before["models"] and method == before["method"]

    return same
