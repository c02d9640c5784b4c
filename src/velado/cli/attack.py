"""``velado attack``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from velado import InputError, attack
from velado.attacks import ATTACKS, Attack
from velado.attacks.descriptions import describe_attack, figure_title, is_share, main_figure
from velado.cli.language import current
from velado.cli.table_options import AS_FOUND, TABLE, Reading, reads_tables
from velado.cli.terminal import JSON, figure, files, names, out, percent, plain, print_json, progress, say, table, translate
from velado.sentences import Sentence


@reads_tables
def command(
    release: Annotated[TABLE | None, typer.Argument(help="The release to attack; the project's output if not given.")] = None,
    qi: Annotated[str | None, typer.Option(help="Quasi-identifiers, separated by commas.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns, separated by commas.")] = None,
    external: Annotated[TABLE | None, typer.Option(help="Table of known people, for linkage.")] = None,
    match: Annotated[
        list[str] | None, typer.Option(help="COLUMN=NAME: what the external table calls a column; may be repeated.")
    ] = None,
    identity: Annotated[
        str | None, typer.Option(help="Column that says who is meant, in the original and the external table.")
    ] = None,
    original: Annotated[TABLE | None, typer.Option(help="The original table; the project's source if not given.")] = None,
    other: Annotated[TABLE | None, typer.Option(help="Another release of the same table.")] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(help="COLUMN=FILE: the hierarchy of a column, or the value tree of a sensitive one; may be repeated."),
    ] = None,
    project: Annotated[Path | None, typer.Option(help="Project file that says roles and hierarchies.")] = None,
    only: Annotated[
        str | None, typer.Option(help=Sentence("Only these, separated by commas: {names}.", names=", ".join(ATTACKS)))
    ] = None,
    know: Annotated[int, typer.Option(help="How many values the attacker can rule out.")] = 1,
    confidence: Annotated[float, typer.Option(help="A guess surer than this counts; 1: if it is certain.")] = 1.0,
    factor: Annotated[float, typer.Option(help="A value more than this many times as likely as before counts.")] = 2.0,
    seed: Annotated[int, typer.Option(help="Seed of the random orders.")] = 0,
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Try what an adversary would try with a release, and say what would have prevented it."""
    every = (release, original, external, other)
    with progress() as report:
        found = attack(
            read.release(release, *every),
            names(qi),
            names(sensitive),
            original=read(original, *every),
            external=read(external, *every),
            other=read.release(other, *every),
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
            raise InputError("bad-option", Sentence("--match takes COLUMN=NAME, got {got!r}", got=option))
        found[column] = name
    return found


def _summary(found: Sequence[Attack]) -> None:
    """First what to act on, then what every release of the table allows."""
    for title, chosen in (
        (Sentence("Act on this"), [a for a in found if not a.expected]),
        (Sentence("Expected of every release of this table"), [a for a in found if a.expected]),
    ):
        lines = [(_name(a), _gist(a), _remedy(a)) for a in chosen]
        if not lines:
            say("[bold]{title}[/]: nothing", title=title)
        else:
            say("[bold]{title}[/]", title=title)
            shown = Table(box=None, pad_edge=False, show_header=False)
            for line in lines:
                shown.add_row(*line)
            out.print(shown)
        say()
    say("In detail:")


def _name(a: Attack) -> str:
    return _title(a.name) + (f": {plain(a.column)}" if a.column else "")


def _title(name: str) -> str:
    """The name of an attack at the beginning of a line."""
    title = translate(ATTACKS[name].declaration.title)
    return title[:1].upper() + title[1:]


def _gist(a: Attack) -> str:
    """The figure of an attack that says most."""
    name = main_figure(a.figures)
    if a.succeeded and name is not None:
        return translate("{what} {figure}", what=figure_title(name), figure=_figure(name, a.figures[name]))
    if "if_known" in a.figures:
        return translate(
            "fails; {n:,} records alone if what only the person and the keeper know were known", n=a.figures["if_known"]
        )
    if "singled_out_by_all" in a.figures:
        return translate("fails; {n:,} records alone by all of it", n=a.figures["singled_out_by_all"])
    if a.name == "lookup":
        return translate("fails; {n:,} records alone with their value", n=a.figures["singled_out_alone"])
    if "highest_confidence" in a.figures:
        return translate("fails; surest guess {share:.1%}", share=a.figures["highest_confidence"])
    return translate("succeeds") if a.succeeded else current().say("fails¦attack")


def _remedy(a: Attack) -> str:
    return plain(a.prevented_by[0].text(current().code)) if a.succeeded and a.prevented_by else ""


def _show(a: Attack) -> None:
    verdict = translate("[red]succeeds[/]") if a.succeeded else translate("[green]fails[/]")
    say()
    out.print(f"[bold]{_name(a)} –[/] {verdict}", soft_wrap=True)
    say(describe_attack(ATTACKS[a.name], a.name, a.column, a.against))
    figures = Table(box=None, pad_edge=False, show_header=False)
    figures.add_column()
    figures.add_column(justify="right")
    for name, value in a.figures.items():
        figures.add_row(translate(figure_title(name)), _figure(name, value))
    out.print(figures)
    if a.exposed:
        values = any(e.value is not None for e in a.exposed)
        before = any(e.prior is not None for e in a.exposed)
        # Sentences without words of ours: a column may have the name of something that is translated.
        header = [Sentence("{column}", column=plain(c)) for c in a.exposed[0].labels]
        header += [Sentence("records"), Sentence("confidence")]
        header += [Sentence("value")] * values + [Sentence("before")] * before
        lines = []
        for e in a.exposed:
            line: list[Any] = [*e.labels.values(), e.records, percent(e.confidence, 1)]
            lines.append(line + [e.value] * values + ([None if e.prior is None else percent(e.prior, 1)] * before))
        table("Most exposed", lines, header)
    for i, p in enumerate(a.prevented_by):
        how = p.text(current().code)
        if not i:
            say("Prevented by {how}", how=how)
        else:
            say("          or {how}", how=how)


def _figure(name: str, value: float) -> str:
    return percent(value, 1) if is_share(name) else figure(value)
