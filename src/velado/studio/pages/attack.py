"""The page 'Attack': which adversary is tried on a release, what they learn, and what would have prevented it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Response

from velado.attacks import ATTACKS
from velado.attacks.descriptions import describe_attack, figure_title, is_share, main_figure
from velado.choices import kind_of
from velado.errors import InputError, VeladoError
from velado.results import Discreet
from velado.sentences import Sentence
from velado.service.errors import NotFound
from velado.service.jobs import operations as jobs
from velado.service.jobs.answers import JobAnswer
from velado.service.jobs.kinds import KINDS
from velado.service.projects import operations as projects
from velado.service.projects.document import Document
from velado.service.releases import operations as releases
from velado.service.releases.schemas import ReleaseChoice, ReleaseEntry
from velado.service.sources import operations as sources
from velado.service.sources.schemas import SourceAnswer
from velado.service.web.problems import ProblemPart, part
from velado.studio.forms import apply_settings
from velado.studio.project_page import ProjectPage, Working
from velado.studio.request import PageRoute
from velado.studio.views.comparison_view import upper
from velado.studio.views.exposure_view import exposed_of

router = APIRouter(route_class=PageRoute)
KIND = "attack"
ALL = "all"
"""What is tried where no adversary is chosen."""
LISTED = 200
KNOWS = {
    "lookup": Sentence(
        "Knows what other published columns say of a person that others could know, such as the day of a visit; one by one, and all together."
    ),
    "homogeneity": Sentence("Knows that a person is in the table, and the person's quasi-identifiers."),
    "background": Sentence("Knows a person's quasi-identifiers, and some sensitive values that the person does not have."),
    "skewness": Sentence("Knows a person's quasi-identifiers, and how frequent each sensitive value is."),
    "similarity": Sentence("Knows a person's quasi-identifiers, and which sensitive values are nearly the same."),
    "linkage": Sentence("Has another table about the same people, with names and quasi-identifiers."),
    "order": Sentence("Has a list of the same people in the order of the original, or another release."),
    "releases": Sentence("Has another release of the same table."),
}
"""What each adversary knows beside the release."""
LACKS = {
    "columns": Sentence("Every published column is a quasi-identifier: there is nothing else to look people up by."),
    "sensitive": Sentence("No column of the release is sensitive."),
    "external": Sentence("Choose a table of known people above."),
    "other": Sentence("Choose another release above. There must be two."),
    "original": Sentence("The original is not there any more."),
}
"""What is missing for an adversary."""
OF_TABLE = {"tree": "sensitive", "numbers": "sensitive"}
"""What shows itself only when the columns are read."""

NOTES = {
    "know": Sentence("How many values the adversary knows that a person does not have."),
    "confidence": Sentence("From 0 to 1. 1: only what is certain."),
    "factor": Sentence("2: more than twice as likely as in the whole table."),
}
"""What the number of a parameter means."""

FAILED = ("if_known", "singled_out_by_all", "singled_out_alone", "highest_confidence", "in_order", "smallest_combined")
"""The figure that says most where an attack fails."""


@dataclass(frozen=True, repr=False)
class Adversary(Discreet):
    """A card: who tries what, with which parameters; ``lacks`` says why it cannot be tried."""

    name: str
    title: str
    meaning: str
    knows: str
    fields: list[dict[str, Any]]
    lacks: str = ""


@dataclass(frozen=True)
class Remedy:
    """What would have prevented an attack. ``action``: add or change a model, shuffle, columns (to go there), done, or nothing."""

    text: str
    action: str = ""
    code: str = ""
    now: str = ""


@dataclass(frozen=True, repr=False)
class Outcome(Discreet):
    """What came of one attack, as it is shown; ``number`` is its place in the result."""

    number: int
    name: str
    title: str
    tried: str
    succeeded: bool
    expected: bool
    gist: str
    figures: list[tuple[str, str]]
    head: list[str]
    exposed: list[dict[str, Any]]
    remedies: list[Remedy]


@dataclass(frozen=True)
class Beside:
    """The tables that the adversary has beside the release."""

    sources: list[SourceAnswer] = field(default_factory=list)
    releases: list[ReleaseChoice] = field(default_factory=list)
    external: SourceAnswer | None = None
    other: str = ""
    quasi: list[str] = field(default_factory=list)
    people: list[str] = field(default_factory=list)

    def like(self, column: str) -> str:
        """The column of the external table that has the name of one of the original, or nearly so."""
        names = [] if self.external is None else [c.name for c in self.external.columns]
        alike = [name for name in names if name.casefold() == column.casefold()]
        return column if column in names else alike[0] if alike else ""


@router.get("/projects/{id}/attack")
def attack(work: Working) -> Response:
    """Adversaries, and what those came to that were tried."""
    return _page(work)


def _page(work: ProjectPage, status: int = 200, wrong: VeladoError | None = None) -> Response:
    release = work.release()
    if release is None:
        return work.show("attack.html", "attack", status, release=None)
    made = _description(work, release)
    tries = _tries(work, release)
    shown = _choose_job(work, tries)
    listed = releases.list_choices(work.call, work.id)
    beside = _beside(work, release, made, listed)
    outcomes = _outcomes(work, jobs.read_result(work.call, shown.id)) if shown and _readable(work, shown) else []
    figures = release.part(work.table)
    return work.show(
        "attack.html",
        "attack",
        status,
        release=release,
        releases=listed,
        light=made.is_light,
        beside=beside,
        adversaries=[] if made.is_light else _adversaries(work, made, beside, shown),
        everything=_everything(work, shown),
        tries=tries,
        shown=shown,
        outcomes=outcomes,
        told=adversary_titles(work),
        wrong=None if wrong is None else ProblemPart(**part(wrong, work.words.code)),
        act=[one for one in outcomes if not one.expected],
        usual=[one for one in outcomes if one.expected],
        joint=exposed_of(figures, work.words),
        highest=(figures.get("risk") or {}).get("highest"),
    )


@router.post("/projects/{id}/attack")
def try_it(work: Working) -> Response:
    """Put the attack into the queue."""
    release = work.release()
    if release is None:
        raise NotFound()
    try:
        job = work.submit(KIND, release=release.id, parameters=_parameters(work))
    except VeladoError as error:
        return _page(work, 422, error)
    return work.go(work.address("attack", **_query(work), result=job))


@router.post("/projects/{id}/attack/prevent")
def prevent(work: Working) -> Response:
    """Put what would have prevented an attack into the project."""
    remedy = _remedy(work, work.form.text("result"), work.form.text("attack"), work.form.text("remedy"))
    model = remedy.get("model")
    if model is None:
        said = work.say("The next run releases the rows in random order.")
        return work.save(lambda part: part.put("output", {**part.output, "order": "shuffle"}), work.address("run"), said)
    models = apply_settings.add_model(work.part, model, remedy.get("parameters") or {})
    said = work.say("{model} is in the project now. Run it again: the attack fails then.", model=_requirement(work, remedy))
    return work.save(lambda part: part.put("models", models), work.address("privacy"), said)


# What is tried


def _parameters(work: ProjectPage) -> dict[str, Any]:
    """The parameters of the job, from the form of all adversaries or from that of one."""
    form, only = work.form, work.form.text("only", ALL)
    given = {name: _number(name, text) for name, text in form.under(only).items() if text.strip()}
    needs = {need for group in ATTACKS[only].needs for need in group} if only in ATTACKS else {"external", "other"}
    found: dict[str, Any] = {**given, **({} if only == ALL else {"only": [only]}), **({"table": work.table} if work.table else {})}
    if "external" in needs and form.text("external"):
        found |= {
            "external": form.text("external"),
            **_match_columns(form.under("match"), form.text("identity"), form.text("theirs")),
        }
    if "other" in needs and form.text("other"):
        found["other"] = form.text("other")
    return found


def _match_columns(columns: Mapping[str, str], identity: str, theirs: str) -> dict[str, Any]:
    """Which column of the external table is which."""
    lacking = [column for column, name in columns.items() if not name]
    if lacking:
        raise InputError(
            "no-match",
            "say which column of the external table this is",
            column=lacking[0],
            hint="An adversary without it cannot link people by it: choose another table.",
        )
    match = {column: name for column, name in columns.items() if name != column}
    if identity and theirs and theirs != identity:
        match[identity] = theirs
    return {**({"match": match} if match else {}), **({"identity": identity} if identity else {})}


def _number(name: str, text: str) -> float:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        raise InputError("bad-number", Sentence("'{name}' must be a number", name=name)) from None
    return int(value) if value.is_integer() else value


def _query(work: ProjectPage) -> dict[str, str]:
    """What the address says of the release and of other tables."""
    query = work.request.query_params
    named = {name: work.form.text(name) or query.get(name, "") for name in ("release", "external", "other")}
    return {name: value for name, value in named.items() if value}


# What there is


def _description(work: ProjectPage, release: ReleaseEntry) -> Document:
    """The chosen table as the project described it when the release was made."""
    try:
        document = Document(projects.read_version(work.call, work.id, release.version).document)
    except NotFound:
        document = work.document
    return document.table(work.table if work.table in document.tables else None)


def _beside(work: ProjectPage, release: ReleaseEntry, made: Document, listed: Sequence[ReleaseChoice]) -> Beside:
    """Tables of who looks, other releases, and those of them that are chosen."""
    if not work.can("jobs.analyse"):
        return Beside()
    query = work.request.query_params
    tables = [one for one in sources.list_sources(work.call, limit=LISTED).items if one.state == "ready"]
    others = [one for one in listed if one.id != release.id and one.state != "withdrawn"]
    wanted = work.form.text("external") or query.get("external", "")
    external = next((one for one in tables if one.id == wanted), None)
    other = work.form.text("other") or query.get("other", "")
    source, quasi = work.source, made.with_role("quasi-identifier")
    people = [] if source is None else [c.name for c in source.columns if c.name not in quasi]
    return Beside(tables, others, external, other if other in {one.job for one in others} else "", quasi, people)


def _adversaries(work: ProjectPage, made: Document, beside: Beside, shown: JobAnswer | None) -> list[Adversary]:
    """All adversaries of the catalog, with what each lacks."""
    roles = {name: made.with_role(name) for name in ("sensitive", "insensitive")}
    there = {
        "columns": bool(roles["sensitive"] or roles["insensitive"] or made.rest == "insensitive"),
        "sensitive": bool(roles["sensitive"]),
        "external": beside.external is not None,
        "other": bool(beside.other),
        "original": work.source is not None,
    }
    found = []
    for entry in kind_of("attacks").entries(work.words.code):
        name = entry["name"]
        lacking = [group for group in entry["needs"] if not any(there[OF_TABLE.get(need, need)] for need in group)]
        lacks = "" if not lacking else LACKS[OF_TABLE.get(lacking[0][-1], lacking[0][-1])].into(work.words.code)
        knows = KNOWS[name].into(work.words.code) if name in KNOWS else ""
        fields = _fields(work, entry["parameters"]["properties"], shown)
        found.append(Adversary(name, upper(entry["title"]), entry["meaning"], knows, fields, lacks))
    return found


def _everything(work: ProjectPage, shown: JobAnswer | None) -> list[dict[str, Any]]:
    """The parameters of all adversaries together."""
    properties: dict[str, Any] = {}
    for entry in kind_of("attacks").entries(work.words.code):
        properties |= entry["parameters"]["properties"]
    return _fields(work, properties, shown)


def _fields(work: ProjectPage, properties: Mapping[str, Any], shown: JobAnswer | None) -> list[dict[str, Any]]:
    """Parameters as fields of a form, with the values of what is shown; not those that ask about values of one's own choice."""
    closed = () if work.can("records.read") else KINDS[KIND].probing
    given = (shown.parameters if shown is not None else None) or {}
    return [
        {
            "name": name,
            "title": upper(about.get("description", name)),
            "value": f"{given.get(name, about.get('default')):g}",
            "whole": about["type"] == "integer",
            "low": about.get("minimum", about.get("exclusiveMinimum")),
            "high": about.get("maximum") if about.get("maximum", 2**53) <= 1_000_000 else None,
            "expert": bool(about.get("x-expert")),
            "note": NOTES[name].into(work.words.code) if name in NOTES else "",
        }
        for name, about in properties.items()
        if name not in closed
    ]


