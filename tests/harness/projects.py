"""Random tables of people and random projects about them, from a seed."""

import csv
import io
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

JOBS = {"nurse": "health", "doctor": "health", "smith": "craft", "baker": "craft", "clerk": "office", "judge": "office"}
ILLNESSES = ["flu", "asthma", "cancer", "diabetes", "gout"]
TREE = {"tree": {"lungs": ["flu", "asthma"], "other": ["cancer", "diabetes", "gout"]}}
HIERARCHIES: dict[str, Any] = {
    "age": {"intervals": [5, 10, 40]},
    "zip": {"mask": "right"},
    "birth": {"dates": ["month", "year", "decade"]},
    "job": {"file": "jobs.csv"},
    "sex": None,
}
MONOTONE = ("k-anonymity", "distinct-diversity")


@dataclass
class Case:
    """A table and a project about it."""

    header: list[str]
    rows: list[list[str]]
    project: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Write everything; the path of the project file."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "people.csv").write_text(self.text(), encoding="utf-8")
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        path = folder / "project.yaml"
        path.write_text(yaml.safe_dump(self.project, sort_keys=False), encoding="utf-8")
        return path

    def text(self) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(self.rows)
        return out.getvalue()

    def with_row(self, place: int, row: Sequence[str]) -> "Case":
        """The same with one person changed."""
        rows = [list(r) for r in self.rows]
        rows[place] = list(row)
        return Case(self.header, rows, self.project, self.files)


def person(rng: random.Random, header: Sequence[str], number: int) -> list[str]:
    """An invented person; ages, postal codes and so on come from few values, some of them rare."""
    rare = rng.random() < 0.12
    age = rng.choice([19, 61, 88]) if rare else rng.choice([31, 33, 34, 38, 42, 45])
    place = rng.choice(["20095", "99817"]) if rare else rng.choice(["10115", "10117", "10243"])
    drawn = {
        "name": f"Person-{number:05d}-{rng.randrange(10**6):06d}",
        "age": str(age),
        "zip": place,
        "birth": f"{rng.choice([1960, 1974, 1975])}-{rng.randint(1, 3):02d}-{rng.choice([3, 17]):02d}",
        "job": rng.choices(list(JOBS), [6, 5, 4, 3, 1, 1])[0],
        "sex": rng.choice(["f", "m"]),
        "ill": rng.choices(ILLNESSES, [6, 5, 3, 2, 1])[0],
        "cost": str(rng.choice([10, 20, 20, 30, 100])),
        "city": rng.choice(["Berlin", "Bonn"]) + f" {rng.randint(1, 40)}",
    }
    return [drawn[name] for name in header]


def random_model(rng: random.Random, columns: Sequence[str]) -> dict[str, Any]:
    """A model of a sensitive column; with a tree where the column has one."""
    column = rng.choice(list(columns))
    distances = ["equal", "hierarchical"] if column == "ill" else ["equal", "ordered"]
    strict = {"strict": True} if len(columns) > 1 and rng.random() < 0.25 else {}
    name, parameters = rng.choice(
        [
            ("distinct-diversity", {"l": rng.randint(2, 3)}),
            ("entropy-diversity", {"l": rng.choice([1.5, 2, 2.5])}),
            ("recursive-diversity", {"c": rng.choice([1.5, 2, 3]), "l": 2}),
            ("t-closeness", {"t": rng.choice([0.15, 0.3, 0.45]), "distance": rng.choice(distances)}),
            ("delta-disclosure", {"delta": rng.choice([1, 1.5, 2]), "base": rng.choice([2, "e"])}),
            ("beta-likeness", {"beta": rng.choice([0.5, 1, 2]), "enhanced": rng.random() < 0.5}),
            ("alpha-k", {"alpha": rng.choice([0.5, 0.6, 0.8]), "k": rng.randint(2, 4)}),
        ]
    )
    return {name: {**parameters, "column": column, **strict}}


def random_case(seed: int, *, method: str | None = None, rows: int | None = None, **output: Any) -> Case:
    """A project with some quasi-identifiers, one or two sensitive columns, and one to three models."""
    rng = random.Random(seed)
    quasi = rng.sample(sorted(HIERARCHIES), rng.randint(1, 3))
    sensitive = ["ill", "cost"] if rng.random() < 0.4 else [rng.choice(["ill", "cost"])]
    # Columns stand in another order than their roles.
    header = ["name", *quasi, *sensitive, "city"]
    rng.shuffle(header)
    people = [person(rng, header, i) for i in range(rows or rng.randint(25, 90))]
    columns: dict[str, Any] = {}
    for name in header:
        if name == "name":
            columns[name] = {"role": "identifier", **({"operation": "drop"} if rng.random() < 0.3 else {})}
        elif name in quasi:
            columns[name] = {"role": "quasi-identifier"}
            if HIERARCHIES[name]:
                columns[name]["hierarchy"] = HIERARCHIES[name]
            if name == "birth":
                columns[name]["type"] = "date"
        elif name in sensitive:
            columns[name] = {"role": "sensitive", "exposure": "accepted"} | ({"hierarchy": TREE} if name == "ill" else {})
        else:
            columns[name] = {"role": "insensitive", "exposure": "accepted"}
    models = [{"k-anonymity": {"k": rng.randint(2, 5)}}]
    models += [random_model(rng, sensitive) for _ in range(rng.randint(0, 2))]
    chosen = method or rng.choice(["lattice", "lattice", "lattice", "datafly", "samarati", "incognito", "mondrian"])
    if chosen in ("samarati", "incognito") and any(next(iter(m)) not in MONOTONE for m in models):
        chosen = "lattice"
    options = {} if chosen == "mondrian" else {"suppression": rng.choice([0, 0.1, 0.3, 0.5])}
    written = {
        "path": "release." + rng.choice(["csv", "csv", "parquet", "xlsx", "arrow"]),
        "order": rng.choice(["sorted", "shuffle", "keep"]),
        "suppressed": rng.choice(["drop", "asterisks"]),
    } | output
    project = {
        "name": f"case {seed}",
        "source": "people.csv",
        "columns": columns,
        "models": models,
        "method": {chosen: options},
        "output": written,
    }
    files = {"jobs.csv": "".join(f"{job};{group};*\n" for job, group in JOBS.items())}
    return Case(header, people, project, files)
