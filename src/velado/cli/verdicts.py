"""Verdicts on models in a readable table: what was required, what was reached."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.table import Table

from velado.cli.terminal import figure, out, parameters, plain, say, translate
from velado.models import Verdict, strength_of, title_of
from velado.sentences import Sentence

AGAINST_ALL = Sentence(
    "Measured against the whole original, suppressed records too. What 'velado run', manifest and report say is of the "
    "released ones alone."
)
"""Why the owner's figures may differ from those that are published."""


def show_verdicts(title: str, verdicts: Iterable[Verdict]) -> None:
    """One line per model."""
    shown = Table(box=None, pad_edge=False)
    for name in ("model", "required", "achieved", ""):
        shown.add_column(translate(name))
    for v in verdicts:
        got = describe_achieved(v) if v.exact else translate("within that")
        mark = translate("[green]holds[/]") if v.satisfied else translate("[red]fails[/]")
        shown.add_row(translate(title_of(v.name)), plain(describe_required(v)), plain(got), mark)
    say()
    say("[bold]{title}[/]", title=Sentence(title))
    out.print(shown)


def describe_required(v: Verdict) -> str:
    """What a model requires: ``t ≤ 0.2, column = diagnosis``; what is off is left out."""
    return ", ".join(_describe_parameter(v, name, value) for name, value in v.required.items() if value not in (False, None))


def _describe_parameter(v: Verdict, name: str, value: Any) -> str:
    strength = strength_of(v.name, name)
    if strength is None:
        return parameters({name: value})
    return f"{strength.symbol} {strength.relation} {figure(value)}"


def describe_achieved(v: Verdict) -> str:
    """What a release reaches."""
    if not isinstance(v.achieved, dict):
        return figure(v.achieved)
    known = {name: strength_of(v.name, name) for name in v.achieved}
    return ", ".join(f"{s.symbol if s else name} = {figure(v.achieved[name])}" for name, s in known.items())
