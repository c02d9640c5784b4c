"""``velado appointments``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from velado import InputError, Output, Source
from velado.appointments import (
    AnonymityVector,
    Groups,
    Planning,
    anonymity_groups,
    assign_appointments,
    compare_planners,
    generate_people,
    generate_slots,
    save_table,
)
from velado.appointments.planners.registry import PLANNERS, planner_title
from velado.appointments.planning import MOST_RANKED
from velado.appointments.tables.generate import PeopleLike, SlotsLike
from velado.appointments.tables.groups import AnonymityOfTables
from velado.cli import signals
from velado.cli.help import App
from velado.cli.language import current, translate_plain
from velado.cli.options import Given, takes
from velado.cli.table_options import AS_FOUND, REPLACE, TABLE, Reading, output_at, reads_tables
from velado.cli.terminal import JSON, names, out, plain, print_json, progress, say, table
from velado.i18n import Language
from velado.project import output_of
from velado.report import save_vectors
from velado.sentences import Sentence
from velado.tables import TableName
from velado.tables.address import is_database, with_table

app = App(help="Give out appointments that keep people anonymous.", no_args_is_help=True)

PEOPLE = Annotated[TABLE, typer.Argument(help="Table of people.")]
SLOTS = Annotated[TABLE, typer.Argument(help="Table of slots: what describes them, and their capacity.")]
QI = Annotated[str, typer.Option(help="Quasi-identifiers, separated by commas.")]
CAPACITY = Annotated[str, typer.Option(help="Column of the slots with the number of places.")]
SLOT = Annotated[str | None, typer.Option(help="Column of the slots by which other tables name a slot.")]
ID = Annotated[str | None, typer.Option("--id", help="Column that identifies people.")]
HOUSEHOLD = Annotated[str | None, typer.Option(help="Column of households, who stay together.")]
FIXED = Annotated[str | None, typer.Option(help="Column with the slot that a person keeps; empty for none.")]
ADMISSIBLE = Annotated[TABLE | None, typer.Option(help="Table of the slots admissible for each person: identifier, slot.")]
MATCH = Annotated[list[str] | None, typer.Option(help="COLUMN=NAME: column of the people that must equal one of the slots.")]
SMALLEST = Annotated[int, typer.Option("--k", help="Smallest group of equal people in one slot.")]
SHOW = Annotated[int, typer.Option(min=0, help="Show so many of the smallest groups.")]

COLOURS = ("cyan", "yellow", "green", "magenta", "blue", "bright_red")
MOST_COMPONENTS = 10


@app.command("generate")
@takes("like", PeopleLike, SlotsLike, unset=[])
def generate(
    folder: Annotated[
        TABLE, typer.Argument(help="Folder for the tables, or address of a database, with #schema behind it if you like.")
    ],
    like: Given,
    tables: Annotated[int, typer.Option(min=1, max=10_000, help="Number of tables.")] = 1,
    format: Annotated[str, typer.Option(help="Format of the files: csv, parquet, xlsx or arrow.")] = "csv",
    force: Annotated[bool, typer.Option("--force", help="Replace existing files or tables.")] = False,
    json: JSON = False,
) -> None:
    """Write invented people and slots for them, with places for everybody."""
    marks = [str(number) if tables > 1 else "" for number in range(tables)]
    files = _outputs(folder, [f"{what}{mark}" for mark in marks for what in ("people", "slots")], format, force)
    with signals.several():
        for number in range(tables):
            who = generate_people(number, **_those(PeopleLike, like))
            where = generate_slots(number, **_those(SlotsLike, like))
            save_table(who, files[2 * number])
            save_table(where, files[2 * number + 1])
    if json:
        print_json(
            {"files": [f.sink().name for f in files], "people": like["people"], "slots": where.num_rows, "seed": like["seed"]}
        )
        return
    if files[0].table is not None:
        say(
            "Wrote {tables}: {people:,} people and {slots:,} slots each.",
            tables=", ".join(f.sink().name for f in files),
            people=like["people"],
            slots=where.num_rows,
        )
        return
    say(
        "Wrote {files:,} file(s) to {folder}: {people:,} people and {slots:,} slots each.",
        files=len(files),
        folder=folder,
        people=like["people"],
        slots=where.num_rows,
    )


def _outputs(place: str, names: list[str], format: str, force: bool) -> list[Output]:
    """Files of a folder, or tables of a database."""
    if is_database(place):
        address, schema = with_table(place)
        tables = [str(TableName(name, schema)) for name in names]
        exists = "replace" if force else "fail"
        return [output_of({"database": address, "table": t, "if_exists": exists}) for t in tables]
    files = [Path(place) / f"{name}.{format}" for name in names]
    there = [f for f in files if f.exists()]
    if there and not force:
        raise InputError("file-exists", "the file exists already", file=there[0], hint="Use --force, or another folder.")
    return [output_of(f) for f in files]


def _those(kind: type[PeopleLike | SlotsLike], given: Given) -> Given:
    """What was given for one of several declared classes."""
    return {name: value for name, value in given.items() if name in kind.parameters}


@app.command("assign")
@takes("planner", *PLANNERS.values())
@reads_tables
def assign(
    people: PEOPLE,
    slots: SLOTS,
    qi: QI,
    output: Annotated[TABLE, typer.Option("--output", "-o", help="File or table to write: the people with their appointments.")],
    planner: Given,
    method: Annotated[str, typer.Option(help="random, heuristic, best-fit or exact.")] = "best-fit",
    k: SMALLEST = 1,
    capacity: CAPACITY = "capacity",
    slot: SLOT = None,
    id: ID = None,
    household: HOUSEHOLD = None,
    fixed: FIXED = None,
    admissible: ADMISSIBLE = None,
    match: MATCH = None,
    show: SHOW = 0,
    replace: REPLACE = False,
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Give everybody an appointment, as anonymously as the method can, and verify what was written."""
    words = current()
    seed, every = planner.pop("seed", 0), (people, slots, admissible)
    with progress() as report:
        planning = assign_appointments(
            read(people, *every),
            read(slots, *every),
            names(qi),
            {method: planner},
            seed=seed,
            output=output_at(output, replace),
            progress=report,
            **_conditions(read(admissible, *every), k, capacity, slot, id, household, fixed, match),
        )
    if json:
        print_json(planning.as_dict())
        return
    _show(planning, words)
    if show:
        _show_groups(anonymity_groups(output, names(qi), planning.appointment), show, words)
    say()
    say("{told}", told=words.say("Wrote {file}: it says who comes where and when. Keep it private.", file=planning.output))


