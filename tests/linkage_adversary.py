"""The adversary: links the people of an original table to a release of it. Nothing of Velado is imported.

    python tests/linkage_adversary.py original.csv release.csv project.yaml --k 5 [--everything]

Somebody who knows up to three published columns of a person, and all of them together, looks for that person in the release.
A released cell may stand for several values (`label_covers`). People who fit exactly one released person are *linked*, those
who fit one to k−1 are among *few*. Beside that, without any reading of labels: released people who are *alone* with their cells,
and those in groups *below* k (joint exposure, shared/spec/measures.md). The adversary knows every published column that the
project does not declare `known: never`, or with ``everything`` all of them.

Whose a released row is cannot be seen in a release. Where people have several rows, ``owners`` says it: the owner finds out by
writing the same release once more with `order: keep` (`aligned_project`).
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from label_covers import ROOT, covers, unguard

LARGEST = 3
MOST_KEYS = 4000
"""Sets of columns that are tried; of more the triples whose pairs say most."""
MISSING_IDS = {"", "na", "n/a", "nan", "null", "none", "?", "-"}
PAIRS_AT_ONCE = 3_000_000
PAIRS_PER_KEY = 20_000
"""From so many pairs per key of exact columns, pairs are bits."""


@dataclass(frozen=True)
class Sheet:
    """A text table: names, and one list of cells per column."""

    names: list[str]
    columns: dict[str, list[str]]

    def __len__(self) -> int:
        return len(self.columns[self.names[0]]) if self.names else 0

    def rows(self) -> list[tuple[str, ...]]:
        return list(zip(*(self.columns[name] for name in self.names), strict=True))

    def keep(self, chosen: Sequence[bool]) -> Sheet:
        return Sheet(self.names, {n: list(itertools.compress(cells, chosen)) for n, cells in self.columns.items()})

    def without_copies(self) -> Sheet:
        """The first of all rows that are equal."""
        seen: set[tuple[str, ...]] = set()
        return self.keep([not (row in seen or seen.add(row)) for row in self.rows()])  # type: ignore[func-returns-value]


@dataclass(frozen=True)
class Key:
    """What a set of columns finds: original people ``linked`` to one, among ``few``; released people ``alone``, ``below`` k."""

    columns: tuple[str, ...]
    linked: int = 0
    few: int = 0
    alone: int = 0
    below: int = 0

    def __str__(self) -> str:
        names = " + ".join(self.columns)
        return f"{names}: {self.linked} linked, {self.few} among few; {self.alone} released alone, {self.below} below k"


@dataclass
class Linking:
    """All keys that were tried. ``by_size[n]``: people linked, and among few, by keys of at most n columns."""

    people: int
    released: int
    k: int
    columns: list[str]
    together: Key
    keys: list[Key] = field(default_factory=list)
    by_size: dict[int, tuple[int, int]] = field(default_factory=dict)
    below_by_size: dict[int, tuple[int, int]] = field(default_factory=dict)
    untried: int = 0

    @property
    def linked(self) -> int:
        """People linked by any key of at most three columns, or by all columns together, whichever finds more."""
        return max(self.together.linked, *(n for n, _ in self.by_size.values()), 0)

    @property
    def few(self) -> int:
        """People who fit fewer than k released people, in the same way."""
        return max(self.together.few, *(n for _, n in self.by_size.values()), 0)

    @property
    def below(self) -> int:
        """Released people in groups below k on all columns together, which no key exceeds."""
        return self.together.below

    def offenders(self, most: int = 12) -> list[Key]:
        """Keys that find somebody, the worst first, short ones before long ones."""
        found = [key for key in [*self.keys, self.together] if key.few or key.below]
        return sorted(found, key=lambda key: (len(key.columns), -key.few, -key.linked, -key.below))[:most]

    def lines(self) -> Iterator[str]:
        yield f"{self.people} people, {self.released} released, k {self.k}; columns: {', '.join(self.columns) or 'none'}"
        for size, (linked, few) in self.by_size.items():
            alone, below = self.below_by_size[size]
            yield f"  by at most {size}: {linked} linked, {few} among few; {alone} released alone, {below} below k"
        yield f"  all together: {self.together.linked} linked, {self.together.few} among few; {self.together.alone} alone, {self.together.below} below k"
        if self.untried:
            yield f"  {self.untried} sets of columns were not tried"
        yield from (f"  {key}" for key in self.offenders())


# Reading


def read(path: Path, delimiter: str = ",", encoding: str | None = None, skip: int = 0) -> Sheet:
    """A text table; columns without a name of their own are numbered."""
    data = Path(path).read_bytes()
    if encoding is None:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", errors="replace")
    else:
        text = data.decode(encoding)
    csv.field_size_limit(10_000_000)
    lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))[skip:]
    header, *rows = (row for row in lines if row)
    names = _names(header)
    cells: Iterable[Sequence[str]] = zip(*rows, strict=True) if rows else [[] for _ in names]
    return Sheet(names, {name: list(column) for name, column in zip(names, cells, strict=True)})


def _names(header: Sequence[str]) -> list[str]:
    own = {name.strip().lower() for name in header}
    names: list[str] = []
    for place, name in enumerate(header, 1):
        name = name.strip() or f"column_{place}"
        chosen, n = name, 2
        while chosen.lower() in {x.lower() for x in names}:
            chosen, n = f"{name}_{n}", n + 1
            while chosen.lower() in own:
                chosen, n = f"{name}_{n}", n + 1
        names.append(chosen)
    return names


def read_original(path: Path, project: Mapping[str, Any]) -> Sheet:
    """The table of a project, with the texts that it calls missing made empty."""
    source = _mapping(project.get("source"))
    sheet = read(path, source.get("delimiter") or ",", source.get("encoding"), source.get("skip", 0))
    given = source.get("missing", [])
    missing = {given} if isinstance(given, str) else set(map(str, given))
    return Sheet(sheet.names, {n: ["" if c in missing else c for c in cells] for n, cells in sheet.columns.items()})


def read_release(path: Path, project: Mapping[str, Any]) -> Sheet:
    """A release, as a reader of it sees the cells."""
    delimiter = _mapping(project.get("output")).get("delimiter") or _mapping(project.get("source")).get("delimiter") or ","
    sheet = read(path, delimiter)
    return Sheet(sheet.names, {n: list(map(unguard, cells)) for n, cells in sheet.columns.items()})


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def column_settings(project: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What a project says of a column; a role alone is a short form."""
    given = _mapping(project.get("columns")).get(name)
    return {"role": given} if isinstance(given, str) else _mapping(given)


