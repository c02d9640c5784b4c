"""``velado catalog``."""

from __future__ import annotations

import json as json_format
from typing import Annotated, Any

import typer
from rich.table import Table

from velado import InputError, catalog
from velado.choices import KINDS, kind_of
from velado.cli.language import current
from velado.cli.terminal import JSON, figure, out, plain, print_json, say, translate
from velado.errors import suggest
from velado.sentences import Sentence


def command(
    kind: Annotated[
        str | None, typer.Argument(help=Sentence("One of {names}; all of them if not given.", names=", ".join(KINDS)))
    ] = None,
    name: Annotated[str | None, typer.Argument(help="Only this one, with its parameters.")] = None,
    json: JSON = False,
) -> None:
    """Show what there is to choose from: models, methods, operations, and what each means."""
    everything = catalog(current())
    if kind not in (None, *KINDS) and name is None:
        # Its kind may be left out.
        of = next((of for of, entries in everything.items() if kind in {entry["name"] for entry in entries}), kind)
        kind, name = of, kind if of != kind else None
    if kind is not None:
        kind_of(kind)
        everything = {kind: everything[kind]}
    if name is not None and kind is not None:
        known = {entry["name"]: entry for entry in everything[kind]}
        if name not in known:
            raise InputError(
                "unknown-name", Sentence("there is no '{name}' among the {kind}", name=name, kind=kind), hint=suggest(name, known)
            )
        everything = {kind: [known[name]]}
    if json:
        print_json(everything)
    elif name is not None and kind is not None:
        _show_one(everything[kind][0])
    else:
        for of, entries in everything.items():
            _show(of, entries)


def _show(kind: str, entries: list[dict[str, Any]]) -> None:
    say()
    say("[bold]{title}[/] ({kind})", title=Sentence(KINDS[kind].title), kind=kind)
    shown = Table(box=None, pad_edge=False, show_header=False)
    for column in (0, 1, 2):
        shown.add_column(no_wrap=column == 0)
    for entry in entries:
        shown.add_row(plain(entry["name"]), plain(entry["title"]), plain(entry["meaning"]))
    out.print(shown)


def _show_one(entry: dict[str, Any]) -> None:
    say("[bold]{title}[/] ({name})", title=entry["title"], name=entry["name"])
    say("{meaning}", meaning=entry["meaning"])
    if entry.get("reached"):
        say("What a table reaches: {reached}.", reached=entry["reached"])
    properties = entry["parameters"].get("properties", {})
    if properties:
        say()
        shown = Table(box=None, pad_edge=False)
        for title in (Sentence("parameter"), Sentence("default"), Sentence("meaning")):
            shown.add_column(translate(title))
        for name, about in properties.items():
            needed = name in entry["parameters"].get("required", ())
            default = translate("needed") if needed else plain(figure(about.get("default")))
            shown.add_row(plain(name), default, plain(about.get("description", "")))
        out.print(shown)
    if entry["example"] is not None:
        say()
        say("For example: {example}", example=json_format.dumps(entry["example"], ensure_ascii=False))