# What was tried


def _tries(work: ProjectPage, release: ReleaseEntry) -> list[JobAnswer]:
    """The attacks on a release, the newest first."""
    if not work.can("jobs.read"):
        return []
    found = jobs.list_jobs(work.call, project=work.id, kind=KIND, limit=LISTED).items
    return [one for one in found if one.release == release.id and (one.parameters or {}).get("table") == work.table]


def _choose_job(work: ProjectPage, tries: Sequence[JobAnswer]) -> JobAnswer | None:
    wanted = work.request.query_params.get("result")
    if wanted is None:
        return tries[0] if tries else None
    found = next((one for one in tries if one.id == wanted), None)
    if found is None:
        raise NotFound()
    return found


def _readable(work: ProjectPage, job: JobAnswer) -> bool:
    return job.state == "done" and work.can("results.read")


def adversary_titles(work: ProjectPage) -> dict[str, str]:
    """Titles of adversaries by their names."""
    return {entry["name"]: upper(entry["title"]) for entry in kind_of("attacks").entries(work.words.code)}


def _outcomes(work: ProjectPage, result: Mapping[str, Any]) -> list[Outcome]:
    """What came of the attacks of a job."""
    titles, models = (adversary_titles(work), {entry["name"]: entry for entry in kind_of("models").entries(work.words.code)})
    return [_outcome(work, number, said, titles, models) for number, said in enumerate(result.get("attacks") or ())]