def known_columns(project: Mapping[str, Any], released: Sheet, everything: bool = False) -> list[str]:
    """Published columns that say something and that others know or could know."""
    shown = [n for n in released.names if any(cell != ROOT for cell in released.columns[n])]
    return [n for n in shown if everything or column_settings(project, n).get("known") != "never"]


def people_of(original: Sheet, project: Mapping[str, Any], copies_are_one: bool = False) -> np.ndarray:
    """A number per row: whose it is. Rows without an id are people of their own; ``copies_are_one``: so are equal rows."""
    column = project.get("person") or project.get("household")
    if column in original.columns:
        ids = [f"row {i}" if c.strip().lower() in MISSING_IDS else f"id {c}" for i, c in enumerate(original.columns[column])]
        return _numbered(ids)
    return _numbered(original.rows()) if copies_are_one else np.arange(len(original))


def _numbered(values: Iterable[Any]) -> np.ndarray:
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def aligned_project(project: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The same release in the order of the original, with suppressed rows in their places."""
    return {**project, "output": {**_mapping(project.get("output")), "path": path, "order": "keep", "suppressed": "asterisks"}}


def owned(original: Sheet, released: Sheet, aligned: Sheet, people: np.ndarray) -> tuple[Sheet, np.ndarray]:
    """A release and whose each of its rows is, from the same release in the order of the original.

    Raises ValueError if the two do not hold the same rows: then nobody can say whose they are.
    """
    if len(aligned) != len(original):
        raise ValueError(f"{len(aligned)} rows of {len(original)} people in the order of the original")
    starred = [all(cell == ROOT for cell in row) for row in aligned.rows()]
    dropped = sum(starred) == len(aligned) - len(released)
    kept = [not star for star in starred] if dropped else [True] * len(aligned)
    aligned = aligned.keep(kept)
    if Counter(aligned.rows()) != Counter(released.rows()):
        raise ValueError("another release came out in the order of the original")
    return aligned, people[np.array(kept, dtype=bool)]


def unread(original: Sheet, aligned: Sheet, project: Mapping[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Values and labels that stand for them although the adversary does not see it, by column: none, or it is too weak."""
    starred = [all(cell == ROOT for cell in row) for row in aligned.rows()]
    found = {}
    for name in aligned.names:
        labels = list(dict.fromkeys(aligned.columns[name]))
        place = {label: i for i, label in enumerate(labels)}
        under = covers(original.columns[name], labels, column_settings(project, name))
        rows = zip(original.columns[name], aligned.columns[name], under, starred, strict=True)
        wrong = {(value, label) for value, label, numbers, star in rows if not star and place[label] not in numbers}
        if wrong:
            found[name] = sorted(wrong)[:5]
    return found


def stated_k(project: Mapping[str, Any], otherwise: int = 5) -> int:
    """The k that a project asks for, whichever model says it."""
    models = project.get("models") or []
    listed = [models] if isinstance(models, Mapping) else models
    stated = [given["k"] for model in listed for given in model.values() if isinstance(given, Mapping) and "k" in given]
    return max(stated, default=otherwise)


# Linking


@dataclass(frozen=True)
class _Column:
    """Codes of a column: per original row its set of labels (−1: none), per released row its label, and which covers which."""

    sets: np.ndarray
    labels: np.ndarray
    cover: np.ndarray
    label_of: np.ndarray | None
    """The one label of each set, where no two labels compete."""


def _column(original: Sequence[str], released: Sequence[str], settings: Mapping[str, Any]) -> _Column:
    labels = list(dict.fromkeys(released))
    place = {label: i for i, label in enumerate(labels)}
    numbers: dict[tuple[int, ...], int] = {(): -1}
    sets = []
    for found in covers(original, labels, settings):
        sets.append(numbers.setdefault(found, len(numbers) - 1))
    different = [found for found in numbers if found]
    cover = np.zeros((len(different), len(labels)), dtype=bool)
    for i, found in enumerate(different):
        cover[i, list(found)] = True
    alone = all(len(found) == 1 for found in different)
    label_of = np.array([found[0] for found in different], dtype=np.int64) if alone else None
    return _Column(np.array(sets), np.array([place[c] for c in released]), cover, label_of)


def link(
    original: Sheet,
    released: Sheet,
    project: Mapping[str, Any],
    k: int,
    everything: bool = False,
    people: np.ndarray | None = None,
    owners: np.ndarray | None = None,
    most: int = MOST_KEYS,
) -> Linking:
    """Try every set of up to three columns, and all together. ``people``: whose each original row is; ``owners``: whose each
    released row is, in the same numbers; by default every row is a person."""
    people = np.arange(len(original)) if people is None else people
    owners = np.arange(len(released)) if owners is None else owners
    names = known_columns(project, released, everything)
    columns = {n: _column(original.columns[n], released.columns[n], column_settings(project, n)) for n in names}
    search = _Search(columns, people, owners, k)
    found = Linking(len(set(people)), len(set(owners)), k, names, search.key(tuple(names)) if names else Key(()))
    if not found.together.below:
        # Groups of fewer columns are unions of these: whoever fits one of them fits k people.
        found.keys = [Key(key) for size in range(1, LARGEST + 1) for key in itertools.combinations(names, size)][:most]
        found.by_size = found.below_by_size = dict.fromkeys(range(1, min(LARGEST, len(names)) + 1), (0, 0))
        return found
    search.forget()
    for size in range(1, min(LARGEST, len(names)) + 1):
        keys = list(itertools.combinations(names, size))
        room = max(most - len(found.keys), 0) if size == LARGEST else len(keys)
        if len(keys) > room:
            pairs = {key.columns: key.few + key.below for key in found.keys if len(key.columns) == 2}
            keys.sort(key=lambda key: -sum(pairs[pair] for pair in itertools.combinations(key, 2)))
            found.untried = len(keys) - room
        found.keys += [search.key(key) for key in keys[:room]]
        found.by_size[size], found.below_by_size[size] = search.counts()
    return found


class _Search:
    """Counts key by key, and remembers who was found by any."""

    def __init__(self, columns: Mapping[str, _Column], people: np.ndarray, owners: np.ndarray, k: int) -> None:
        self.columns, self.people, self.owners, self.k = columns, people, owners, k
        self.rows_are_people = len(np.unique(owners)) == len(owners)
        self.forget()

    def forget(self) -> None:
        self.linked, self.few = (np.zeros(self.people.max(initial=0) + 1, dtype=bool) for _ in range(2))
        self.alone, self.below = (np.zeros(self.owners.max(initial=0) + 1, dtype=bool) for _ in range(2))

    def counts(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """People found so far: linked, among few; alone, below k."""
        return (int(self.linked.sum()), int(self.few.sum())), (int(self.alone.sum()), int(self.below.sum()))

    def key(self, names: tuple[str, ...]) -> Key:
        chosen = [self.columns[name] for name in names]
        groups, different, group_of = self._groups(_combined([c.labels for c in chosen]))
        alone, below = (np.unique(self.owners[(different < limit)[group_of]]) for limit in (2, self.k))
        fits = self._fits(chosen, groups, different, group_of)
        linked, few = (np.unique(self.people[(fits > 0) & (fits < limit)]) for limit in (2, self.k))
        self.linked[linked] = self.few[few] = self.alone[alone] = self.below[below] = True
        return Key(names, len(linked), len(few), len(alone), len(below))

    def _groups(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A row of each group, its different people, and the group of every released row."""
        _, first, group_of = np.unique(codes, return_index=True, return_inverse=True)
        if self.rows_are_people:
            return first, np.bincount(group_of, minlength=len(first)), group_of
        pairs = np.unique(np.stack([group_of, self.owners]), axis=1)
        return first, np.bincount(pairs[0], minlength=len(first)), group_of

    def _fits(self, chosen: Sequence[_Column], groups: np.ndarray, different: np.ndarray, group_of: np.ndarray) -> np.ndarray:
        """For every original row how many released people it fits, counted up to k."""
        exact = [c for c in chosen if c.label_of is not None]
        vague = [c for c in chosen if c.label_of is None]
        readable = np.all([c.sets >= 0 for c in chosen], axis=0)
        rows = np.flatnonzero(readable)
        answer = np.zeros(len(self.people), dtype=np.int64)
        if not len(rows):
            return answer
        before = [c.label_of[c.sets[rows]] for c in exact if c.label_of is not None]
        after = [c.labels[groups] for c in exact]
        joint = _combined([np.concatenate(pair) for pair in zip(before, after, strict=True)], len(rows) + len(groups))
        mine, theirs = joint[: len(rows)], joint[len(rows) :]
        if not vague:
            by_key = np.zeros(joint.max() + 1, dtype=np.int64)
            by_key[theirs] = np.minimum(different, self.k)
            answer[rows] = by_key[mine]
            return answer
        _, first, kind = np.unique(_combined([mine, *(c.sets[rows] for c in vague)]), return_index=True, return_inverse=True)
        wanted = _Wanted(mine[first], [c.sets[rows][first] for c in vague], [c.cover for c in vague])
        answer[rows] = self._count(wanted, self._entries(vague, theirs, groups, different, group_of))[kind]
        return answer

    def _entries(
        self, vague: Sequence[_Column], keys: np.ndarray, groups: np.ndarray, different: np.ndarray, group_of: np.ndarray
    ) -> _Entries:
        """Groups of k people are one entry each, since fitting one is enough; of smaller ones every person is an entry."""
        large = np.flatnonzero(different >= self.k)
        rows = np.flatnonzero((different < self.k)[group_of])
        small, owners = group_of[rows], self.owners[rows]
        if not self.rows_are_people:
            small, owners = np.unique(np.stack([small, owners]), axis=1)
        place = np.concatenate([large, small])
        owner = np.concatenate([np.full(len(large), -1), owners])
        order = np.argsort(keys[place], kind="stable")
        place, owner = place[order], owner[order]
        return _Entries(keys[place], [c.labels[groups[place]] for c in vague], owner)

    def _count(self, wanted: _Wanted, entries: _Entries) -> np.ndarray:
        starts = np.searchsorted(entries.keys, wanted.keys, "left")
        sizes = np.searchsorted(entries.keys, wanted.keys, "right") - starts
        answer = np.zeros(len(wanted.keys), dtype=np.int64)
        blocks = np.unique(wanted.keys)
        if sizes.sum() / max(len(blocks), 1) < PAIRS_PER_KEY:
            ends = np.cumsum(sizes)
            cuts = np.searchsorted(ends, np.arange(0, ends[-1] + PAIRS_AT_ONCE, PAIRS_AT_ONCE), "right")
            for begin, end in itertools.pairwise(dict.fromkeys([0, *cuts.tolist(), len(sizes)])):
                some = np.arange(begin, end)
                answer[some] = self._count_pairs(wanted, entries, some, starts[some], sizes[some])
            return answer
        order = np.argsort(wanted.keys, kind="stable")
        for some in np.split(order, np.searchsorted(wanted.keys[order], blocks)[1:]):
            block = slice(starts[some[0]], starts[some[0]] + sizes[some[0]])
            answer[some] = self._count_block(wanted, entries, some, block)
        return answer

    def _count_pairs(
        self, wanted: _Wanted, entries: _Entries, some: np.ndarray, starts: np.ndarray, sizes: np.ndarray
    ) -> np.ndarray:
        who = np.repeat(np.arange(len(some)), sizes)
        entry = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(starts, sizes)
        fits = np.ones(len(who), dtype=bool)
        for cover, sets, labels in zip(wanted.covers, wanted.sets, entries.labels, strict=True):
            fits &= cover[sets[some][who], labels[entry]]
        who, owner = who[fits], entries.owners[entry[fits]]
        answer = np.zeros(len(some), dtype=np.int64)
        pairs = who[owner >= 0], owner[owner >= 0]
        if not self.rows_are_people and len(pairs[0]):
            pairs = tuple(np.unique(np.stack(pairs), axis=1))
        answer += np.bincount(pairs[0], minlength=len(some))
        answer[who[owner < 0]] = self.k
        return np.minimum(answer, self.k)

    def _count_block(self, wanted: _Wanted, entries: _Entries, some: np.ndarray, block: slice) -> np.ndarray:
        """The same for many pairs with one key: a bit for every pair."""
        owner = entries.owners[block]
        answer = np.zeros(len(some), dtype=np.int64)
        large, small = (self._bits(wanted, entries, block, chosen) for chosen in (owner < 0, owner >= 0))
        people = owner[owner >= 0]
        for at in range(0, len(some), 4096):
            part = some[at : at + 4096]
            enough = _fitting(large, wanted, part).any(axis=1)
            bits = _fitting(small, wanted, part)
            count = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
            if not self.rows_are_people:
                for i in np.flatnonzero((count > 1) & ~enough):
                    count[i] = len(np.unique(people[np.unpackbits(bits[i], count=len(people)).astype(bool)]))
            answer[at : at + 4096] = np.where(enough, self.k, np.minimum(count, self.k))
        return answer

    def _bits(self, wanted: _Wanted, entries: _Entries, block: slice, chosen: np.ndarray) -> list[np.ndarray]:
        return [
            np.packbits(cover[:, labels[block][chosen]], axis=1)
            for cover, labels in zip(wanted.covers, entries.labels, strict=True)
        ]


@dataclass(frozen=True)
class _Wanted:
    """Different things that the adversary looks for: a key of exact columns, and sets of labels of the others."""

    keys: np.ndarray
    sets: list[np.ndarray]
    covers: list[np.ndarray]


@dataclass(frozen=True)
class _Entries:
    """What is there, in the order of exact keys: labels of the other columns, and an owner, or −1 for a group of k people."""

    keys: np.ndarray
    labels: list[np.ndarray]
    owners: np.ndarray


def _fitting(bits: list[np.ndarray], wanted: _Wanted, some: np.ndarray) -> np.ndarray:
    fits: np.ndarray = bits[0][wanted.sets[0][some]]
    for more, sets in zip(bits[1:], wanted.sets[1:], strict=True):
        fits = fits & more[sets[some]]
    return fits


def _combined(codes: Sequence[np.ndarray], length: int | None = None) -> np.ndarray:
    """One number per row for all codes together; without codes all rows are alike."""
    if not codes:
        return np.zeros(length or 0, dtype=np.int64)
    joint = codes[0].astype(np.int64)
    for code in codes[1:]:
        width = int(code.max(initial=0)) + 1
        if joint.max(initial=0) > 2**62 // width:
            joint = np.unique(joint, return_inverse=True)[1]
        joint = joint * width + code
    if joint.max(initial=0) >= 4 * len(joint):
        joint = np.unique(joint, return_inverse=True)[1]
    return joint


def link_files(original: Path, release: Path, project: Path, k: int, everything: bool = False) -> Linking:
    """The same of files, where every row is a person."""
    said = yaml.safe_load(Path(project).read_text(encoding="utf-8"))
    return link(read_original(original, said), read_release(release, said), said, k, everything)


def main() -> None:
    ask = argparse.ArgumentParser()
    ask.add_argument("original", type=Path)
    ask.add_argument("release", type=Path)
    ask.add_argument("project", type=Path)
    ask.add_argument("--k", type=int, default=5)
    ask.add_argument("--everything", action="store_true", help="all published columns, whatever is declared")
    given = ask.parse_args()
    print(*link_files(given.original, given.release, given.project, given.k, given.everything).lines(), sep="\n")


if __name__ == "__main__":
    main()
