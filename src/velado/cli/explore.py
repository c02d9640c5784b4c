"""``velado explore``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from velado import InputError, explore
from velado.cli import classes, kernel_warmup
from velado.cli.language import current
from velado.cli.terminal import JSON, figure, names, print_json, progress, say, silence, table, translate
from velado.cli.verdicts import AGAINST_ALL
from velado.models import MODELS
from velado.questions import Exploration
from velado.questions.exploration import Node, NodeClasses, format_levels
from velado.questions.exploration import Path as Way
from velado.report.formats.lattice import save_lattice, save_nodes, write_json
from velado.results import encode
from velado.sentences import Sentence

TOP = 20


def command(
    project: Annotated[Path, typer.Argument(help="Project file (YAML or JSON).")],
    node: Annotated[str | None, typer.Option(help="Show one node with its classes: levels such as 1,0,2.")] = None,
    start: Annotated[str | None, typer.Option("--from", help="Show the way from this node; without it, from the bottom.")] = None,
    end: Annotated[str | None, typer.Option("--to", help="Show the way to this node; without it, to the top.")] = None,
    status: Annotated[
        str | None, typer.Option(help="Only nodes with this status: optimal, minimal, satisfying, over-limit, failing; or several.")
    ] = None,
    sort: Annotated[
        str | None, typer.Option(help="Order of the nodes: status, levels, height, objective, loss, suppressed, k, classes, …")
    ] = None,
    top: Annotated[int | None, typer.Option(help="Show so many nodes or classes; 20 on the terminal.", min=1)] = None,
    l: Annotated[int, typer.Option(help="The ℓ for which the recursive c of classes is given.", min=1)] = 2,  # noqa: E741
    most_nodes: Annotated[int, typer.Option(help="Refuse lattices of more nodes.", min=1)] = 1_000_000,
    csv: Annotated[Path | None, typer.Option("--csv", help="File (CSV) for the nodes; with --node, for its classes.")] = None,
    chart: Annotated[Path | None, typer.Option("--chart", "-o", help="File (SVG, PNG, PDF) for the drawn lattice.")] = None,
    json: JSON = False,
) -> None:
    """Show every node of the generalization lattice: what a release at these levels would lose, suppress and achieve."""
    kernel_warmup.begin("lattice")
    one, first, last = (None if text is None else levels_from(text) for text in (node, start, end))
    with progress() as report:
        found = explore(project, most_nodes=most_nodes, progress=report.part(0.0, 0.8 if chart else 1.0))
        chosen = found.node_numbers(status=names(status), sort=sort or "levels", top=top)
        if csv is not None and one is None:
            save_nodes(found, csv, chosen)
        if chart is not None:
            save_lattice(found, chart, language=current().code, progress=report.part(0.8, 1.0))
    if one is not None:
        inside = found.node(one, l)
        if csv is not None:
            classes.write(inside.classes, csv, project)
        print_json(inside.as_dict()) if json else show_node(found, inside, top or TOP)
    elif first is not None or last is not None:
        way = found.path(first or [0] * len(found.columns), last or [n - 1 for n in found.levels])
        print_json(encode(way)) if json else show_way(found, way)
    elif json:
        _stream(found, chosen)
    else:
        show_nodes(found, found.node_numbers(status=names(status), sort=sort or "status"), top or TOP)
    for file in () if json else (csv, chart):
        if file is not None:
            say("Written: {file}", file=file)


def levels_from(text: str) -> list[int]:
    """A level vector as it is written on the command line.

    >>> levels_from("1,0,2")
    [1, 0, 2]
    """
    try:
        return [int(x) for x in names(text.strip("[] "))]
    except ValueError:
        raise InputError(
            "bad-option", Sentence("a node is written as its levels, got '{text}'", text=text), hint="For example 1,0,2."
        ) from None


def _stream(found: Exploration, chosen: Any) -> None:
    try:
        write_json(found, sys.stdout, chosen)
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)


def _status(node: Node) -> str:
    word = current().label("status", node.status)
    return f"{word}, {current().say('minimal')}" if node.status == "optimal" and node.minimal else word


def _percent(share: float | None) -> str:
    return current().percent(share, 2)


def _models(found: Exploration) -> dict[str, str]:
    """The figures of models by their names, with their titles in the user's language."""
    return {
        key: translate(MODELS[model.name].declaration.title) + key.removeprefix(model.name)
        for model in found.models
        for key in model.tells
    }


