"""The same project on the same rows gives the same release, cell for cell, wherever the rows live."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

import velado
from engines.engines import SERVERS, EngineUnderTest, needs, per_server, rows_of
from harness.judge_hook import TORTURE
from velado.studies import ubb
from velado.tables import Capability, Source

ADULT = Path(os.environ.get("VELADO_DATA", Path(__file__).parents[2] / "shared" / "data")) / "adult"
needs_adult = pytest.mark.skipif(not ADULT.exists(), reason="the Adult data are not there (VELADO_DATA)")
CONFIGURATIONS = ubb.configurations()
STEPS = {} if TORTURE else {"mariadb": 3, "spark": 8}
"""Of so many cases an engine does one, and the last of all; those that are not listed do every case."""


def some_per_server(name: str, cases: Iterable[Any]) -> Any:
    """Parametrize by case and server: what differs with the case is done by Velado, not by the server."""
    listed = [*cases]
    chosen = [
        pytest.param(case, engine, id=f"{case}-{engine.name}")
        for i, case in enumerate(listed)
        for engine in SERVERS
        if i % STEPS.get(engine.name, 1) == 0 or i == len(listed) - 1
    ]
    return pytest.mark.parametrize((name, "engine"), chosen)


@cache
def adult() -> pa.Table:
    """Adult with ages as whole numbers."""
    options = pyarrow.csv.ConvertOptions(column_types={"age": pa.int32()}, strings_can_be_null=False)
    return pyarrow.csv.read_csv(ADULT / "adult.csv", parse_options=pyarrow.csv.ParseOptions(delimiter=";"), convert_options=options)


@cache
def on_server(engine: EngineUnderTest) -> Source:
    """Adult on a server, once for all tests."""
    return engine.put(adult(), "table", Path())


KEPT: dict[str, Any] = {}
"""The last release that was made on this machine: the next engine wants the same one."""


def here(project: dict[str, Any], table: pa.Table) -> Any:
    """What the project makes of the rows on this machine."""
    key = f"{id(table)} {project}"
    if key not in KEPT:
        KEPT.clear()
        KEPT[key] = velado.run({**project, "source": table, "output": project.get("output", {})})
    return KEPT[key]


def both(engine: EngineUnderTest, folder: Path, project: dict[str, Any], source: Source, table: pa.Table) -> None:
    """Run on the server, into the server, and in memory; compare."""
    sink = engine.sink("table", folder)
    there = velado.run(
        {**project, "source": source, "output": {"database": sink.database, "table": sink.table, **project.get("output", {})}}
    )
    expected = here(project, table)
    assert Counter(rows_of(engine.published(sink.table or ""))) == Counter(rows_of(expected.table))
    if "models" in project:
        assert there.levels == expected.levels
        assert there.evaluation.as_dict() == expected.evaluation.as_dict()
        assert there.public_evaluation.as_dict() == expected.public_evaluation.as_dict()


def quick_on(*names: str) -> Any:
    """Parametrize by server; on some it is the short real run of `make test`."""
    marks = dict.fromkeys(names, pytest.mark.quick)
    params = [pytest.param(e, id=e.name, marks=marks.get(e.name, ())) for e in SERVERS]
    return pytest.mark.parametrize("engine", params)


@needs_adult
@some_per_server("name", CONFIGURATIONS)
def test_the_configurations_of_ubb(engine: EngineUnderTest, name: str, tmp_path: Path) -> None:
    columns = {
        c.name: {"role": c.role, "hierarchy": dict(c.hierarchy)}
        for c in ubb.columns(ADULT)  # type: ignore[arg-type]
    }
    models = [{m.name: m.requirements()} for m in CONFIGURATIONS[name]]
    project = {"columns": columns, "models": models, "method": {"lattice": {"suppression": 1.0}}, "rest": "drop"}
    both(engine, tmp_path, project, on_server(engine), adult())


NUMBERS = {
    "age": {"role": "quasi-identifier", "type": "integer"},
    "sex": "quasi-identifier",
    "race": "quasi-identifier",
    "education": "quasi-identifier",
    "occupation": "sensitive",
}


def by_mondrian(**method: str) -> dict[str, Any]:
    return {
        "columns": NUMBERS,
        "models": [{"k-anonymity": {"k": 5}}, {"distinct-diversity": {"l": 2, "column": "occupation"}}],
        "method": {"mondrian": method},
        "rest": "drop",
    }


@needs_adult
@some_per_server(
    "method",
    [
        {"split": "median"},
        {"split": "distribution"},
        {"split": "balanced", "represent": "mode"},
        {"split": "median", "represent": "mean"},
    ],
)
def test_mondrian(engine: EngineUnderTest, method: dict[str, str], tmp_path: Path) -> None:
    both(engine, tmp_path, by_mondrian(**method), on_server(engine), adult())


@needs_adult
@per_server
@pytest.mark.parametrize("split", ["median", "distribution"])
def test_mondrian_in_parts(engine: EngineUnderTest, split: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = engine.sink("table", tmp_path)
    project = by_mondrian(split=split, memory="200KB")
    asked = {**project, "source": on_server(engine), "output": {"database": sink.database, "table": sink.table}}
    if Capability.SPREAD in engine.capabilities:
        # So small that many levels of cuts are needed.
        monkeypatch.setattr("velado.tables.spark.spread.executor_memory", lambda spark: 400_000)
        if split == "distribution":
            with pytest.raises(velado.InputError) as caught:
                velado.run(asked)
            assert caught.value.code == "not-in-parts"
            return
    there = velado.run(asked)
    assert there.search.objective == "greedy cuts, in parts"
    whole = here(by_mondrian(split=split), adult())
    assert Counter(rows_of(engine.published(sink.table or ""))) == Counter(rows_of(whole.table))
    assert there.evaluation.utility.loss == pytest.approx(whole.evaluation.utility.loss)


PEOPLE = pa.table(
    {
        "id": pa.array([f"p{i:03}" for i in range(240)]),
        "name": pa.array([f"name {i % 50}" for i in range(240)]),
        "age": pa.array([20 + i * 7 % 50 for i in range(240)], pa.int32()),
        "cost": pa.array([None if i % 31 == 0 else i * 3.25 for i in range(240)], pa.float64()),
        "born": pa.array([f"{1950 + i % 40}-0{1 + i % 9}-1{i % 9}" for i in range(240)]).cast(pa.date32()),
        "city": pa.array([["Lima", "lima", "Lima ", "São Paulo", "Sao Paulo", None][i % 6] for i in range(240)]),
        "ill": pa.array([["flu", "cold", "hiv", "HIV"][i // 3 % 4] for i in range(240)]),
    }
)


@per_server
@pytest.mark.parametrize("suppressed", ["drop", "asterisks"])
def test_collations_suppression_and_missing_values(engine: EngineUnderTest, suppressed: str, tmp_path: Path) -> None:
    project = {
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 50]}},
            "city": "quasi-identifier",
            "cost": {"role": "sensitive", "exposure": "accepted"},
            "ill": "sensitive",
        },
        "models": [{"k-anonymity": {"k": 7}}],
        "method": {"lattice": {"suppression": 0.3}},
        "rest": "drop",
        "output": {"suppressed": suppressed},
    }
    both(engine, tmp_path, project, engine.put(PEOPLE, "table", tmp_path), PEOPLE)


@quick_on("postgresql", "spark")
def test_floats_and_dates_are_recoded(engine: EngineUnderTest, tmp_path: Path) -> None:
    project = {
        "columns": {
            "cost": {"role": "quasi-identifier", "type": "number", "hierarchy": {"intervals": [100, 1000]}},
            "born": {"role": "quasi-identifier", "type": "date", "hierarchy": {"dates": ["year", "decade"]}},
            "ill": {"role": "sensitive", "exposure": "accepted"},
        },
        "models": [{"k-anonymity": {"k": 3}}],
        "method": {"lattice": {"suppression": 0.1}},
        "rest": "drop",
    }
    both(engine, tmp_path, project, engine.put(PEOPLE, "table", tmp_path), PEOPLE)


@per_server
def test_light_operations(engine: EngineUnderTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VELADO_TEST_KEY", "5f" * 32)
    key = "env:VELADO_TEST_KEY"
    project = {
        "protection": "operations",
        "columns": {
            "id": {"operation": {"pseudonymize": {"key": key}}},
            "name": {"operation": {"encrypt": {"key": key}}},
            "age": {"operation": {"limits": {"low": 25, "high": 60}}},
            "cost": {"operation": {"round": 50}},
            "born": {"operation": {"shift": {"key": key, "by": "id", "days": [-30, 30]}}},
            "city": {"operation": {"mask": {"keep": 2}}},
            "ill": {"operation": "suppress"},
        },
    }
    both(engine, tmp_path, project, engine.put(PEOPLE, "table", tmp_path), PEOPLE)


@per_server
def test_fuzzy_sets(engine: EngineUnderTest, tmp_path: Path) -> None:
    project = {
        "columns": {"age": {"role": "quasi-identifier", "type": "integer"}, "ill": "sensitive"},
        "models": [{"k-anonymity": {"k": 5}}],
        "method": {"fuzzy": {"sets": 3, "seed": 1}},
        "rest": "drop",
    }
    both(engine, tmp_path, project, engine.put(PEOPLE, "table", tmp_path), PEOPLE)


@per_server
def test_several_tables(engine: EngineUnderTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from test_tables import KEY, PATIENTS, SPEC, VISITS

    monkeypatch.setenv("VELADO_KEY", KEY)
    data = {"patients": pa.table(PATIENTS), "visits": pa.table(VISITS)}

    def run(sources: dict[str, Any], outputs: dict[str, Any]) -> Any:
        tables = {n: {**t, "source": sources[n], "output": outputs[n]} for n, t in SPEC["tables"].items()}
        return velado.run({**SPEC, "tables": tables})

    expected = run(data, {n: {} for n in data})
    sinks = {n: engine.sink("table", tmp_path, name=n) for n in data}
    asked = (
        {n: engine.put(t, "table", tmp_path) for n, t in data.items()},
        {n: {"database": s.database, "table": s.table} for n, s in sinks.items()},
    )
    if not needs(engine, Capability.ATOMIC_MANY, lambda: run(*asked)):
        return
    there = run(*asked)
    for name, sink in sinks.items():
        assert Counter(rows_of(engine.published(sink.table or ""))) == Counter(rows_of(expected[name].table))
    assert [j.as_dict() if hasattr(j, "as_dict") else j for j in there.joined] == [
        j.as_dict() if hasattr(j, "as_dict") else j for j in expected.joined
    ]


@needs_adult
@per_server
def test_questions_have_the_same_answers(engine: EngineUnderTest, tmp_path: Path) -> None:
    there, rows = on_server(engine), adult()
    quasi = ["sex", "age", "race"]
    assert velado.check(there, quasi, ["occupation"]).as_dict() | {"table": 0} == velado.check(
        rows, quasi, ["occupation"]
    ).as_dict() | {"table": 0}
    project = {
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 50]}},
            "sex": "quasi-identifier",
            "race": "quasi-identifier",
        },
        "models": [{"k-anonymity": {"k": 5}}],
        "rest": "drop",
    }
    explored = [velado.explore({**project, "source": s}) for s in (there, rows)]
    assert explored[0].as_dict() == explored[1].as_dict()
    sink = engine.sink("table", tmp_path)
    release = velado.run({**project, "source": there, "output": {"database": sink.database, "table": sink.table}})
    again = velado.evaluate(there, sink.source(), quasi, hierarchies={"age": {"intervals": [10, 50]}})
    assert again.utility.loss == pytest.approx(release.evaluation.utility.loss)


def inspected(source: Any) -> dict[str, Any]:
    return {
        k: v
        for k, v in velado.inspect_table(source).as_dict().items()
        if k not in ("table", "source", "file", "delimiter", "encoding")
    }


@per_server
def test_inspections_are_the_same(engine: EngineUnderTest, tmp_path: Path) -> None:
    assert inspected(engine.put(PEOPLE, "table", tmp_path)) == inspected(PEOPLE)
