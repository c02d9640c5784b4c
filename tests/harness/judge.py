"""The second judge: an independent checker of releases, with no code of the product.

It gets the project as a plain mapping, the original as it lies there, and the release as it was written. Models are
judged from their definitions (`measures`), tables are read by Python's own readers (`reading`), and hierarchies are
understood from their documentation (`labels`). It judges sensitive values as they are spelled and with spelling variants
folded, and counts people where the project says which column names them.
"""

import hashlib
import itertools
import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from harness import measures
from harness.labels import GROUPED, ROOT, Meaning, Unreadable, chains_of, meanings, ranges
from harness.measures import TOLERANCE, Figure, Tally, exact
from harness.reading import Cell, Sheet, number, read

FULL_DOMAIN = ("lattice", "samarati", "incognito", "datafly", "fixed")
FUZZY_MODELS = ("q-anonymity", "fuzzy-l-diversity", "fuzzy-t-closeness")
ON_WHOLE = ("t-closeness", "delta-disclosure", "beta-likeness")
"""Models that compare a class with the whole input."""
MISSING_WORDS = {"", "?", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "missing"}
LEADING_ZERO = re.compile(r"[+-]?0\d")
"""A code, not a number."""
MOST_READINGS = 200
LONG = 6
"""Identifiers of at least so many characters are looked for in every cell."""
NOTHING_TO_SEE = (
    (0x34F, 0x34F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2060, 0x206F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0xE0000, 0xE0FFF),
)
"""Default_Ignorable_Code_Point of DerivedCoreProperties.txt beside categories Cf and Cc, and the blank of Braille."""


def unseen(character: str) -> bool:
    """Whether a character shows nothing."""
    code = ord(character)
    return unicodedata.category(character) in ("Cf", "Cc") or any(a <= code <= b for a, b in NOTHING_TO_SEE)


FOLDED_NUMBER = "\0"
"""A folded number begins so: no text does."""


class CannotJudge(Exception):
    """The inputs are beyond what the judge reads."""


@dataclass
class Verdict:
    """What is wrong with a release, the figures that its weakest class reaches, and what could not be judged.

    ``matched``: every record was found in the original; ``suppressed_rows`` are those that no released class has, where
    that can be told.
    """

    problems: list[str] = field(default_factory=list)
    figures: dict[str, list[Figure]] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    rows: int = 0
    released: int = 0
    classes: int = 0
    smallest: int = 0
    people: int | None = None
    matched: bool = False
    suppressed_rows: list[int] | None = None

    @property
    def refused(self) -> bool:
        return bool(self.problems)

    def require(self, holds: bool, problem: str) -> None:
        if not holds:
            self.problems.append(problem)


# Spelling variants


@dataclass(frozen=True)
class Folding:
    """Values without differences of spelling, in a column whose numbers have decimal points, or commas."""

    comma: bool = False

    @classmethod
    def of(cls, values: Iterable[Cell]) -> "Folding":
        present = [v.strip() for v in values if v is not None and v.strip().casefold() not in MISSING_WORDS]
        numbers = all(number(v) is not None for v in present)
        return cls(numbers and any("," in v for v in present) and not any("." in v for v in present))

    def __call__(self, cell: Cell) -> Cell:
        """Compatibility forms, capitals, blanks, invisible characters, ways to write a number or that nothing is there."""
        if cell is None:
            return None
        plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", cell).casefold())
        plain = "".join(c for c in plain if c.isspace() or not unseen(c))
        plain = " ".join(plain.split())
        if plain in MISSING_WORDS:
            return None
        same = number(plain) if self.comma or "," not in plain else None
        return plain if same is None or LEADING_ZERO.match(plain) else f"{FOLDED_NUMBER}{same}"


# The project as the judge sees it


