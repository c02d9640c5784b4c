"""What the upper rooms say in Spanish and Portuguese, and what of it is data: errors raised for real, notes, reasons."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import velado
from velado.appointments.anonymity_vectors import AnonymityVector, distance
from velado.attacks import MEASURES, Prevention
from velado.errors import VeladoError
from velado.evaluation.exposure import Exposure
from velado.fuzzy import CMeans
from velado.methods import method_from
from velado.models import model_from
from velado.questions.attack import attack
from velado.questions.compare import balance, compare
from velado.questions.evaluate import evaluate
from velado.questions.suggest import SuggestedColumn, Suggestion
from velado.release.refusal import published_notes, refuse
from velado.release.verify import verification_error
from velado.report.report import report_paths
from velado.sentences import Sentence
from velado.studies import study

TABLE = pa.table({"age": [31, 34, 37, 52, 55, 58], "illness": ["flu", "flu", "flu", "ulcer", "ulcer", "angina"]})
COLUMNS = {
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 20], "top": False}},
    "illness": {"role": "sensitive"},
}


def project(*models: Any, method: Any = None, columns: Any = None) -> dict[str, Any]:
    return {
        "source": TABLE,
        "columns": COLUMNS if columns is None else columns,
        "models": [{"k-anonymity": {"k": 2}}] if not models else list(models),
        "method": {"lattice": {"suppression": 0.0}} if method is None else method,
    }


def raised(call: Callable[[], Any]) -> VeladoError:
    with pytest.raises(VeladoError) as caught:
        call()
    return caught.value


def told(error: VeladoError) -> dict[str, str]:
    """The error in Spanish and Portuguese."""
    return {code: error.text(code) for code in ("es", "pt")}


CASES: dict[str, tuple[Callable[[], Any], str, str, str]] = {
    "appointments": (
        lambda: velado.appointments.assign_appointments(
            pa.table({"age": [1, 2, 3]}), pa.table({"hour": ["9"], "capacity": [2]}), ["age"]
        ),
        "1 of 3 people get no appointment: too few places",
        "1 de 3 personas se quedan sin cita: faltan plazas",
        "1 de 3 pessoas ficam sem agendamento: faltam vagas",
    ),
    "vectors": (
        lambda: distance(AnonymityVector((1,)), AnonymityVector((2,))),
        "only vectors of equally many people can be compared",
        "solo se pueden comparar vectores del mismo número de personas",
        "só se podem comparar vetores do mesmo número de pessoas",
    ),
    "attacks": (
        lambda: attack(TABLE, ["age"], only=["similarity"]),
        "the attack 'similarity' needs a value tree of a sensitive column (--hierarchy) or a sensitive column of numbers",
        "el ataque 'similarity' necesita un árbol de valores de una columna sensible (--hierarchy) o una columna sensible "
        "de números",
        "o ataque 'similarity' precisa de uma árvore de valores de uma coluna sensível (--hierarchy) ou uma coluna sensível "
        "de números",
    ),
    "evaluation": (
        lambda: evaluate(TABLE.slice(0, 2), TABLE, ["age"]),
        "the release has 6 records, more than the original (2)",
        "la publicación tiene 6 registros, más que el original (2)",
        "a publicação tem 6 registros, mais do que o original (2)",
    ),
    "fuzzy": (
        lambda: CMeans(3).fit([[1.0], [1.0], [2.0]]),
        "2 different points cannot be partitioned into 3 sets",
        "2 puntos distintos no pueden dividirse en 3 conjuntos",
        "2 pontos diferentes não podem ser divididos em 3 conjuntos",
    ),
    "methods": (
        lambda: method_from("latice", None),
        "there is no method 'latice'\nDid you mean 'lattice'?",
        "no existe el método 'latice'\n¿Quería decir 'lattice'?",
        "não existe o método 'latice'\nQuis dizer 'lattice'?",
    ),
    "models": (
        lambda: model_from("secrecy", None),
        "there is no privacy model 'secrecy'",
        "no existe el modelo de privacidad 'secrecy'",
        "não existe o modelo de privacidade 'secrecy'",
    ),
    "questions": (
        lambda: compare(project(), {"t": [0.1]}),
        "no model of the project has the parameter 't'",
        "ningún modelo del proyecto tiene el parámetro 't'",
        "nenhum modelo do projeto tem o parâmetro 't'",
    ),
    "recoding": (
        lambda: velado.run(project()).recoding.apply(pa.table({"sex": ["f"]})),
        "the new rows lack recoded columns: age",
        "a las filas nuevas les faltan columnas recodificadas: age",
        "faltam às novas linhas colunas recodificadas: age",
    ),
    "release": (
        lambda: velado.run(project({"k-anonymity": {"k": 7}})),
        "the models need classes of 7 records, but the table has only 6",
        "los modelos necesitan clases de 7 registros, pero la tabla solo tiene 6",
        "os modelos precisam de classes de 7 registros, mas a tabela só tem 6",
    ),
    "report": (
        lambda: report_paths(None, "a", ()),  # type: ignore[arg-type]
        "say at least one format\nChoose among: html, pdf, xlsx",
        "indique al menos un formato\nElija entre: html, pdf, xlsx",
        "indique pelo menos um formato\nEscolha entre: html, pdf, xlsx",
    ),
    "studies": (
        lambda: study("ubbb"),
        "there is no study 'ubbb'\nDid you mean 'ubb'?",
        "no existe el estudio 'ubbb'\n¿Quería decir 'ubb'?",
        "não existe o estudo 'ubbb'\nQuis dizer 'ubb'?",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_error_in_three_languages(name: str) -> None:
    call, *wanted = CASES[name]
    error = raised(call)
    for code, text in zip(("en", "es", "pt"), wanted, strict=True):
        assert text in error.text(code)
    assert str(error) == error.text("en")
    json.dumps(error.as_dict("es"), allow_nan=False)


def test_what_a_table_reaches_is_data() -> None:
    error = raised(lambda: velado.run(project({"k-anonymity": {"k": 4}})))
    assert error.code == "no-solution"
    assert error.fields["allowed"] == 0
    assert error.fields["reached"] == {"k-anonymity": 3}
    assert error.fields["failing"] == ["k-anonymity"]
    # No class has four records at any level, so no suppression helps.
    assert "nearest" not in error.fields
    assert told(error)["es"].startswith(
        "ninguna recodificación cumple los modelos con una proporción suprimida de 0 como máximo\n"
        "k-anonymity (k=4): incluso con todas las columnas en su nivel más alto, la tabla solo alcanza 3."
    )


@pytest.mark.parametrize("method", ["lattice", "datafly", "samarati", "incognito"])
def test_the_nearest_setting_works(method: str) -> None:
    """What an error calls feasible is: the same levels with that much suppression give a release."""
    table = pa.table({"age": [31, 34, 37, 52, 55, 71], "illness": ["flu", "flu", "flu", "ulcer", "ulcer", "angina"]})
    wanted = {**project(method={method: {"suppression": 0.1}}), "source": table}
    error = raised(lambda: velado.run(wanted))
    nearest = error.fields["nearest"]
    assert nearest["suppressed"] == 1
    assert nearest["suppression"] == pytest.approx(1 / 6)
    fixed = {"fixed": {"levels": nearest["levels"], "suppression": nearest["suppression"]}}
    assert velado.run({**wanted, "method": fixed}).evaluation.suppressed == 1


def test_models_of_one_name_are_told_apart() -> None:
    two = {**COLUMNS, "city": {"role": "sensitive"}}
    table = TABLE.append_column("city", pa.array(["a", "b", "a", "b", "a", "b"]))
    models = [{"distinct-diversity": {"l": 2, "column": c}} for c in ("illness", "city")]
    error = raised(lambda: velado.run({**project(*models, columns=two), "source": table}))
    assert error.fields["reached"] == {"distinct-diversity (illness)": 1, "distinct-diversity (city)": 2}
    assert error.fields["failing"] == ["distinct-diversity (illness)"]


def test_levels_that_were_chosen_say_what_they_need() -> None:
    columns = {**COLUMNS, "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10]}}}
    fixed = {"fixed": {"levels": {"age": 1}, "suppression": 0.1}}
    models = [{"k-anonymity": {"k": 2}}, {"distinct-diversity": {"l": 2, "column": "illness"}}]
    error = raised(lambda: velado.run(project(*models, method=fixed, columns=columns)))
    assert error.fields["suppressed"] == 3
    assert error.fields["records"] == 6
    assert error.fields["needed"] == 0.5
    assert error.fields["allowed"] == 0.1
    assert error.fields["reached"] == {"k-anonymity": 3, "distinct-diversity": 1}


def test_what_comes_nearest_to_a_balance_is_data() -> None:
    error = raised(lambda: balance(project(), {"loss": 0.0, "precision": 1.0}, {"k": [2, 3]}))
    assert error.code == "no-balance"
    found = error.fields["nearest"]
    settings = compare(project(), {"k": [2, 3]}).settings
    losses = {s.parameters["k"]: s.evaluation.utility.loss for s in settings if s.evaluation is not None}
    assert found["loss"]["wanted"] == 0
    assert found["loss"]["best"] == min(losses.values())
    assert losses[found["loss"]["setting"]["k"]] == min(losses.values())
    assert "loss: pediu-se 0; o melhor é" in told(error)["pt"]
    json.dumps(error.as_dict(), allow_nan=False)


def test_reasons_of_exposures() -> None:
    """All dangers of two columns, in an error and in notes."""
    one = Exposure("pay", "insensitive", 5, 1000, 900, 950, 990, 995, content="phone numbers")
    two = Exposure("town", "sensitive", 5, 1000, 0, 0, 10, 300, copies=("city", "zip"), people=True, known="never")
    error = raised(lambda: refuse([one, two], None, "a.csv"))
    assert error.fields["columns"] == {"pay": ["content", "alone", "together"], "town": ["copy"]}
    spanish = error.text("es")
    assert "950 de 1.000 registros tienen un valor que comparten menos de 5 (900 son únicos en el suyo), y junto" in spanish
    assert (
        "\ncolumna 'town': es casi una copia de 'city', 'zip', y como cuasi-identificador deja a 300 de 1.000 personas "
        "en grupos de menos de 5" in spanish
    )
    (note,) = published_notes([Exposure(**{**vars(two), "accepted": True})])
    assert note.text("pt").startswith("coluna 'town': exposição aceita, embora: é quase uma cópia de")
    assert note.as_dict()["message"].startswith("exposure accepted, although it is nearly a copy of 'city', 'zip'")
    assert note.as_dict("es")["message"].startswith("se acepta la exposición, aunque es casi una copia")


def test_preventions() -> None:
    prevention = Prevention("k-anonymity", {"k": 3}, "judge-the-combination")
    assert str(prevention) == "{k-anonymity: {k: 3}}, judged on both releases joined"
    assert prevention.text("pt") == "{k-anonymity: {k: 3}}, avaliado sobre as duas publicações juntas"
    assert all(text.into("es") != text for text in MEASURES.values())


def test_reasons_are_put_together_in_every_language() -> None:
    column = SuggestedColumn("pay", {"role": "sensitive"}, Sentence("column '{column}'", column="pay"))
    left = Suggestion((column,), ()).leaving_out("pay", Sentence("left out: {problem}", problem=Sentence("no recoding")))
    reason = left.columns[0].reason
    assert reason == "column 'pay'; left out: no recoding"
    assert isinstance(reason, Sentence)
    assert reason.into("es") == "columna 'pay'; omitida: sin recodificación"


def test_a_failed_verification() -> None:
    error = verification_error(Sentence("it holds {records} records instead of {expected}", records=1, expected=2))
    assert error.text("es").startswith(
        "la publicación escrita no superó la verificación: contiene 1 registros en lugar de 2; se eliminó\n"
    )


def test_sentences_survive_copies() -> None:
    """Results are copied by ``asdict`` and sent between processes."""
    text = Sentence(
        "{few:,} of {all} have a value that fewer than {size} share ({alone:,} are alone with theirs)",
        few=1,
        all=Sentence("{records:,} records", records=9999),
        size=2,
        alone=1,
    )
    for other in (copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert other == text
        assert other.into("es") == text.into("es") != text
