"""``velado attack``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from velado import ATTACKS, Attack, InputError, attack
from velado.cli.reading import AS_FOUND, Reading, reads_tables
from velado.cli.terminal import (
    JSON,
    figure,
    files,
    names,
    out,
    plain,
    print_json,
    progress,
    say,
    table,
)

TITLES = {
    "lookup": "Look-up in other columns",
    "homogeneity": "Homogeneity",
    "background": "Background knowledge",
    "skewness": "Skewness",
    "similarity": "Similarity",
    "linkage": "Linkage with an external table",
    "order": "Order of rows",
    "releases": "Comparison of two releases",
}
TRIED = {
    ("lookup", None): "People are looked up by a published column that is no quasi-identifier.",
    ("homogeneity", None): "Whoever is in a class has the value that its records share.",
    ("background", None): "Values that a person is known not to have are ruled out.",
    ("skewness", None): "A class makes a value much more likely than the whole table does.",
    ("similarity", None): "The values of a class differ, but all of them are alike.",
    ("linkage", "external"): "People of the external table are looked up by their quasi-identifiers.",
    ("order", "original"): "The rows of the release are laid beside those of the original, in order.",
    ("order", "other"): "The rows of the two releases are joined one by one, in order.",
    ("releases", "other"): "The two releases are joined through sensitive values and labels that fit.",
}
DISCLOSED = "The sensitive value of the people found is read off."
FIGURES = {
    "know": "values ruled out",
    "classes": "classes",
    "records": "records",
    "other_records": "records of the other release",
    "singled_out_alone": "records alone with their value",
    "few_alone": "records with a value that few share",
    "singled_out_together": "records alone with it and their quasi-identifiers",
    "few_together": "records with few others alike in both",
    "exposed_classes": "classes exposed",
    "exposed_records": "records exposed",
    "exposed_share": "share exposed",
    "certain_classes": "classes learnt for certain",
    "certain_records": "records learnt for certain",
    "certain_without_knowledge": "… without ruling anything out",
    "lowest_confidence": "lowest confidence",
    "median_confidence": "median confidence",
    "mean_confidence": "mean confidence",
    "highest_confidence": "highest confidence",
    "best_guess": "records that the best guess gets right",
    "largest_gain": "largest gain (times as likely)",
    "largest_difference": "largest difference of shares",
    "near": "alike: within this share of the range",
    "people": "people of the external table",
    "matched": "people with a candidate",
    "unique": "people with one candidate only",
    "exposed_people": "people exposed",
    "expected_correct": "expected right links",
    "known": "people who are in the original, too",
    "correct": "their own record is a candidate",
    "unique_correct": "their own record is the only candidate",
    "expected_true": "expected right links, checked",
    "disclosed": "people whose value is certain",
    "rows": "rows",
    "other_rows": "rows of the other release",
    "left_out": "rows left out",
    "in_order": "rows that fit in order",
    "chance": "… in random order",
    "shuffles_as_good": "share of random orders as good",
    "k": "k of the release",
    "other_k": "k of the other release",
    "combined_classes": "classes, joined",
    "smallest_combined": "smallest class, joined",
    "in_smaller_classes": "records in classes below k, joined",
    "singled_out": "records singled out, joined",
    "exact_cells": "cells that become exact",
    "exact_records": "records that become exact",
    "linked": "records linked to one class",
    "other_linked": "records of the other linked to one class",
    "linked_if_present": "… if they were not suppressed there",
    "other_linked_if_present": "… if they were not suppressed here",
}
SHARES = {"exposed_share", "best_guess", "largest_difference", "near", "in_order", "chance", "shuffles_as_good"}


@reads_tables
def command(
    release: Annotated[
        Path | None, typer.Argument(help="The release to attack; the project's output if not given.")
    ] = None,
    qi: Annotated[str | None, typer.Option(help="Quasi-identifiers, separated by commas.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns, separated by commas.")] = None,
    external: Annotated[Path | None, typer.Option(help="Table of known people, for linkage.")] = None,
    match: Annotated[
        list[str] | None, typer.Option(help="COLUMN=NAME: what the external table calls a column; may be repeated.")
    ] = None,
    identity: Annotated[
        str | None, typer.Option(help="Column that says who is meant, in the original and the external table.")
    ] = None,
    original: Annotated[
        Path | None, typer.Option(help="The original table; the project's source if not given.")
    ] = None,
    other: Annotated[Path | None, typer.Option(help="Another release of the same table.")] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            help="COLUMN=FILE: the hierarchy of a column, or the value tree of a sensitive one; may be repeated."
        ),
    ] = None,
    project: Annotated[Path | None, typer.Option(help="Project file that says roles and hierarchies.")] = None,
    only: Annotated[
        str | None, typer.Option(help="Only these, separated by commas: " + ", ".join(ATTACKS) + ".")
    ] = None,
    know: Annotated[int, typer.Option(help="How many values the attacker can rule out.")] = 1,
    confidence: Annotated[float, typer.Option(help="A guess surer than this counts; 1: if it is certain.")] = 1.0,
    factor: Annotated[float, typer.Option(help="A value more than this many times as likely as before counts.")] = 2.0,
    seed: Annotated[int, typer.Option(help="Seed of the random orders.")] = 0,
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Try what an adversary would try with a release, and say what would have prevented it."""
    with progress() as report:
        found = attack(
            read.release(release),
            names(qi),
            names(sensitive),
            original=read(original),
            external=read(external),
            other=read.release(other),
            match=_matches(match),
            identity=identity,
            hierarchies=files(hierarchy, "--hierarchy"),
            project=project,
            only=None if only is None else names(only),
            know=know,
            confidence=confidence,
            factor=factor,
            seed=seed,
            progress=report,
        )
    if json:
        print_json(found.as_dict())
        return
    _summary(found)
    for a in found:
        _show(a)