@dataclass(frozen=True)
class Described:
    """One table of a project."""

    project: Mapping[str, Any]
    columns: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, project: Mapping[str, Any], table: str | None = None) -> "Described":
        attributes = project.get("attributes") or {}
        if table is not None:
            own = project["tables"][table]
            shared = {k: v for k, v in project.items() if k not in ("tables", "attributes", "joinable")}
            if own.get("protection") == "operations":
                shared = {k: v for k, v in shared.items() if k not in ("models", "method")}
            project = {**shared, **own}
        columns = {}
        for name, spec in project["columns"].items():
            spec = {"role": spec} if isinstance(spec, str) else dict(spec or {})
            columns[str(name)] = {**(attributes.get(spec.get("attribute", name)) or {}), **spec}
        return cls(project, columns)

    @property
    def light(self) -> bool:
        return self.project.get("protection") == "operations"

    @property
    def source(self) -> Mapping[str, Any]:
        source = self.project["source"]
        return source if isinstance(source, Mapping) else {"path": source}

    @property
    def output(self) -> Mapping[str, Any]:
        output = self.project.get("output") or {}
        return output if isinstance(output, Mapping) else {"path": output}

    @property
    def missing(self) -> list[str]:
        missing = self.source.get("missing")
        return [] if missing is None else list(map(str, missing)) if isinstance(missing, list | tuple) else [str(missing)]

    @property
    def method(self) -> tuple[str, Mapping[str, Any]]:
        method = self.project.get("method") or "lattice"
        return (method, {}) if isinstance(method, str) else (next(iter(method)), next(iter(method.values())) or {})

    @property
    def models(self) -> list[tuple[str, Mapping[str, Any]]]:
        models = self.project.get("models") or []
        listed = [{k: v} for k, v in models.items()] if isinstance(models, Mapping) else models
        return [(name, arguments or {}) for model in listed for name, arguments in model.items()]

    @property
    def person(self) -> str | None:
        """The column whose values tell people (or households) apart."""
        named = self.project.get("household") or self.project.get("person")
        return None if named in (None, "rows") else str(named)

    def folds(self, column: str) -> bool:
        """Whether spellings of one sensitive value count as one."""
        return self.columns.get(column, {}).get("variants", self.project.get("variants")) != "distinct"

    def named(self, role: str) -> list[str]:
        return [name for name, spec in self.columns.items() if spec.get("role") == role]

    def operation(self, column: str) -> str | None:
        """What is done to a column, beside recoding it."""
        spec = self.columns.get(column, {})
        operation = spec.get("operation")
        if operation is None:
            return "suppress" if spec.get("role") == "identifier" else None
        return operation if isinstance(operation, str) else str(next(iter(operation)))

    def header(self, original: Sequence[str]) -> list[str]:
        """The columns that the release must have."""
        rest = self.project.get("rest")
        return [c for c in original if (c in self.columns or rest == "insensitive") and self.operation(c) != "drop"]

    def untouched(self, header: Sequence[str]) -> list[str]:
        """Columns that are published as they are."""
        return [
            c
            for c in header
            if self.operation(c) is None and self.columns.get(c, {}).get("role") != ("quasi-identifier" if not self.light else "")
        ]


# Judging


def judge(
    project: Mapping[str, Any],
    folder: Path,
    released: Path | Sheet,
    original: Sheet | None = None,
    manifest: Mapping[str, Any] | None = None,
    claims: Mapping[str, Any] | None = None,
    table: str | None = None,
    beside: Mapping[str, Sequence[Cell]] | None = None,
) -> Verdict:
    """Judge a release of a project (of its table, if it has several).

    ``beside`` are the values that columns have in other tables of the project: hierarchies are built from all of them.
    ``original`` stands for a source that is no file. ``claims`` is what the run said (its JSON), which must be true.
    """
    described = Described.of(project, table)
    if original is None:
        path = folder / str(described.source["path"])
        original = read(path, described.source, list(described.columns), described.missing)
    verdict = Verdict(rows=len(original.rows))
    if isinstance(released, Path):
        if manifest is not None:
            digest = hashlib.sha256(released.read_bytes()).hexdigest()
            verdict.require(manifest["output"]["sha256"] == digest, "the manifest's digest is not that of the release")
        release = _read_release(described, released, original, verdict)
        if release is None:
            return verdict
    else:
        release = released
    Case(described, folder, original, release, verdict, manifest or {}, claims or {}, beside or {}).judge()
    return verdict


def judge_files(project_file: Path, claims: Mapping[str, Any] | None = None) -> list[Verdict]:
    """Judge the releases of a project file where they lie, with their manifests."""
    import yaml

    project = yaml.safe_load(project_file.read_text(encoding="utf-8-sig"))
    verdicts = []
    for table in project.get("tables") or [None]:
        output = project_file.parent / str(Described.of(project, table).output["path"])
        manifest = json.loads(output.with_name(output.name + ".manifest.json").read_text(encoding="utf-8"))
        own = (claims or {}).get("tables", {}).get(table) if table else claims
        beside = values_beside(project, project_file.parent, table) if table else None
        verdicts.append(judge(project, project_file.parent, output, None, manifest, own, table, beside))
    return verdicts


