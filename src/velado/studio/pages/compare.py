"""The page 'Compare': settings side by side, the strongest that keeps what the data are needed for, adopting one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fastapi import APIRouter, Response

from velado.errors import VeladoError
from velado.questions.compare import DEFAULT_K
from velado.service.comparisons import operations as comparisons
from velado.service.comparisons.kept_results import ResultEntry
from velado.service.errors import NotFound
from velado.service.jobs import operations as jobs
from velado.service.jobs.answers import JobAnswer
from velado.service.jobs.parameters import Report
from velado.service.projects.document import Document
from velado.service.releases import operations as releases
from velado.studio.forms import apply_settings
from velado.studio.forms.comparison_form import (
    BALANCE,
    COMPARE,
    QUESTIONS,
    TITLES,
    FormProblems,
    build_form,
    numbers_in,
    parameters_of,
    ranges,
)
from velado.studio.project_page import ProjectPage, Working
from velado.studio.request import PageRoute
from velado.studio.views.balance_view import balance_of, nearest
from velado.studio.views.comparison_view import Compared, Picture, SettingRow, conditions, format_parameter, format_value, label

router = APIRouter(route_class=PageRoute)
LISTED = 100
THESIS = {"split": "distribution", "represent": "mode", "width": "std"}
"""Mondrian as in the Anonylitics thesis: what is released are numbers."""


@router.get("/projects/{id}/compare")
def compare(work: Working) -> Response:
    """Settings side by side, or the balance."""
    return _page(work)


def _page(work: ProjectPage, status: int = 200, refused: FormProblems | None = None) -> Response:
    entries = _entries(work)
    question = _question(work, entries)
    shown = _result_job(work, entries, question)
    blocked = _blocking_reason(work)
    context: dict[str, Any] = {
        "question": question,
        "entries": entries,
        "shown": shown,
        "blocked": blocked,
        "compared": None,
        "balanced": None,
        "near": [],
        "asked": None if blocked or not work.can("jobs.analyse") else build_form(work, question, shown, refused or FormProblems()),
        "numbers": numbers_in(work, work.source),
        "thesis": _is_thesis(work),
        "titles": _titles(work, entries),
        "measure_titles": {name: title.into(work.words.code) for name, title in TITLES.items()},
    }
    if shown is not None and shown.state == "done" and work.can("results.read"):
        context |= _result_context(work, shown)
    if shown is not None and shown.error is not None and shown.error.code == "no-balance":
        context["near"] = nearest(work, shown)
    return work.show("compare.html", "compare", status, **context)


@router.post("/projects/{id}/compare")
def try_them(work: Working) -> Response:
    """Put a comparison or a balance into the queue."""
    question = BALANCE if work.form.text("question") == BALANCE else COMPARE
    parameters, wrong = parameters_of(work, question)
    if wrong:
        return _page(work, 422, FormProblems(fields=wrong))
    try:
        job = work.submit(question, project=work.id, parameters=parameters)
    except VeladoError as error:
        return _page(work, 422, FormProblems(error))
    return work.go(work.address("compare", question=question, result=job))


@router.post("/projects/{id}/compare/adopt")
def adopt(work: Working) -> Response:
    """Put a setting that was tried into the project."""
    job = next((one for one in _jobs(work) if one.id == work.form.text("result")), None)
    if job is None:
        raise NotFound()
    setting = _setting(job, work.form.text("setting"))
    changed = apply_settings.adopt_setting(work.part, setting)

    def change(part: Document) -> None:
        for key, value in changed.items():
            part.put(key, value)

    title = ", ".join(format_parameter(name, value, work.words) for name, value in setting.items())
    return work.save(change, work.address("run"), work.say("{setting}: that is the project now. Run it.", setting=title))


@router.post("/projects/{id}/compare/report")
def report(work: Working) -> Response:
    """Put the settings of a comparison into the report of the newest release."""
    job = next((one for one in _jobs(work) if one.id == work.form.text("result")), None)
    release = work.release()
    if job is None or release is None:
        raise NotFound()
    grid = (job.parameters or {}).get("grid") or {"k": list(DEFAULT_K)}
    body = Report.model_validate({"languages": [work.words.code], "grid": grid, "table": work.table})
    made = releases.write_reports(work.call, release.id, body)
    return work.go(work.address("publish", release=release.id, report=made.job), work.say("The report is being written."))


@router.post("/projects/{id}/compare/numbers")
def keep_numbers(work: Working) -> Response:
    """Release numbers as numbers: Mondrian as in the Anonylitics thesis."""
    own, said = work.part.method

    method = {"mondrian": {**(said if own == "mondrian" else {}), **THESIS}}
    said_ = work.say("The method is Mondrian now, and classes show their most frequent number.")
    return work.save(lambda part: part.put("method", method), work.address("compare", question=BALANCE), said_)


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


def _is_thesis(work: ProjectPage) -> bool:
    """Whether what is released of numbers are numbers."""
    method, said = work.part.method
    return method == "mondrian" and said.get("represent", "interval") != "interval"


def _blocking_reason(work: ProjectPage) -> str:
    """Why nothing can be compared: data, models, light, or nothing."""
    if work.part.is_light:
        return "light"
    if not work.part.with_role("quasi-identifier"):
        return "columns"
    return "" if work.part.models else "models"


# What was found


def _entries(work: ProjectPage) -> list[ResultEntry]:
    """The comparisons of the chosen table, the newest first."""
    if not work.can("results.read"):
        return []
    found = comparisons.list_comparisons(work.call, work.id, limit=LISTED).items
    return [one for one in found if one.parameters.get("table") == work.table]


def _jobs(work: ProjectPage, *kinds: str) -> list[JobAnswer]:
    if not work.can("jobs.read"):
        return []
    return [one for kind in kinds or QUESTIONS for one in jobs.list_jobs(work.call, project=work.id, kind=kind, limit=LISTED).items]


def _question(work: ProjectPage, entries: list[ResultEntry]) -> str:
    """Which of the two is asked: as the form or the address says, as the chosen result was."""
    wanted = work.form.text("question") or work.request.query_params.get("question", "")
    if wanted in QUESTIONS:
        return wanted
    chosen = work.request.query_params.get("result")
    return next((one.kind for one in entries if one.id == chosen), COMPARE)


def _result_job(work: ProjectPage, entries: list[ResultEntry], question: str) -> JobAnswer | None:
    """The result that is asked for, else the newest one of the question."""
    wanted = work.request.query_params.get("result")
    ids = [one.id for one in entries if one.id == wanted] if wanted else [one.id for one in entries if one.kind == question][:1]
    if wanted and not ids:
        raise NotFound()
    return next((one for one in _jobs(work) if one.id in ids), None)


def _titles(work: ProjectPage, entries: list[ResultEntry]) -> dict[str, str]:
    """What was compared, by result."""
    return {one.id: _title(work, one.parameters) for one in entries}


def _title(work: ProjectPage, parameters: Mapping[str, Any]) -> str:
    grid = parameters.get("grid") or {"k": list(DEFAULT_K)}
    varied = "; ".join(f"{label(name, work.words)}: {ranges(values)}" for name, values in grid.items())
    kept = ", ".join(one.text(work.words) for one in conditions(parameters.get("conditions") or {}, work.words))
    return f"{varied} · {kept}" if kept else varied


def _result_context(work: ProjectPage, shown: JobAnswer) -> dict[str, Any]:
    """A result: its table, curves and frontier, and the chosen setting of a balance."""
    compared = Compared(comparisons.read_comparison(work.call, shown.id).result, work.words)
    query = work.request.query_params
    axis = query.get("axis") if query.get("axis") in compared.axes else next(iter(compared.axes), None)
    everything = work.request.cookies.get("velado-simple", "1") != "1"
    balanced = balance_of(work, compared, axis) if shown.kind == BALANCE else None
    best = None if balanced is None else balanced.chosen
    sort, down = query.get("sort", ""), query.get("down") == "1"
    return {
        "compared": compared,
        "balanced": balanced,
        "axis": axis,
        "sort": sort,
        "down": down,
        "rows": compared.sort_rows(sort, down),
        "figures": compared.table_figures(everything),
        "curves": list(_curves(compared, axis, best, everything)) if axis else [],
        "release": work.release() if work.can("jobs.release") else None,
        "frontier": compared.frontier(_release_evaluation(work)),
        "head": {name: label(name, work.words) for name in compared.parameters},
        "cell": lambda row, name: format_value(name, row.parameters.get(name), work.words),
        "setting": lambda row: json.dumps(row.parameters),
        "is_now": _is_now(work),
        "changed": shown.version != work.project.version,
    }


def _curves(compared: Compared, axis: str, best: SettingRow | None, everything: bool) -> Iterable[Picture]:
    """A curve of each figure; the tests of all columns in one."""
    for figure in compared.table_figures(everything):
        if figure.at[0] != "ks":
            yield compared.curve(figure, axis, best)
    tested = compared.p_value_curve(axis, best)
    if tested is not None and best is None:
        yield tested


def _release_evaluation(work: ProjectPage) -> Mapping[str, Any] | None:
    """The evaluation of the newest release, if there is one."""
    newest = releases.newest_release(work.call, work.id)
    return None if newest is None else newest.parts().get(work.table or "")


def _is_now(work: ProjectPage) -> Callable[[SettingRow], bool]:
    """Whether a setting is what the project says already."""
    part = work.part

    def same(row: SettingRow) -> bool:
        changed = Document({**part.with_shared(), **apply_settings.adopt_setting(part, row.parameters)})
        return (changed.models, changed.method) == (part.models, part.method)

    return same