@app.command("compare")
@takes("planner", *PLANNERS.values())
@reads_tables
def compare(
    people: PEOPLE,
    slots: SLOTS,
    qi: QI,
    planner: Given,
    methods: Annotated[str | None, typer.Option(help="Methods, separated by commas; all that apply if not given.")] = None,
    k: SMALLEST = 1,
    capacity: CAPACITY = "capacity",
    slot: SLOT = None,
    id: ID = None,
    household: HOUSEHOLD = None,
    fixed: FIXED = None,
    admissible: ADMISSIBLE = None,
    match: MATCH = None,
    chart: Annotated[Path | None, typer.Option(help="Draw the vectors: SVG or PNG.")] = None,
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Plan the same appointments with several methods; nothing is given out."""
    words = current()
    seed, every = planner.pop("seed", 0), (people, slots, admissible)
    with progress() as report:
        planning = compare_planners(
            read(people, *every),
            read(slots, *every),
            names(qi),
            names(methods) or None,
            seed=seed,
            progress=report,
            options=planner,
            **_conditions(read(admissible, *every), k, capacity, slot, id, household, fixed, match),
        )
        if chart is not None:
            save_vectors(planning, chart, current().code)
    if json:
        print_json(planning.as_dict())
        return
    _show(planning, words)
    if chart is not None:
        say()
        title = words.say("Anonymity vectors of {people} people", people=words.integer(planning.people))
        say("{title}: {file}", title=title, file=chart)


@app.command("k")
@reads_tables
def k_of(
    tables: Annotated[list[TABLE], typer.Argument(help="One or several tables.")],
    qi: QI,
    appointment: Annotated[str | None, typer.Option(help="Columns of the appointment, separated by commas.")] = None,
    show: SHOW = 0,
    read: Reading = AS_FOUND,
    json: JSON = False,
) -> None:
    """Say the anonymity vector and the k of tables; of several, also mean, smallest and largest k."""
    words = current()
    with progress() as report:
        found = [
            anonymity_groups(read(t, *tables), names(qi), names(appointment), report.of(i, len(tables)))
            for i, t in enumerate(tables)
        ]
    together = AnonymityOfTables(tuple(g.sizes() for g in found))
    if json:
        print_json(together.as_dict())
        return
    header = ("", words.say("people"), "k", words.say("vector"))
    lines = [(g.name, words.integer(g.vector.population), words.integer(g.vector.k), shorten_vector(g.vector)) for g in found]
    table("k", lines, header)
    if not appointment:
        say()
        say(
            "{told}",
            told=words.say(
                "Groups of people who share the quasi-identifiers, whatever their appointments. With --appointment COLUMNS they share these, too, as where a plan is made."
            ),
        )
    if len(found) > 1:
        say()
        mean, least, most = (words.number(together.k[n], 2) for n in ("mean", "min", "max"))
        say("{told}", told=words.say("k: mean {mean}, smallest {least}, largest {most}", mean=mean, least=least, most=most))
    if show:
        for groups in found:
            _show_groups(groups, show, words)


def _conditions(
    admissible: Source | None,
    k: int,
    capacity: str,
    slot: str | None,
    identifier: str | None,
    household: str | None,
    fixed: str | None,
    match: list[str] | None,
) -> dict[str, Any]:
    pairs = [option.partition("=") for option in match or []]
    for own, sign, theirs in pairs:
        if not (own and sign and theirs):
            raise InputError("bad-option", Sentence("--match takes COLUMN=NAME, got {got!r}", got=own + sign + theirs))
    return {
        "k": k,
        "capacity": capacity,
        "slot": slot,
        "identifier": identifier,
        "household": household,
        "fixed": fixed,
        "admissible": admissible,
        "match": {own: theirs for own, _, theirs in pairs} or None,
    }


def shorten_vector(vector: AnonymityVector) -> str:
    """A vector for people: leading zeros counted, the end left out if it is long."""
    counts = vector.counts
    if len(counts) <= MOST_COMPONENTS:
        return str(vector)
    zeros = vector.k - 1
    first = "0, " * zeros if zeros <= 3 else f"0 × {zeros}, "
    shown = counts[zeros : zeros + MOST_COMPONENTS - min(zeros, 3)]
    end = ", …" if zeros + len(shown) < len(counts) else ""
    return f"({first}{', '.join(map(str, shown))}{end})"


def _show(planning: Planning, words: Language) -> None:
    sizes = {name: words.integer(getattr(planning, name)) for name in ("people", "groups", "slots", "places")}
    say(
        "{told}", told=words.say("{people} people in {groups} quasi-identifier groups, {slots} slots with {places} places", **sizes)
    )
    header = [words.say(n) for n in ("method", "vector", "rank", "improvement", "seconds")]
    shown = Table(box=None, pad_edge=False)
    for name in (header[0], "k", *header[1:], ""):
        right = name in ("k", *header[2:])
        shown.add_column(name, justify="right" if right else "left", overflow="fold")
    base = planning.base
    shown.add_row(words.say("before the appointments"), words.integer(base.k), shorten_vector(base), _rank(base, words), "", "", "")
    for planned in planning.methods:
        name = planner_title(planned.method).into(words.code)
        vector, found = planned.vector, planned.assignment
        if vector is None:
            shown.add_row(name, "–", plain(translate_plain(planned.reason)))
            continue
        proof = words.say("optimal") if planned.optimal else ""
        if not proof and found is not None and "model" in found.notes:
            proof = words.say("{n} components proven", n=words.integer(planned.proven))
        gain = "" if planned.improvement is None else words.number(planned.improvement, 4, pad=True)
        style = "bold" if planned.method == planning.chosen else None
        shown.add_row(
            name,
            words.integer(vector.k),
            shorten_vector(vector),
            _rank(vector, words),
            gain,
            words.number(planned.seconds, 2, pad=True),
            proof,
            style=style,
        )
    say()
    out.print(shown)


def _rank(vector: AnonymityVector, words: Language) -> str:
    """The rank in full where it is short, else its order of magnitude."""
    if vector.population > MOST_RANKED:
        return "–"
    return words.integer(vector.rank) if vector.rank < 10**9 else f"≈ 10^{len(str(vector.rank)) - 1}"


def _show_groups(groups: Groups, most: int, words: Language) -> None:
    """The smallest groups, each in a colour and with a number of its own; who is alone is marked."""
    shown = Table(box=None, pad_edge=False, title_justify="left", title_style="bold")
    shown.add_column(words.say("group"), justify="right")
    for name in (*groups.quasi_identifiers, *groups.appointment):
        shown.add_column(plain(name))
    shown.add_column(words.say("people"), justify="right")
    shown.add_column("")
    for number, values, people in groups.smallest(most):
        texts = [words.say("(missing)") if v is None else plain(v) for v in values]
        mark = f"[bold red]! {words.say('alone¦group')}[/]" if people == 1 else ""
        shown.add_row(str(number), *texts, words.integer(people), mark, style=COLOURS[(number - 1) % len(COLOURS)])
    say()
    say("[bold]{title}[/]", title=words.say("The smallest groups (equal numbers and colours: equal quasi-identifiers)"))
    out.print(shown)