def values_beside(project: Mapping[str, Any], folder: Path, table: str) -> dict[str, list[Cell]]:
    """Per column of a table, what columns of the same attribute hold in the other tables."""
    found: dict[str, list[Cell]] = defaultdict(list)
    for other in project["tables"]:
        if other != table:
            described = Described.of(project, other)
            sheet = read(folder / str(described.source["path"]), described.source, list(described.columns), described.missing)
            for column, spec in described.columns.items():
                found[str(spec.get("attribute", column))] += sheet.column(column)
    own = Described.of(project, table).columns
    return {c: found[str(spec.get("attribute", c))] for c, spec in own.items()}


def _read_release(described: Described, path: Path, original: Sheet, verdict: Verdict) -> Sheet | None:
    options = {"quote": '"', "encoding": "utf-8", "delimiter": described.output.get("delimiter")}
    header = described.header(original.header)
    try:
        return read(path, options, header, guarded=described.output.get("guard", True))
    except ValueError as error:
        verdict.problems.append(f"the release cannot be read as the expected table: {error}")
        return None


@dataclass
class Case:
    """A release before the judge."""

    described: Described
    folder: Path
    original: Sheet
    release: Sheet
    verdict: Verdict
    manifest: Mapping[str, Any]
    claims: Mapping[str, Any]
    beside: Mapping[str, Sequence[Cell]]

    def judge(self) -> None:
        d, v = self.described, self.verdict
        expected = d.header(self.original.header)
        v.require(self.release.header == expected, f"the columns are {self.release.header}, not {expected}")
        if self.release.header != expected:
            return
        self._same_numbers()
        self._identifiers()
        if d.light:
            v.released = len(self.release.rows)
            self._light()
            return
        self.quasi = [c for c in expected if d.columns.get(c, {}).get("role") == "quasi-identifier"]
        self.sensitive = [c for c in expected if d.columns.get(c, {}).get("role") == "sensitive"]
        self.plain = d.untouched(expected)
        self._take_out_suppressed()
        self.classes = self._classes()
        v.classes = len(self.classes)
        v.smallest = min(map(len, self.classes.values()), default=0)
        v.require(v.released > 0, "no record was released")
        self._conserved()
        self._match()
        self._people()
        for name, parameters in d.models:
            if name in FUZZY_MODELS:
                v.skipped.append(f"{name}: memberships are not written")
            else:
                self._model(name, parameters)
        self._claimed()

    # Columns and records

    def _same_numbers(self) -> None:
        """Numbers of typed columns are compared as numbers, however each format writes them."""
        typed = self.original.numeric & set(self.described.untouched(self.original.header))

        def alike(sheet: Sheet) -> Sheet:
            places = {i for i, c in enumerate(sheet.header) if c in typed}
            if not places:
                return sheet
            rows = [
                tuple(str(n) if i in places and (n := number(c)) is not None else c for i, c in enumerate(row))
                for row in sheet.rows
            ]
            return Sheet(sheet.header, rows, sheet.numeric)

        self.original, self.release = alike(self.original), alike(self.release)

    def _identifiers(self) -> None:
        """No identifier comes out: not in its own column, and long ones not anywhere."""
        v = self.verdict
        hidden: set[Cell] = set()
        known: set[Cell] = set()
        for column in self.original.header:
            cells = set(self.original.column(column)) - {None, ROOT}
            if self.described.columns.get(column, {}).get("role") != "identifier":
                known |= cells
                continue
            hidden |= {c for c in cells if len(c or "") >= LONG}
            if column in self.release.header:
                shown = set(self.release.column(column))
                if self.described.operation(column) == "suppress":
                    v.require(shown <= {ROOT}, f"the identifier '{column}' is not suppressed")
                v.require(not shown & cells, f"the identifier '{column}' shows original values")
        out = {c for row in self.release.rows for c in row}
        v.require(not (hidden - known) & out, "an identifier is in another column")

    def _light(self) -> None:
        v = self.verdict
        v.require(len(self.release.rows) == v.rows, f"{len(self.release.rows)} rows instead of {v.rows}")
        columns = self.described.untouched(self.release.header)
        before, after = _projected(self.original, columns), _projected(self.release, columns)
        if self.described.output.get("order") != "keep":
            v.require(Counter(before) == Counter(after), "the untouched columns do not hold the original records")
        else:
            v.require(before == after, "the untouched columns are not the original ones, row by row")

    def _take_out_suppressed(self) -> None:
        """Rows of ``*`` stand for suppressed records and belong to no class."""
        v, rows = self.verdict, self.release.rows
        self.starred = self.described.output.get("suppressed") == "asterisks"
        self.kept = list(range(len(rows)))
        if not self.starred:
            v.released = len(rows)
            self.suppressed = v.rows - len(rows)
            v.require(self.suppressed >= 0, "there are more records than in the original")
            return
        v.require(len(rows) == v.rows, f"{len(rows)} rows instead of {v.rows}, with suppressed ones as rows of *")
        judged = [self.release.header.index(c) for c in (*self.quasi, *self.sensitive)]
        stars = [i for i in self.kept if all(rows[i][j] == ROOT for j in judged)]
        claimed = _figures(self.claims, "suppressed") or _figures(self.manifest, "suppressed") or [len(stars)]
        self.suppressed = claimed[0]
        # Records that are generalized throughout look the same where there is no sensitive column.
        stars.sort(key=lambda i: sum(c not in (ROOT, None) for c in rows[i]))
        v.require(len(stars) >= self.suppressed, f"{self.suppressed} records are suppressed, {len(stars)} rows show it")
        out = set(stars[: self.suppressed])
        v.require(all(c in (ROOT, None) for i in out for c in rows[i]), "a suppressed record still shows something of itself")
        self.kept = [i for i in self.kept if i not in out]
        v.released = len(self.kept)

    def _classes(self) -> dict[tuple[Cell, ...], list[int]]:
        places = [self.release.header.index(c) for c in self.quasi]
        classes: dict[tuple[Cell, ...], list[int]] = defaultdict(list)
        for i in self.kept:
            row = self.release.rows[i]
            classes[tuple(row[j] for j in places)].append(i)
        return classes

    def _conserved(self) -> None:
        """What is published as it is was in the original, not more often than there."""
        for column in self.plain:
            shown = self.release.column(column)
            new = Counter(shown[i] for i in self.kept) - Counter(self.original.column(column))
            self.verdict.require(not new, f"the column '{column}' has values, or more of them, that the original has not")

    # Labels against the original records

    def _match(self) -> None:
        """Every released record stands for an original one.

        A full-domain recoding says which class each original record is in: the classes must have exactly those records.
        A local one only tells which records a class can have.
        """
        method, options = self.described.method
        self.members: dict[tuple[Cell, ...], list[int]] | None = None
        if method not in (*FULL_DOMAIN, "mondrian") or options.get("represent", "interval") != "interval":
            self.verdict.skipped.append(f"the labels of {method} are not matched with the original")
            return
        try:
            under = [self._meanings(j, c, method != "mondrian") for j, c in enumerate(self.quasi)]
        except (Unreadable, ValueError, KeyError, TypeError) as error:
            self.verdict.skipped.append(f"labels that are not read here: {error}")
            return
        if not all(under):
            return
        self.verdict.matched = True
        if method == "mondrian":
            self._match_locally([levels[0] for levels in under])
            return
        # A label may be one of several levels: one reading of all columns must fit.
        problems: list[str] = []
        for reading in itertools.islice(itertools.product(*under), MOST_READINGS):
            found = self._match_exactly(list(reading))
            if not found:
                return
            problems = problems or found
        self.verdict.problems += problems

    def _meanings(self, j: int, column: str, full_domain: bool) -> list[Meaning]:
        """What the released labels of a column can stand for; nothing (and a problem) if that cannot be."""
        spec = self.described.columns[column]
        own, labels = self.original.column(column), {key[j] for key in self.classes}
        values = [*own, *self.beside.get(column, ())]
        if any(GROUPED.search(v) for v in values if v is not None) and spec.get("hierarchy") is None:
            raise Unreadable(f"thousands or decimals in '{column}'")
        described = spec.get("hierarchy") or {}
        spans = "dates" in described and any(".." in label for label in labels if label is not None)
        if not full_domain and (spec.get("type") == "date" or described.get("order") or spans):
            raise Unreadable(f"intervals of '{column}'")
        codes = any(re.match(r"[+-]?0[0-9]", v) for v in values if v is not None)
        if not full_domain and not codes and all(number(x) is not None for x in values if x is not None):
            levels = [ranges(values, labels)]
        else:
            levels = meanings(spec.get("hierarchy"), values, labels, spec.get("format"), self.folder)
        if not full_domain:
            merged: dict[Cell, frozenset[Cell]] = defaultdict(frozenset)
            for meaning in levels:
                for label, under in meaning.items():
                    merged[label] |= under
            levels = [merged]
        mine = frozenset(own)
        levels = [{label: meaning[label] & mine for label in labels if label in meaning} for meaning in levels]
        fitting = [meaning for meaning in levels if all(meaning.get(label) for label in labels)]
        if not fitting:
            best = max(levels, key=lambda meaning: sum(bool(meaning.get(x)) for x in labels))
            unknown = [x for x in labels if not best.get(x)]
            self.verdict.problems.append(f"labels of '{column}' stand for no original value: {unknown[:3]}")
        return fitting

    def _match_exactly(self, under: list[Meaning]) -> list[str]:
        """Compare the classes with the original records that the labels say; what does not fit."""
        problems = []
        label_of: list[dict[Cell, Cell]] = []
        for column, meaning, j in zip(self.quasi, under, range(len(under)), strict=True):
            labels: dict[Cell, Cell] = {}
            for label in {key[j] for key in self.classes}:
                for value in meaning[label]:
                    if value in labels:
                        return [f"the value {value!r} of '{column}' has two labels in one recoding"]
                    labels[value] = label
            label_of.append(labels)
        columns = [self.original.column(c) for c in self.quasi]
        members: dict[tuple[Cell, ...], list[int]] = defaultdict(list)
        for i, values in enumerate(zip(*columns, strict=True)):
            if all(value in labels for value, labels in zip(values, label_of, strict=True)):
                key = tuple(labels[value] for value, labels in zip(values, label_of, strict=True))
                if key in self.classes:
                    members[key].append(i)
        before, after = _projected(self.original, self.plain), _projected(self.release, self.plain)
        for key, rows in self.classes.items():
            own = members.get(key, [])
            if len(own) != len(rows):
                problems.append(f"the class {key} has {len(rows)} records, the original {len(own)} of it")
            elif Counter(before[i] for i in own) != Counter(after[i] for i in rows):
                problems.append(f"the class {key} has other values than its original records")
        kept = {i for own in members.values() for i in own}
        self.members = members
        self.verdict.suppressed_rows = [i for i in range(self.verdict.rows) if i not in kept]
        return problems

    def _match_locally(self, under: list[Meaning]) -> None:
        """Sets of records as bits of whole numbers."""
        holders = [_bits(self.original.column(c)) for c in self.quasi]
        sensitive = {c: _bits(self.original.column(c)) for c in self.sensitive if c in self.plain}
        shown = {c: self.release.column(c) for c in sensitive}
        everybody = (1 << len(self.original.rows)) - 1
        label_bits: list[dict[Cell, int]] = [{} for _ in under]
        for key, rows in self.classes.items():
            can = everybody
            for j, label in enumerate(key):
                if label not in label_bits[j]:
                    bits = 0
                    for value in under[j][label]:
                        bits |= holders[j].get(value, 0)
                    label_bits[j][label] = bits
                can &= label_bits[j][label]
            self.verdict.require(can.bit_count() >= len(rows), f"the class {key} has more records than the original")
            for column, bits in sensitive.items():
                for value, times in Counter(shown[column][i] for i in rows).items():
                    if (can & bits.get(value, 0)).bit_count() < times:
                        self.verdict.problems.append(f"the class {key} has a value of '{column}' that its records have not")

    # People

    def _people(self) -> None:
        """How many people each class has, where the project tells them apart and the release lets them be counted."""
        column = self.described.person
        self.people: dict[tuple[Cell, ...], int] | None = None
        if column is None:
            return
        if column not in self.original.header:
            self.verdict.problems.append(f"there is no column '{column}' to tell people apart")
            return
        if column in self.release.header and self.described.operation(column) in ("pseudonymize", "encrypt", None):
            tokens = self.release.column(column)
            self.people = {key: _named([tokens[i] for i in rows]) for key, rows in self.classes.items()}
        else:
            names = self.original.column(column)
            in_place = self.described.output.get("order") == "keep" and len(self.release.rows) == len(names)
            members: Mapping[tuple[Cell, ...], list[int]] | None = self.classes if in_place else self.members
            if members is None:
                self.verdict.skipped.append("people cannot be counted: only their rows are")
                return
            self.people = {key: _named([names[i] for i in members.get(key, [])]) for key in self.classes}
        self.verdict.people = min(self.people.values(), default=0)

    # Models

    def _model(self, name: str, parameters: Mapping[str, Any]) -> None:
        """Both readings give figures; the one that the project asks for decides."""
        column = parameters.get("column")
        if column is not None and column not in self.sensitive:
            self.verdict.problems.append(f"{name} protects '{column}', which is not a sensitive column of the release")
            return
        readings = ("raw", "folded") if column is not None else ("raw",)
        decisive = "folded" if column is not None and self.described.folds(column) else "raw"
        for reading in readings:
            try:
                figure, holds = self._judged(name, parameters, reading == "folded")
            except CannotJudge as reason:
                self.verdict.skipped.append(f"{name} ({reading}): {reason}")
                continue
            key = f"{name} {column or ''} {reading}".replace("  ", " ")
            self.verdict.figures.setdefault(key, []).append(figure)
            if reading == decisive:
                shown = figure if figure is None else float(figure)
                self.verdict.require(holds, f"{name} {dict(parameters)} is not satisfied ({reading}): {shown}")

    def _judged(self, name: str, parameters: Mapping[str, Any], folded: bool) -> tuple[Figure, bool]:
        sizes = {key: len(rows) for key, rows in self.classes.items()} if self.people is None else self.people
        if name == "k-anonymity":
            smallest = min(sizes.values())
            return smallest, smallest >= parameters["k"]
        if name == "average-risk":
            risk = Fraction(len(sizes), sum(sizes.values()))
            return risk, risk <= exact(parameters["risk"]) + TOLERANCE
        if name == "k-map":
            raise CannotJudge("the population is another table")
        column = parameters["column"]
        tallies = list(self._tallies(column, bool(parameters.get("strict")), folded))
        whole = self._whole(column, folded) if name in ON_WHOLE else {}
        if name == "alpha-k":
            share = max(Fraction(max(t.values()), sum(t.values())) for _, t in tallies)
            # In a part of a class people are only known to be no more than its rows.
            smallest = min(min(sizes[key], sum(t.values())) for key, t in tallies)
            return share, share <= exact(parameters["alpha"]) + TOLERANCE and smallest >= parameters["k"]
        return _of_tallies(name, parameters, [t for _, t in tallies], whole, self._tree(column, whole, folded, parameters))

    def _tallies(self, column: str, strict: bool, folded: bool) -> Iterator[tuple[tuple[Cell, ...], Counter[Cell]]]:
        """The sensitive values of every class; strictly, of every part in which the other sensitive values agree."""
        values = self._cells(column, folded)
        others = [self._cells(c, folded) for c in self.sensitive if c != column] if strict else []
        for key, rows in self.classes.items():
            parts: dict[tuple[Cell, ...], Counter[Cell]] = defaultdict(Counter)
            for i in rows:
                parts[tuple(o[i] for o in others)][values[i]] += 1
            for tally in parts.values():
                yield key, tally

    def _folding(self, column: str) -> Folding:
        return Folding.of({*self.original.column(column), *self.release.column(column)})

    def _cells(self, column: str, folded: bool) -> list[Cell]:
        cells = self.release.column(column)
        if not folded:
            return cells
        fold = self._folding(column)
        known = {c: fold(c) for c in set(cells)}
        return [known[c] for c in cells]

    def _whole(self, column: str, folded: bool) -> Tally:
        """The distribution in the whole input, of values as they are published."""
        if column in self.plain:
            values = self.original.column(column)
        elif not self.suppressed:
            values = self.release.column(column)
        else:
            raise CannotJudge(f"what '{column}' would show of suppressed records is not known")
        if not folded:
            return Counter(values)
        fold, whole = self._folding(column), Counter[Cell]()
        for value, times in Counter(values).items():
            whole[fold(value)] += times
        return whole

    def _tree(self, column: str, whole: Tally, folded: bool, parameters: Mapping[str, Any]) -> Any:
        """What the distance needs beside the distributions: an order, or the chains of a tree."""
        distance = parameters.get("distance", "equal")
        if distance == "ordered":
            return self._order(column, whole, folded)
        if distance != "hierarchical":
            return None
        spec = dict(self.described.columns[column].get("hierarchy") or {})
        top = spec.pop("top", True)
        kind = next((k for k in ("tree", "groups", "rows", "file") if k in spec), None)
        if kind is None:
            raise CannotJudge("a tree that does not list its values")
        chains = {chain[0]: list(chain) for chain in chains_of(kind, spec[kind], self.folder)}
        if kind in ("tree", "groups") and top and len({chain[-1] for chain in chains.values()}) > 1:
            chains = {leaf: [*chain, ROOT] for leaf, chain in chains.items()}
        if len({chain[-1] for chain in chains.values()}) != 1:
            raise CannotJudge("a tree without a root")
        if None in whole and None not in chains:
            (length,) = {len(chain) for chain in chains.values()}
            chains[None] = [*([None] * (length - 1)), next(iter(chains.values()))[-1]]
        if folded:
            fold = self._folding(column)
            again: dict[Cell, list[Cell]] = {}
            for leaf, chain in chains.items():
                # Leaves are never confused with the inner nodes of the level above.
                if again.setdefault(fold(leaf), [fold(leaf), *chain[1:]])[1:] != chain[1:]:
                    raise CannotJudge("spelling variants in different branches of the tree")
            chains = again
        if set(whole) - set(chains):
            raise CannotJudge("values that the tree does not list")
        return chains

    def _order(self, column: str, whole: Tally, folded: bool) -> list[Cell]:
        present = [v for v in whole if v is not None]
        numbers = {v: Fraction(v.removeprefix(FOLDED_NUMBER)) if v.startswith(FOLDED_NUMBER) else number(v) for v in present}
        if any(GROUPED.search(v) for v in self.original.column(column) if v is not None):
            raise CannotJudge("a mark that may separate thousands or decimals")
        if self.described.columns[column].get("type") == "date" or any(
            n is None and any(c.isdigit() for c in v) for v, n in numbers.items()
        ):
            raise CannotJudge("dates, and numbers in other notations")
        last: list[Cell] = [None] if None in whole else []
        if all(n is not None for n in numbers.values()):
            return [*sorted(present, key=lambda v: (numbers[v] or 0, v)), *last]
        listed = (self.described.columns[column].get("hierarchy") or {}).get("order")
        if listed:
            return [*[str(v) for v in listed if str(v) in whole], *last]
        if any(n is not None for n in numbers.values()):
            self.verdict.problems.append(f"'{column}' mixes numbers and other texts: it has no order")
        # Texts are sorted by the first of their spellings, not by the folded form that nobody wrote.
        fold = self._folding(column) if folded else str
        spelled: dict[Cell, str] = {}
        for value in {*self.original.column(column), *self.release.column(column)} - {None}:
            spelled[fold(value)] = min(value, spelled.get(fold(value), value))
        return [*sorted(present, key=spelled.__getitem__), *last]

    # What the run says of its release

    def _claimed(self) -> None:
        v = self.verdict
        for said in (self.claims, self.manifest):
            for key, true in (("rows", v.rows), ("released", v.released), ("suppressed", self.suppressed), ("classes", v.classes)):
                for figure in _figures(said, key):
                    v.require(figure == true, f"'{key}' is said to be {figure}, and is {true}")
            for size in _found(said, "class_size"):
                if isinstance(size, Mapping) and "min" in size:
                    v.require(size["min"] in (v.smallest, v.people), f"the smallest class is {v.smallest}, not {size['min']}")
            for models in _found(said, "models"):
                self._achieved(models)

    def _achieved(self, models: Any) -> None:
        """Figures of models are those of the file, as far as they are said."""
        for model in models if isinstance(models, list) else ():
            if not isinstance(model, Mapping) or "achieved" not in model or model["achieved"] is None:
                continue
            name, required, achieved = model["name"], model.get("required") or {}, model["achieved"]
            if name in FUZZY_MODELS or (name in ON_WHOLE and self.suppressed) or required.get("enhanced"):
                continue
            column = required.get("column")
            folded = column is not None and self.described.folds(column)
            try:
                figure, _ = self._judged(name, required, folded)
            except CannotJudge:
                continue
            if isinstance(achieved, Mapping):
                achieved = achieved.get("alpha")
            if name == "entropy-diversity" and figure is not None:
                figure = Fraction(measures.Decimal(float(figure)).exp())
            if name == "k-anonymity" and self.described.person is not None and self.people is None:
                # Only rows could be counted, of which a person may have several.
                self.verdict.require(achieved <= figure, f"{name} is said to reach {achieved} of {figure} rows")
            elif figure is not None and achieved is not None:
                close = abs(float(figure) - float(achieved)) <= 1e-9 * max(1, abs(float(figure)))
                self.verdict.require(close, f"{name} is said to reach {achieved}, and reaches {float(figure)}")