def _outcome(
    work: ProjectPage, number: int, said: Mapping[str, Any], titles: Mapping[str, str], models: Mapping[str, Any]
) -> Outcome:
    name, column, figures = said["name"], said.get("column"), said.get("figures") or {}
    main = main_figure(figures) if said["succeeded"] else next((key for key in FAILED if key in figures), None)
    gist = "" if main is None else f"{upper(figure_title(main).into(work.words.code))}: {_figure(work, main, figures[main])}"
    exposed = [dict(one) for one in said.get("exposed") or ()]
    return Outcome(
        number,
        name,
        f"{titles[name]}: {column}" if column else titles[name],
        describe_attack(ATTACKS[name], name, column, said.get("against")).into(work.words.code),
        bool(said["succeeded"]),
        bool(said["expected"]),
        gist,
        [(upper(figure_title(key).into(work.words.code)), _figure(work, key, value)) for key, value in figures.items()],
        list(next((one["labels"] for one in exposed if one.get("labels")), {})),
        exposed,
        [
            _build_remedy(work, remedy, spoken, models)
            for remedy, spoken in zip(said.get("prevented_by") or (), said.get("remedies") or (), strict=False)
        ],
    )


def _figure(work: ProjectPage, name: str, value: Any) -> str:
    return work.words.percent(value) if is_share(name) else work.words.number(value, 4)


