"""Attack a release: everything that the tables at hand allow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from velado.attacks import (
    ATTACKS,
    Attack,
    Attacker,
    Attacks,
    background,
    disclosure,
    homogeneity,
    linkage,
    lookup,
    lookup_together,
    order,
    order_of_releases,
    releases,
    similarity,
    skewness,
    within_reach,
)
from velado.errors import InputError, suggest
from velado.progress import Progress
from velado.project import AnyProject, Project
from velado.project.arguments import names_of
from velado.questions.adversary import Adversary
from velado.questions.evaluate import schema_and_models
from velado.questions.fuzzify import in_words
from velado.release.manifest import starred_rows
from velado.schema import Schema
from velado.sentences import Sentence, join_sentences
from velado.tables import Capability, Session, Source, Table, open_table

NEEDED = {
    "columns": Sentence("a column in the release that is no quasi-identifier"),
    "sensitive": Sentence("a sensitive column (--sensitive)"),
    "tree": Sentence("a value tree of a sensitive column (--hierarchy)"),
    "numbers": Sentence("a sensitive column of numbers"),
    "external": Sentence("an external table (--external)"),
    "original": Sentence("the original table (--original)"),
    "other": Sentence("another release of the same table (--other)"),
}


def attack(
    release: Any = None,
    quasi_identifiers: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    *,
    original: Any = None,
    external: Any = None,
    other: Any = None,
    match: Mapping[str, str] | None = None,
    identity: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    project: AnyProject | None = None,
    only: Collection[str] | None = None,
    know: int = 1,
    confidence: float = 1.0,
    factor: float = 2.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Attacks:
    """What an adversary can do with a release; every attack for which the tables are there, or ``only`` those named.

    Look-up tries every published column that is no quasi-identifier. Homogeneity, background knowledge (``know`` values can be ruled out), skewness (a value more than ``factor`` times
    as likely as in the original, or in the release if that is not given) and similarity (with a value tree in
    ``hierarchies``, or numbers) need sensitive columns. Linkage needs an ``external`` table with the same
    quasi-identifiers; ``match`` gives its names where they differ; with the ``original`` and an ``identity`` column in
    both, the links are checked. Order of rows needs the ``original`` or an ``other`` release of the same table;
    comparing releases needs the latter. A guess counts if it is surer than ``confidence`` (1: if it is certain).
    A ``project`` gives roles and hierarchies instead, and its source and output as original and release. What prevents an
    attack is named only where the table can reach it.

    >>> import pyarrow as pa
    >>> release = pa.table({"age": ["<50"] * 3 + [">=50"] * 2, "ill": ["flu", "flu", "flu", "flu", "asthma"]})
    >>> found = attack(release, ["age"], ["ill"], only=["homogeneity"])[0]
    >>> found.succeeded, found.exposed[0].labels, found.exposed[0].value, found.prevented_by[0].model
    (True, {'age': '<50'}, 'flu', 'distinct-diversity')
    """
    quasi_identifiers, sensitive = names_of(quasi_identifiers), names_of(sensitive)
    project = None if project is None else Project.of(project)
    follow = (progress or Progress()).through(open=1, attack=9)
    session = Session(follow("open"))
    schema, folder, models = schema_and_models(quasi_identifiers, sensitive, hierarchies, project)
    method, starred = None, None
    if project is not None:
        original = project.source if original is None else original
        starred = starred_rows(project) if release is None else None
        release = project.release_source() if release is None else release
        if project.method.fuzzy:
            schema = in_words(project, schema, original, release, session, starred)
        elif project.method.representative:
            method = project.method
    if release is None:
        raise InputError("no-table", "name the release to attack")
    attacker = Attacker(know, confidence, factor, seed)
    given = {"original": original, "external": external, "other": other}
    _check_use(match, identity, given)
    wanted = _choose_attacks(only, {"columns", *(name for name, table in given.items() if table is not None)}, schema)
    with ExitStack() as stack:
        tables = {
            name: stack.enter_context(open_table(table, folder, session))
            for name, table in (("release", release), *given.items())
            if table is not None
        }
        if "original" in tables:
            # As in an evaluation, a sheet is read as the original is.
            known = replace(Source.of(release, folder), fields=tables["original"].columns)
            tables["release"] = stack.enter_context(open_table(known, session=session))
        wanted = _in_order(wanted, tables, only)
        adversary = Adversary(
            tables,
            schema,
            folder,
            release,
            dict(match or {}),
            identity,
            attacker,
            session,
            method,
            models,
            schema if project is None else Schema(project.columns),
            starred,
        )
        step, found = follow("attack"), list[Attack]()
        for i, name in enumerate(wanted):
            found += (within_reach(a, adversary.classes) for a in RUN[name](adversary, step.of(i, len(wanted))))
    if not found and only is None:
        raise InputError(
            "attack-needs",
            "the release alone, without other columns or another table, gives nothing to try",
            hint="Name another table (--external, --original, --other).",
        )
    lacking = [name for name in only or () if name not in {a.name for a in found}]
    if lacking:
        raise _needs(lacking[0])
    return Attacks(found)


def _check_use(match: Mapping[str, str] | None, identity: str | None, given: Mapping[str, Any]) -> None:
    if match and given["external"] is None:
        raise InputError("attack-needs", "'match' names columns of an external table, and there is none", hint="--external FILE")
    if identity is not None and (given["external"] is None or given["original"] is None):
        raise InputError(
            "attack-needs",
            "'identity' is to check links, which needs an external table and the original",
            column=identity,
            hint="--external FILE --original FILE",
        )


def _choose_attacks(only: Collection[str] | None, given: set[str], schema: Any) -> list[str]:
    """The attacks to run, in the order of the registry."""
    for name in only or ():
        if name not in ATTACKS:
            raise InputError("unknown-attack", Sentence("there is no attack '{name}'", name=name), hint=suggest(name, ATTACKS))
    if schema.names("sensitive"):
        # Whether there is a tree or numbers shows itself when the columns are read.
        given = given | {"sensitive", "tree", "numbers"}
    wanted = []
    for name, trial in ATTACKS.items():
        if only is not None and name not in only:
            continue
        if all(given.intersection(group) for group in trial.needs):
            wanted.append(name)
        elif only is not None:
            raise _needs(name)
    return wanted


def _in_order(wanted: list[str], tables: Mapping[str, Table], only: Collection[str] | None) -> list[str]:
    """Without the attack on the order of rows where a table has none, as in a database."""
    engines = [t.engine for t in tables.values() if Capability.ORDERED not in t.engine.capabilities]
    if "order" not in wanted or not engines:
        return wanted
    if only is not None:
        engines[0].require(Capability.ORDERED)
    return [name for name in wanted if name != "order"]


def _needs(name: str) -> InputError:
    groups = [join_sentences(Sentence(" or "), [NEEDED[x] for x in group]) for group in ATTACKS[name].needs]
    wanted = join_sentences(Sentence(" and "), groups)
    return InputError("attack-needs", Sentence("the attack '{name}' needs {needed}", name=name, needed=wanted))


Run = Callable[[Adversary, Progress], Iterator[Attack]]


@dataclass(frozen=True)
class _Each:
    """An attack on each sensitive column."""

    run: Callable[..., Attack | None]

    def __call__(self, adversary: Adversary, progress: Progress) -> Iterator[Attack]:
        for attribute in adversary.attributes:
            progress.check()
            found = self.run(adversary.classes, attribute, adversary.attacker)
            if found is not None:
                yield found


def _lookup(adversary: Adversary, progress: Progress) -> Iterator[Attack]:
    for exposure in adversary.exposures:
        progress.check()
        yield lookup(exposure)
    if adversary.joint is not None:
        yield lookup_together(adversary.joint)


def _linkage(adversary: Adversary, progress: Progress) -> Iterator[Attack]:
    links = adversary.links
    yield linkage(links, adversary.attacker, adversary.truth())
    for attribute in adversary.attributes:
        progress.check()
        yield disclosure(links, attribute, adversary.attacker)


def _order(adversary: Adversary, progress: Progress) -> Iterator[Attack]:
    if "original" in adversary.tables:
        side = adversary.beside("original", in_order=True)
        yield order(side.release, side.other, side.covers, adversary.attacker, progress)
    if "other" in adversary.tables:
        side = adversary.beside("other", in_order=True)
        yield order_of_releases(side.release, side.other, side.covers, side.trees, adversary.attacker, progress)


def _releases(adversary: Adversary, progress: Progress) -> Iterator[Attack]:
    side = adversary.beside("other")
    yield releases(side.release, side.other, side.covers, side.trees, adversary.population, side.file, progress)


RUN: dict[str, Run] = {
    "lookup": _lookup,
    "homogeneity": _Each(homogeneity),
    "background": _Each(background),
    "skewness": _Each(skewness),
    "similarity": _Each(lambda classes, attribute, _: similarity(classes, attribute)),
    "linkage": _linkage,
    "order": _order,
    "releases": _releases,
}