def _of_tallies(
    name: str, parameters: Mapping[str, Any], tallies: list[Counter[Cell]], whole: Tally, tree: Any
) -> tuple[Figure, bool]:
    """What the weakest class reaches of a model, and whether all satisfy it."""
    if whole and any(value not in whole for tally in tallies for value in tally):
        raise CannotJudge("a value that the original does not have")
    if name == "distinct-diversity":
        fewest = min(map(len, tallies))
        return fewest, fewest >= parameters["l"]
    if name == "entropy-diversity":
        least = min(map(measures.entropy, tallies))
        needed = measures.ln_of(exact(parameters["l"]))
        return least, Fraction(least) >= Fraction(needed) - TOLERANCE
    if name == "recursive-diversity":
        reached = [measures.recursive(t, parameters["l"]) for t in tallies]
        if None in reached:
            return None, False
        most = max(r for r in reached if r is not None)
        return most, most < exact(parameters["c"])
    if name == "t-closeness":
        distance = parameters.get("distance", "equal")
        if distance == "equal":
            far = [measures.distance_equal(t, whole) for t in tallies]
        elif distance == "ordered":
            far = [measures.distance_ordered(t, whole, tree) for t in tallies]
        else:
            far = [measures.distance_in_tree(t, whole, tree) for t in tallies]
        return max(far), max(far) <= exact(parameters["t"]) + TOLERANCE
    if name == "delta-disclosure":
        base, delta = parameters.get("base", 2), exact(parameters["delta"])
        every = all(len(t) == len(whole) for t in tallies) or not parameters.get("every")
        figure = max(measures.largest_logarithm(t, whole, base) for t in tallies) if every else None
        return figure, every and all(measures.delta_holds(t, whole, delta, base) for t in tallies)
    if name == "beta-likeness":
        beta, enhanced = exact(parameters["beta"]), bool(parameters.get("enhanced"))
        gain = max(measures.largest_gain(t, whole) for t in tallies)
        return gain, all(measures.beta_holds(t, whole, beta, enhanced) for t in tallies)
    raise CannotJudge(f"a model that the judge does not know: {name}")


