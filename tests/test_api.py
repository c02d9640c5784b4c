"""The Python API: arguments in any sensible form, results in the kind that came in."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import velado
from velado.errors import InputError
from velado.methods import Mondrian
from velado.models import DistinctDiversity, KAnonymity
from velado.schema import Column

pytestmark = pytest.mark.judged

PEOPLE = pa.table({"age": [31, 38, 52, 57, 33, 59], "ill": ["a", "b", "a", "b", "b", "a"], "visits": [1, None, 3, 1, 3, None]})
AGE = {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 100]}}
BY_NAME = {"age": AGE, "ill": "sensitive", "visits": "insensitive"}
AS_LIST = [Column("age", **AGE), Column("ill", "sensitive"), Column("visits", "insensitive")]
K = KAnonymity(2)


def records(table: Any) -> list[tuple[str, ...]]:
    arrow = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table, preserve_index=False)
    return sorted(tuple("" if v is None else str(v) for v in row.values()) for row in arrow.to_pylist())


@pytest.mark.parametrize(
    "columns", [BY_NAME, AS_LIST, tuple(AS_LIST), iter(AS_LIST), {"age": AS_LIST[0], **dict(list(BY_NAME.items())[1:])}]
)
@pytest.mark.parametrize("models", [K, [K], (K,), {"k-anonymity": {"k": 2}}, [{"k-anonymity": {"k": 2}}]])
def test_columns_and_models_in_any_form(columns, models):
    columns = list(AS_LIST) if not isinstance(columns, (dict, list, tuple)) else columns
    release = velado.anonymize(PEOPLE, columns, models)
    assert release.levels == {"age": 1}
    assert release.evaluation.models[0].required == {"k": 2}


def test_several_models_in_one_mapping():
    models = {"k-anonymity": {"k": 2}, "distinct-diversity": {"l": 2, "column": "ill"}}
    found = velado.anonymize(PEOPLE, BY_NAME, models)
    asked = velado.anonymize(PEOPLE, BY_NAME, [K, DistinctDiversity(2, "ill")])
    assert [v.name for v in found.evaluation.models] == [v.name for v in asked.evaluation.models] == list(models)


@pytest.mark.parametrize("method", ["mondrian", {"mondrian": {}}, {"mondrian": None}, Mondrian()])
def test_methods_by_name_mapping_or_object(method):
    assert (
        velado.anonymize(PEOPLE, BY_NAME, K, method).search.objective
        == velado.anonymize(PEOPLE, BY_NAME, K, Mondrian()).search.objective
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"columns": "age", "models": K},
        {"columns": ["age", "ill"], "models": K},
        {"columns": {"age": 5}, "models": K},
        {"columns": {"age": {"role": "quasi-identifier", "hierachy": {}}}, "models": K},
        {"columns": 5, "models": K},
        {"columns": BY_NAME, "models": "k-anonymity"},
        {"columns": BY_NAME, "models": 5},
        {"columns": BY_NAME, "models": [5]},
        {"columns": BY_NAME, "models": K, "method": 5},
        {"columns": BY_NAME, "models": K, "method": {"lattice": {}, "mondrian": {}}},
        {"columns": BY_NAME, "models": K, "method": "mondrain"},
    ],
)
def test_wrong_arguments_are_told_with_a_way_out(arguments):
    with pytest.raises(InputError) as caught:
        velado.anonymize(PEOPLE, **arguments)
    assert caught.value.hint
    assert caught.value.text("es") != caught.value.text("en")


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.Table])
def test_results_come_in_the_kind_that_came_in(kind):
    given = {
        pd.DataFrame: lambda: PEOPLE.to_pandas(),
        pl.DataFrame: lambda: pl.DataFrame(PEOPLE),
        pl.LazyFrame: lambda: pl.DataFrame(PEOPLE).lazy(),
        pa.Table: lambda: PEOPLE,
    }[kind]()
    release = velado.anonymize(given, BY_NAME, K)
    assert type(release.table) is kind
    shown = release.table.collect() if kind is pl.LazyFrame else release.table
    arrow = shown.to_arrow() if isinstance(shown, pl.DataFrame) else shown
    expected = velado.anonymize(PEOPLE, BY_NAME, K).table
    assert [r[:2] for r in records(arrow)] == [r[:2] for r in records(expected)]
    light = velado.run(
        {"source": given, "protection": "operations", "columns": {"age": {"operation": {"round": 10}}}, "rest": "insensitive"}
    )
    assert type(light.table) is kind
    assert type(release.recoding.apply(given).table) is kind


def test_whole_numbers_beside_missing_ones_stay_whole_in_pandas():
    given = pd.DataFrame({"age": [31, 38, 52, 57], "visits": pd.array([1, None, 3, None], dtype="Int64")})
    table = velado.anonymize(given, {"age": AGE, "visits": {"role": "insensitive", "exposure": "accepted"}}, K).table
    assert sorted(str(v) for v in table["visits"]) == ["1", "3", "None", "None"]


def test_a_file_without_output_comes_out_as_arrow(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,ill\n31,a\n38,b\n52,a\n57,b\n")
    assert isinstance(velado.anonymize(path, {"age": AGE, "ill": "sensitive"}, K).table, pa.Table)


def test_one_name_is_one_column():
    assert velado.check(PEOPLE, "age", "ill").k == velado.check(PEOPLE, ["age"], ["ill"]).k


def test_a_project_may_be_a_mapping():
    described = {"source": PEOPLE, "columns": BY_NAME, "models": {"k-anonymity": {"k": 2}}}
    assert velado.run(described).levels == {"age": 1}
    assert len(velado.compare(described, {"k": [2, 3]}).settings) == 2


def test_a_suggestion_is_what_init_would_write_and_runs(tmp_path):
    ages = [20 + i % 40 for i in range(120)]
    given = pd.DataFrame(
        {
            "name": [f"Ana Pérez {i}" for i in range(120)],
            "age": ages,
            "sex": ["F" if i % 2 else "M" for i in range(120)],
            "diagnosis": [("flu", "asthma", "angina")[i % 3] for i in range(120)],
        }
    )
    found = velado.suggest(given)
    assert found.kept["age"]["role"] == "quasi-identifier"
    assert found.kept.get("name", {"role": "identifier"})["role"] == "identifier"
    release = velado.run(found.project)
    assert isinstance(release.table, pd.DataFrame)
    assert set(release.table["name"]) == {"*"}
    again = velado.anonymize(given, found.kept, found.models, found.method, rest="drop")
    assert again.evaluation.utility.loss == release.evaluation.utility.loss
    with pytest.raises(InputError, match="read back"):
        type(found).from_dict(found.as_dict()).project  # noqa: B018


def test_about_thirty_names_and_the_rest_in_submodules():
    assert 25 <= len(velado.__all__) <= 36
    for home, name in (
        ("models", "AlphaK"),
        ("methods", "Samarati"),
        ("appointments", "assign_appointments"),
        ("questions", "Estimate"),
        ("report", "save_comparison"),
    ):
        assert not hasattr(velado, name)
        assert getattr(getattr(velado, home), name)