def _matches(options: list[str] | None) -> dict[str, str]:
    found = {}
    for option in options or []:
        column, sign, name = option.partition("=")
        if not sign or not column or not name:
            raise InputError("bad-option", f"--match takes COLUMN=NAME, got {option!r}")
        found[column] = name
    return found


def _summary(found: Sequence[Attack]) -> None:
    """First what to act on, then what every release of the table allows."""
    for title, chosen in (
        ("Act on this", [a for a in found if not a.expected]),
        ("Expected of every release of this table", [a for a in found if a.expected]),
    ):
        lines = [(_name(a), _gist(a), _remedy(a)) for a in chosen]
        say(f"[bold]{title}[/]" + ("" if lines else ": nothing"))
        if lines:
            shown = Table(box=None, pad_edge=False, show_header=False)
            for line in lines:
                shown.add_row(*line)
            out.print(shown)
        say()
    say("In detail:")


def _name(a: Attack) -> str:
    return TITLES[a.name] + (f": {plain(a.column)}" if a.column else "")


def _gist(a: Attack) -> str:
    """The figure of an attack that says most."""
    for name in ("few_alone", "exposed_records", "exposed_people", "smallest_combined", "singled_out", "in_order"):
        if a.succeeded and name in a.figures:
            return f"{FIGURES[name]} {_figure(name, a.figures[name])}"
    if a.name == "lookup":
        return f"fails; {_figure('singled_out_alone', a.figures['singled_out_alone'])} records alone with their value"
    if "highest_confidence" in a.figures:
        return f"fails; surest guess {a.figures['highest_confidence']:.1%}"
    return "succeeds" if a.succeeded else "fails"


def _remedy(a: Attack) -> str:
    return plain(str(a.prevented_by[0])) if a.succeeded and a.prevented_by else ""


def _show(a: Attack) -> None:
    about = f": {plain(a.column)}" if a.column else ""
    verdict = "[red]succeeds[/]" if a.succeeded else "[green]fails[/]"
    tried = DISCLOSED if a.name == "linkage" and a.column else TRIED[a.name, a.against]
    say()
    say(f"[bold]{TITLES[a.name]}{about} –[/] {verdict}")
    say(tried)
    figures = Table(box=None, pad_edge=False, show_header=False)
    figures.add_column()
    figures.add_column(justify="right")
    for name, value in a.figures.items():
        figures.add_row(_words(name), _figure(name, value))
    out.print(figures)
    if a.exposed:
        values = any(e.value is not None for e in a.exposed)
        before = any(e.prior is not None for e in a.exposed)
        header = [*(plain(c) for c in a.exposed[0].labels), "records", "confidence"]
        header += ["value"] * values + ["before"] * before
        lines = []
        for e in a.exposed:
            line: list[Any] = [*e.labels.values(), e.records, f"{e.confidence:.1%}"]
            lines.append(line + [e.value] * values + ([None if e.prior is None else f"{e.prior:.1%}"] * before))
        table("Most exposed", lines, header)
    for i, p in enumerate(a.prevented_by):
        say(f"{'Prevented by' if not i else '          or'} {plain(p)}")


def _words(name: str) -> str:
    if name.startswith("level_"):
        _, level, what = name.split("_")
        return f"{what} alike at level {level}"
    return FIGURES[name]


def _figure(name: str, value: float) -> str:
    return f"{value:.1%}" if name in SHARES or name.endswith("_confidence") else figure(value)
