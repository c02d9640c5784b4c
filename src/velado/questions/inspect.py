"""Look at an unknown table: types, missing values, who is singled out, and which roles suggest themselves."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from velado.errors import InputError, Note
from velado.hierarchies.build import build
from velado.numbers import CODE, notation_of, parse_all
from velado.progress import Progress
from velado.tables import Header, Session, Table, open_table
from velado.tables.formats.csv import MISSING_MARKERS
from velado.tables.header import no_header
from velado.twins import Twins
from velado.values import Text

DATE_FORMATS = ("%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y-%m-%d %H:%M:%S")
SHOWN_TWINS = 5
"""At most so many groups of spelling twins are listed for a column."""
COMBINED = 12
"""At most so many columns are combined to pairs and triples."""

NAMES = {
    "identifier": (
        r"name|nombre|nome|surname|apellido|sobrenome|e-?mail|correo|phone|tel[eé]fono|telefone|passport|pasaporte|"
        r"passaporte|dni|nif|rut|cpf|rg|ssn|curp|\bid\b|_id\b|\bid_|national[ _-]?id|account|cuenta|iban|patient|paciente"
    ),
    "sensitive": (
        r"diagnos|disease|illness|enferm|doen[cç]a|salary|salario|sal[aá]rio|income|ingreso|renda|wage|religion|"
        r"religi[oó]n|occupation|ocupaci|profess|cost|costo|custo|raca|raça|orient|treatment|tratamiento|tratamento|hiv|drug|cause"
    ),
    "quasi-identifier": (
        r"age|edad|idade|sex|sexo|gender|g[eé]nero|birth|nacim|nascim|zip|postal|cep|city|ciudad|cidade|place|lugar|"
        r"locali|state|estado|province|region|country|pa[ií]s|race|ethnic|etni|marital|civil|education|educaci|"
        r"escolar|job|work|native|nation|municip|district|bairro|neighbo"
    ),
}


@dataclass(frozen=True)
class TwinsFound:
    """Spelling twins of a column: groups, spellings in them, and some of the groups; none of a suspected identifier."""

    groups: int = 0
    spellings: int = 0
    examples: tuple[tuple[Text, ...], ...] = ()


@dataclass(frozen=True)
class ColumnInspection:
    """What a column looks like. ``singled_out``: records that are alone with their value.

    ``generalizations`` shows one value at each level of the suggested hierarchy; it is empty for suspected
    identifiers. ``twins`` are spellings of one value.
    """

    name: str
    type: str
    format: str | None
    distinct: int
    missing: int
    markers: tuple[str, ...]
    singled_out: int
    role: str
    reason: str
    hierarchy: Any = None
    generalizations: tuple[str, ...] = ()
    twins: TwinsFound = field(default_factory=TwinsFound)


@dataclass(frozen=True)
class Inspection:
    """An inspected table. ``combinations``: the pairs and triples of columns that single out the most records.

    ``notes`` say what should be mended before anything else.
    """

    source: str
    rows: int
    columns: tuple[ColumnInspection, ...]
    combinations: tuple[tuple[tuple[str, ...], int], ...]
    dialect: dict[str, str] = field(default_factory=dict)
    combined: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        shown = asdict(self)
        if not self.notes:
            del shown["notes"]
        shown["combinations"] = [{"columns": list(c), "singled_out": n} for c, n in self.combinations]
        return shown


def inspect_table(data: Any, progress: Progress | None = None) -> Inspection:
    """Inspect a file or a pandas, Polars or Arrow table."""
    follow = (progress or Progress()).through(open=1, inspect=6, combine=3)
    with open_table(data, session=Session(follow("open"))) as table:
        looking = follow("inspect")
        rows = table.rows()
        if not rows:
            raise InputError("no-rows", "the table has a header but no rows", file=table.name)
        columns = []
        for name, amount in table.amounts(table.header):
            columns.append(_column(name, amount, rows))
            looking.at(len(columns), len(table.header))
        dialect = {}
        if table.dialect is not None:
            d = table.dialect
            dialect = {"delimiter": d.delimiter, "quote": d.quote, "encoding": d.encoding}
        combined = _combined(columns)
        found = _combinations(table, combined, follow("combine"))
        return Inspection(table.name, rows, tuple(columns), found, dialect, tuple(combined), _notes(table.header))


def _notes(header: Header) -> tuple[Note, ...]:
    """Whether the first line is the data of a person."""
    if not header.lacking:
        return ()
    problem = no_header(header)
    return (Note(problem.code, f"{problem.message}: a person would become the header. {problem.hint}"),)


def _column(name: str, amount: dict[Text, int], rows: int) -> ColumnInspection:
    twins = Twins.among(amount)
    missing = amount.pop(None, 0)
    markers = tuple(m for m in MISSING_MARKERS if m in amount)
    values = [v for v in amount if v is not None]
    present = [v for v in values if v not in markers] or values
    kind, pattern = guess_type(present)
    if kind == "text":
        # A marker such as "-" is only plausible if the rest of the column is of another kind.
        markers = tuple(m for m in markers if m in ("?", "NA", "N/A", "NULL", "NaN"))
    role, reason = _role(name, kind, len(amount), rows)
    hierarchy = suggest_hierarchy(name, kind, present) if role == "quasi-identifier" else None
    shown: tuple[str, ...] = ()
    if hierarchy is not None:
        example = sorted(present, key=lambda v: (-amount[v], v))[0]
        built = build(name, hierarchy, present, format=pattern)
        shown = tuple(str(built.labels[level][built.maps[level][built.code[example]]]) for level in range(built.levels))
    return ColumnInspection(
        name, kind, pattern, len(amount), int(missing), markers, int(sum(1 for n in amount.values() if n == 1)), role, reason,
        hierarchy, shown,
        TwinsFound(len(twins.groups), twins.spellings, () if role == "identifier" else twins.groups[:SHOWN_TWINS]),
    )  # fmt: skip


def guess_type(values: Sequence[str]) -> tuple[str, str | None]:
    """integer, number, date or text, and the format of a date.

    Leading zeros make a text (007 is not 7), and so do numbers that can be read in two ways (only 1,000 and 2,500).
    """
    sample = list(values)[:5000]
    if not sample:
        return "text", None
    if all(re.fullmatch(r"[+-]?(0|[1-9][0-9]*)", v) for v in values):
        return "integer", None
    if not any(CODE.match(v) for v in values) and notation_of(values) is not None:
        return "number", None
    if any(ch.isdigit() for ch in sample[0]):
        for pattern in DATE_FORMATS:
            if all(_is_date(v, pattern) for v in sample):
                return "date", pattern
    return "text", None


def _is_date(value: str, pattern: str) -> bool:
    try:
        datetime.strptime(value, pattern)
    except ValueError:
        return False
    return True


def _role(name: str, kind: str, distinct: int, rows: int) -> tuple[str, str]:
    said = {role: re.search(pattern, name, re.IGNORECASE) for role, pattern in NAMES.items()}
    if distinct <= 1:
        return "insensitive", "always the same value"
    if said["identifier"] and distinct > 0.5 * rows:
        return "identifier", f"its name, and {distinct:,} different values in {rows:,} records"
    if said["sensitive"]:
        return "sensitive", "its name says that people would not want it known"
    if said["quasi-identifier"]:
        return "quasi-identifier", "its name: others may know this about a person"
    if kind == "date":
        return "quasi-identifier", "a date: others may know when something happened to a person"
    if distinct > 0.95 * rows and kind != "number":
        return "identifier", f"{distinct:,} different values in {rows:,} records"
    if kind == "number" or distinct > 0.2 * rows:
        return "sensitive", "a measurement: rarely known to others, often private"
    return "quasi-identifier", f"few different values ({distinct:,}): others may know this about a person"


def suggest_hierarchy(name: str, kind: str, values: Sequence[str]) -> Any:
    """A first hierarchy for a column, as a project file writes it; None = value → *."""
    if kind == "date":
        return {"dates": ["month", "year", "decade"]}
    if kind in ("integer", "number"):
        numbers = np.array(parse_all(name, values))
        if re.search(r"zip|postal|cep", name, re.IGNORECASE) and len({len(v) for v in values}) == 1:
            return {"mask": "right"}
        span = float(numbers.max() - numbers.min())
        if span <= 0:
            return None
        step = 10.0 ** np.floor(np.log10(span / 12)) * 5
        step = step / 5 if span / step < 4 else step
        step = max(step, 1.0) if kind == "integer" else step
        widths = [step, step * 2, step * 4]
        return {"intervals": [int(w) if w == int(w) else float(w) for w in widths]}
    lengths = {len(v) for v in values}
    if all("/" in v for v in values) and len({v.count("/") for v in values}) == 1:
        return {"path": "/"}
    if len(lengths) == 1 and 3 <= min(lengths) <= 10 and all(v.isdigit() for v in values):
        return {"mask": "right"}
    return None


def _combined(columns: Sequence[ColumnInspection]) -> list[str]:
    """Columns worth combining: those that do not single out nearly everybody on their own."""
    usable = [c for c in columns if c.role == "quasi-identifier" and c.distinct > 1]
    if len(usable) < 2:
        usable = [c for c in columns if c.role in ("quasi-identifier", "sensitive") and c.distinct > 1]
    usable.sort(key=lambda c: -c.distinct)
    chosen = {c.name for c in usable[:COMBINED]}
    return [c.name for c in columns if c.name in chosen]


def _combinations(
    table: Table, names: Sequence[str], progress: Progress, best: int = 5
) -> tuple[tuple[tuple[str, ...], int], ...]:
    if len(names) < 2:
        return ()
    counts = table.count(names)
    radix = [max(len(d), 1) for d in counts.dictionaries]
    found: list[tuple[tuple[str, ...], int]] = []
    for size in (2, 3):
        ranked = []
        for chosen in itertools.combinations(range(len(names)), size):
            progress.check()
            keys = np.zeros(len(counts.counts), dtype=np.int64)
            for i in chosen:
                keys = keys * radix[i] + counts.codes[i]
            _, inverse = np.unique(keys, return_inverse=True)
            sizes = np.bincount(inverse, weights=counts.counts)
            ranked.append((tuple(names[i] for i in chosen), int((sizes == 1).sum())))
        ranked.sort(key=lambda pair: (-pair[1], pair[0]))
        found += ranked[:best]
    return tuple(found)