def _named(people: Sequence[Cell]) -> int:
    """How many people rows have at least: those that do not say whose they are may be anybody's among the others."""
    return max(len(set(people) - {None}), min(len(people), 1))


def _projected(sheet: Sheet, columns: Sequence[str]) -> list[tuple[Cell, ...]]:
    places = [sheet.header.index(c) for c in columns]
    return [tuple(row[j] for j in places) for row in sheet.rows]


def _bits(cells: Sequence[Cell]) -> dict[Cell, int]:
    """The rows of each value, as bits."""
    rows: dict[Cell, list[int]] = defaultdict(list)
    for i, cell in enumerate(cells):
        rows[cell].append(i)
    found = {}
    for cell, own in rows.items():
        array = bytearray((len(cells) + 7) // 8)
        for i in own:
            array[i >> 3] |= 1 << (i & 7)
        found[cell] = int.from_bytes(array, "little")
    return found


def _found(said: Any, key: str) -> Iterator[Any]:
    """Every value of a key, however deep; what is said of fuzzy classes and of the original is another matter."""
    if isinstance(said, Mapping):
        for name, value in said.items():
            if name == key:
                yield value
            if name not in ("fuzzy", "before", "columns", "aggregates"):
                yield from _found(value, key)
    elif isinstance(said, list):
        for value in said:
            yield from _found(value, key)


def _figures(said: Mapping[str, Any], key: str) -> list[int]:
    return [value for value in _found(said, key) if isinstance(value, int) and not isinstance(value, bool)]