# What would have prevented it


def _build_remedy(work: ProjectPage, remedy: Mapping[str, Any], spoken: Mapping[str, str], models: Mapping[str, Any]) -> Remedy:
    """A remedy, and what can be done about it here."""
    text, model, measure = spoken.get(work.words.code, ""), remedy.get("model"), remedy.get("measure")
    if model is None:
        action = {"shuffle": "shuffle", "role": "columns", "leave-out": "columns"}.get(str(measure), "")
        if action == "shuffle" and work.part.output.get("order", "shuffle") == "shuffle":
            action = "done"
        return Remedy(upper(text), action)
    title = _requirement(work, remedy, models)
    if measure is not None:
        return Remedy(title, code=text)
    given = remedy.get("parameters") or {}
    there = apply_settings.existing_model(work.part, model, given)
    if apply_settings.is_strong_enough(work.part, model, given):
        return Remedy(title, "done", text)
    now = "" if there is None else _strength(work, models[model], there)
    return Remedy(title, "add" if there is None else "change", text, now)


def _requirement(work: ProjectPage, remedy: Mapping[str, Any], models: Mapping[str, Any] | None = None) -> str:
    """A model and what it requires, in a few words."""
    known = models or {entry["name"]: entry for entry in kind_of("models").entries(work.words.code)}
    entry, given = known[str(remedy["model"])], remedy.get("parameters") or {}
    column = given.get("column")
    strength = _strength(work, entry, given)
    return f"{entry['title']}: {strength}" + (f" ({column})" if column else "")


def _strength(work: ProjectPage, entry: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    said = entry["strength"].items()
    return ", ".join(f"{s['symbol']} {s['sign']} {work.words.number(given[name], 4)}" for name, s in said if name in given)


def _remedy(work: ProjectPage, job: str, attack: str, remedy: str) -> Mapping[str, Any]:
    """A remedy of a result of this project, by its place there."""
    listed = jobs.list_jobs(work.call, project=work.id, kind=KIND, limit=LISTED).items
    if job not in {one.id for one in listed}:
        raise NotFound()
    try:
        found: Mapping[str, Any] = jobs.read_result(work.call, job)["attacks"][int(attack)]["prevented_by"][int(remedy)]
    except (KeyError, IndexError, ValueError):
        raise NotFound() from None
    return found