def show_nodes(found: Exploration, chosen: Any, top: int) -> None:
    """What the lattice is, and its first nodes."""
    counts = found.counts
    say(
        "[bold]{project}[/]: {nodes:,} nodes, {rows:,} records, of which at most {limit:,} may be suppressed",
        project=found.project,
        nodes=len(found),
        rows=found.rows,
        limit=found.limit,
    )
    say(
        "Satisfying: {satisfying:,} (minimal: {minimal:,}), over the limit: {over:,}, failing: {failing:,}",
        satisfying=counts["satisfying"],
        minimal=counts["minimal"],
        over=counts["over-limit"],
        failing=counts["failing"],
    )
    if found.optimal is not None and found.optimal.suppressed:
        say(AGAINST_ALL)
    if found.person is not None:
        say("People are counted as the search counts them: no class has fewer, no risk is higher.")
    objective = [] if found.objective == "loss" else [found.objective]
    models = _models(found)
    header = [
        "levels",
        "status",
        *objective,
        "loss",
        "suppressed",
        "classes",
        "smallest",
        "largest",
        "k before",
        "highest risk",
        "average",
        *models.values(),
    ]
    lines = [
        (
            format_levels(n.levels),
            _status(n),
            *([n.objective] if objective else []),
            n.loss,
            f"{figure(n.suppressed)} ({_percent(n.share)})",
            n.classes,
            n.smallest,
            n.largest,
            n.k,
            _percent(n.highest_risk),
            _percent(n.average_risk),
            *(n.achieved[m] for m in models),
        )
        for n in found.iter_nodes(chosen[:top])
    ]
    table(Sentence("Nodes: {columns}", columns=list(found.columns)), lines, header)
    left = len(chosen) - len(lines)
    if left > 0:
        say("Not shown: {left:,} more nodes (--top N shows more, --csv FILE writes all)", left=left)


def show_node(found: Exploration, inside: NodeClasses, top: int) -> None:
    """One node with its classes."""
    node = inside.node
    levels = ", ".join(f"{c} {x}" for c, x in zip(found.columns, node.levels, strict=True))
    say("[bold]{node}[/] ({levels}): {status}", node=format_levels(node.levels), levels=levels, status=_status(node))
    vector = format_levels(found.distance(node.levels))
    lines: list[tuple[Any, ...]] = [
        (translate("height"), node.height),
        (translate("distance vector from the bottom"), vector),
        (translate("nodes right below"), " ".join(map(format_levels, found.predecessors(node.levels)))),
        (translate("nodes right above"), " ".join(map(format_levels, found.successors(node.levels)))),
        *([] if found.objective == "loss" else [(found.objective, node.objective)]),
        (translate("loss"), node.loss),
        (translate("suppressed"), f"{figure(node.suppressed)} ({_percent(node.share)})"),
        (translate("classes released"), node.classes),
        (translate("smallest, largest and average class"), _several(node.smallest, node.largest, node.average)),
        (translate("highest and average risk"), f"{_percent(node.highest_risk)}, {_percent(node.average_risk)}"),
        (translate("smallest class before suppression"), node.k),
        *((title, _several(node.achieved[m], node.reached[m])) for m, title in _models(found).items()),
    ]
    table(Sentence("Figures (of models: released, and before suppression)"), lines)
    show_classes(inside, top)


def _several(*values: Any) -> str:
    return ", ".join(figure(v) for v in values)


def show_classes(found: NodeClasses, top: int) -> None:
    """The classes, smallest first: those that would be released, then the suppressed ones."""
    for kept in (True, False):
        some = found.classes.take(found.released == kept).smallest_first()
        if not len(some):
            continue
        say()
        if kept:
            say("[bold]Released[/]: {count:,} classes, {records:,} records", count=len(some), records=int(some.sizes.sum()))
        else:
            say("[bold]Suppressed[/]: {count:,} classes, {records:,} records", count=len(some), records=int(some.sizes.sum()))
        left = classes.show_first(some, top)
        if left:
            say("Not shown: {left:,} more classes (--top N shows more, --csv FILE writes all)", left=left)


def show_way(found: Exploration, way: Way) -> None:
    """The distance vector between two nodes, and a way."""
    say("[bold]{start} → {end}[/]", start=format_levels(way.start), end=format_levels(way.end))
    if way.comparable:
        say(
            "Distance vector {vector}, {length:,} steps, {paths:,} shortest ways",
            vector=format_levels(way.vector),
            length=way.length,
            paths=way.paths,
        )
    else:
        say(
            "Neither generalizes the other: {vector} from one to the other, {length:,} steps, {paths:,} shortest ways",
            vector=format_levels(way.vector),
            length=way.length,
            paths=way.paths,
        )
    nodes = [found.at(levels) for levels in way.nodes]
    lines = [(format_levels(n.levels), _status(n), n.loss, f"{figure(n.suppressed)} ({_percent(n.share)})", n.k) for n in nodes]
    table(Sentence("One of them"), lines, ["levels", "status", "loss", "suppressed", "k before"])
