"""What a table has before anything is done: the figures of its models, measured by a job, once for each choice of columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from velado.service.jobs import operations as jobs
from velado.service.jobs.answers import JobAnswer
from velado.service.sources.schemas import SourceAnswer
from velado.studio.forms import privacy_settings
from velado.studio.project_page import ProjectPage

KIND = "check"


class Original:
    """The figures of the table as it is; ``job`` measures them, or could not; ``unasked``: they can be measured, by a job yet to be submitted."""

    def __init__(self, job: JobAnswer | None, figures: Mapping[str, Any], *, unasked: bool = False) -> None:
        self.job, self._figures, self.unasked = job, figures, unasked

    @property
    def is_measuring(self) -> bool:
        """Whether the figures are on their way."""
        return self.job is not None and self.job.state in ("queued", "running")

    def figure_of(self, entry: privacy_settings.Entry, parameters: Mapping[str, Any]) -> Any:
        """What the table has of a model with these parameters, a dash if it has nothing; None: it is not known."""
        key = _key(_plain(entry, parameters))
        found = self._figures.get(key)
        return "–" if found is None and key in self._figures else found


NOTHING = Original(None, {})


def original(work: ProjectPage, source: SourceAnswer | None, known: Mapping[str, privacy_settings.Entry]) -> Original:
    """The figures of the chosen table, of the models that a project has and of those that it might have."""
    wanted = _job_parameters(work, source, known)
    if source is None or wanted is None:
        return NOTHING
    job = _find_job(work, source, wanted)
    if job is None or job.state != "done":
        return Original(job, {}, unasked=job is None)
    verdicts = jobs.read_result(work.call, job.id).get("models") or []
    pairs = zip(wanted["models"], verdicts, strict=False)
    return Original(job, {_key(model): verdict.get("achieved") for model, verdict in pairs})


def measure(work: ProjectPage, source: SourceAnswer | None, known: Mapping[str, privacy_settings.Entry]) -> None:
    """Have the figures measured, unless they are, or are on their way."""
    wanted = _job_parameters(work, source, known)
    if source is not None and wanted is not None and _find_job(work, source, wanted) is None:
        work.submit(KIND, source=source.id, parameters=wanted)


def _job_parameters(
    work: ProjectPage, source: SourceAnswer | None, known: Mapping[str, privacy_settings.Entry]
) -> dict[str, Any] | None:
    """The parameters of the job; None if nothing can be measured yet, or not by who looks."""
    if source is None or source.state != "ready" or not work.can("jobs.analyse"):
        return None
    part = work.part
    quasi, sensitive = (part.with_role("quasi-identifier"), part.with_role("sensitive"))
    if not quasi or part.is_light:
        return None
    models = [_plain(known[m.name], m.parameters) for m in part.models if m.name in known]
    models += [_plain(entry, parameters) for entry in known.values() if (parameters := example(entry, sensitive)) is not None]
    judged = {_key(model): model for model in models if _can_be_judged(known, model, sensitive)}
    kind, person = part.unit
    return {
        "quasi_identifiers": quasi,
        "sensitive": sensitive,
        "models": list(judged.values())[:50],
        **({"person": person} if kind == "person" and person != "rows" else {}),
        **({"variants": part.variants} if part.variants else {}),
    }


def example(entry: privacy_settings.Entry, sensitive: list[str]) -> dict[str, Any] | None:
    """The parameters that a model begins with in a project; None if it protects a column and no column is sensitive."""
    found = dict(next(iter((entry["example"] or {entry["name"]: {}}).values())))
    for name, about in entry["parameters"]["properties"].items():
        if about.get("x-column") and name in entry["parameters"]["required"]:
            if not sensitive:
                return None
            found[name] = sensitive[0]
        if about.get("x-file"):
            found.pop(name, None)
    return found


def _plain(entry: privacy_settings.Entry, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A model as its figure is measured: how much of it is asked for makes no difference to what a table has."""
    given = dict(parameters)
    usual = next(iter((entry["example"] or {entry["name"]: {}}).values()))
    for name, strength in entry["strength"].items():
        if strength["sign"] != "=" and name in usual:
            given[name] = usual[name]
    return {entry["name"]: given}


def _can_be_judged(known: Mapping[str, privacy_settings.Entry], model: Mapping[str, Any], sensitive: list[str]) -> bool:
    """Whether a table without any recoding can be judged: fuzzy classes are made by a method, a tree is not told to the job."""
    ((name, given),) = model.items()
    entry = known[name]
    properties = entry["parameters"]["properties"]
    if entry["judges"] == "fuzzy" or any(needed not in given for needed in entry["parameters"]["required"]):
        return False
    if any(about.get("x-column") and given.get(key) not in sensitive for key, about in properties.items() if key in given):
        return False
    return "hierarchical" not in given.values()


def _find_job(work: ProjectPage, source: SourceAnswer, wanted: Mapping[str, Any]) -> JobAnswer | None:
    """The job that measures this, unless the table was read anew since."""
    read = next((j for j in jobs.list_jobs(work.call, kind="inspect", limit=200).items if j.id == source.job), None)
    asked = _key(wanted)
    for job in jobs.list_jobs(work.call, kind=KIND, limit=200).items:
        mine = job.source == source.id and job.parameters is not None and _key(job.parameters) == asked
        if mine and (read is None or job.created >= read.created):
            return job
    return None


def _key(data: Any) -> str:
    return json.dumps(data, sort_keys=True, ensure_ascii=False, default=str)
