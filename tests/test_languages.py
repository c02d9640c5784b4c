"""Three languages: no sentence is missing, none is stale, none is put together from pieces; and the language is chosen."""

import ast
import copy
import json
import pickle
import re
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import Any

import pyarrow as pa
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import sentences as code
import source_code
import velado
from case_loop import failures
from conftest import VELADO, Command
from test_bad_input import BAD_HIERARCHY_FILES, BAD_PROJECTS, BAD_TABLES, QI
from velado.cli.language import choose
from velado.errors import (
    Cancelled,
    InputError,
    InternalError,
    NoSolution,
    Note,
    VeladoError,
    did_you_mean,
    reason,
    short_repr,
    suggest,
)
from velado.i18n import LANGUAGES, Language
from velado.project.template import project_text
from velado.questions.inspect import Inspection, inspect_table
from velado.questions.suggest import Suggestion
from velado.questions.suggest import suggest as suggest_columns
from velado.sentences import (
    CONTEXT,
    PLACE,
    Sentence,
    into,
    join_sentences,
    localize_number,
    translate_template,
    translations,
    wordless,
)
from velado.tables import Source

LISTS = sorted(Path(str(files("velado.i18n"))).joinpath("sentences").glob("*.yaml"))
OTHERS = [language for language in LANGUAGES if language != "en"]
BY_PYTHON = {"True", "False"}
"""Words that Python writes, which stand nowhere in the code."""
STOP_WORDS = re.compile(r"\b(the|must|not|is|are|has|have|was|were|with|this|that|which|cannot|there|only|of|and|an)\b", re.I)
"""Words that no Spanish or Portuguese sentence has."""


# The lists


@pytest.mark.lint
def test_every_sentence_of_the_code_is_translated() -> None:
    assert list(code.untranslated()) == []


@pytest.mark.lint
def test_no_sentence_is_put_together_from_pieces() -> None:
    assert sorted({*code.untranslatable(), *code.unspoken()}) == []


@pytest.mark.lint
def test_every_place_is_filled() -> None:
    assert list(code.misfilled()) == []


@pytest.mark.lint
def test_the_code_has_sentences() -> None:
    """The search itself finds what it is for."""
    found = {template for _, template in code.sentences()}
    assert len(found) > 800
    assert {"the file is empty", "no role is given for: {columns}", "velado run PROJECT writes it."} <= found


@pytest.mark.lint
def test_what_is_not_translated_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = ast.parse("Sentence('the file is empty')\nSentence('nobody wrote this')")
    monkeypatch.setattr(source_code, "trees", lambda: {Path("tables/x.py"): tree})
    assert list(code.untranslated("tables")) == [("tables/x.py:2", "nobody wrote this")]


@pytest.mark.lint
def test_pieces_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    statements = (
        "raise InputError('a', f'there is no {x}')",
        "raise InputError('a', 'there is no ' + x)",
        "raise InputError('a', 'b', hint='Choose ' + ', '.join(x))",
        "message = f'{x} is wrong'",
        "return f'the column {x} is wrong'",
    )
    tree = ast.parse("def f(x):\n    " + "\n    ".join(statements))
    monkeypatch.setattr(source_code, "trees", lambda: {Path("tables/x.py"): tree})
    assert {*code.untranslatable()} == {f"tables/x.py:{line}" for line, _ in enumerate(statements, start=2)}


@pytest.mark.lint
def test_unfilled_places_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = ast.parse("Sentence('a {b} {{c}}', b=1)\nSentence('a {b}', c=1)\nSentence('{literal: braces}')")
    monkeypatch.setattr(source_code, "trees", lambda: {Path("tables/x.py"): tree})
    assert list(code.misfilled()) == ["tables/x.py:2"]


@pytest.mark.lint
def test_the_same_places_in_every_language() -> None:
    """Names, conversions and formats; and what is in braces without being a place, such as parts of a project file."""
    pairs = [(t, language, texts.get(language, "")) for t, texts in translations().items() for language in OTHERS]
    wrong = [
        f"{language}: {template!r}"
        for template, language, text in pairs
        if not text.strip() or set(PLACE.findall(template)) != set(PLACE.findall(text))
    ]
    assert wrong == []


@pytest.mark.lint
def test_no_sentence_is_stale() -> None:
    assert sorted(set(translations()) - code.written() - BY_PYTHON) == []


@pytest.mark.lint
def test_every_sentence_stands_in_one_list_once() -> None:
    found: dict[str, list[str]] = {}
    for path in LISTS:
        root = yaml.compose(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        for key, _ in root.value if root is not None else ():
            found.setdefault(key.value, []).append(path.name)
    assert {key: names for key, names in found.items() if len(names) > 1} == {}


@pytest.mark.lint
def test_no_english_is_left_in_the_lists() -> None:
    """Beside what stands in quotes or braces, and words of the program."""
    pairs = [(t, language, texts[language]) for t, texts in translations().items() for language in OTHERS]
    left = [(language, text) for t, language, text in pairs if text != t and english_words(text, language)]
    assert left == []


@pytest.mark.lint
def test_english_that_is_left_is_found() -> None:
    assert english_words("la línea {line} is 'the header'", "es") == {"is"}


NATIVE = {"es": {"has"}, "pt": set[str]()}
"""Words that look English and are not."""


def english_words(text: str, language: str) -> set[str]:
    """The English words beside what is quoted."""
    return {w.lower() for w in STOP_WORDS.findall(_plain(text))} - NATIVE[language]


def _plain(text: str) -> str:
    """A text without what is quoted in it: values, names, options, addresses and parts of project files."""
    text = re.sub(r"\{[^{}]*\}|'[^'\n]*'|\"[^\"\n]*\"|«[^»]*»|“[^”]*”", " ", text)
    return re.sub(r"(?:^|(?<=\s))(--?\w[\w-]*|\S*[/=_]\S*|\w[\w-]*:)", " ", text)


# Sentences

FOUND = Sentence("line {line} has {found} fields, {first} has {wanted}", line=7, found=3, first=Sentence("the header"), wanted=4)


def test_a_sentence_is_english_and_can_be_another() -> None:
    assert FOUND == "line 7 has 3 fields, the header has 4"
    assert FOUND.into("es") == "la línea 7 tiene 3 campos, la cabecera tiene 4"
    assert FOUND.into("pt") == "a linha 7 tem 3 campos, o cabeçalho tem 4"
    assert FOUND.into("en") == str(FOUND)


def test_numbers_have_the_marks_of_the_language() -> None:
    rows = Sentence("a sheet holds {most:,} rows at most", most=1_048_576)
    assert rows == "a sheet holds 1,048,576 rows at most"
    assert rows.into("es") == "una hoja admite 1.048.576 filas como máximo"
    lost = Sentence("{method} loses {loss:.1%} of the information", method="a,b.c", loss=0.0724)
    assert lost.into("es") == "a,b.c pierde el 7,2\N{NARROW NO-BREAK SPACE}% de la información"
    assert lost.into("pt") == "a,b.c perde 7,2% da informação"
    assert Sentence("{flag} {text}", flag=True, text="1,234.5").into("es") == "True 1,234.5"


def test_values_in_a_list_are_joined() -> None:
    known = Sentence("Choose one of: {known}", known=["a", 1.5, Sentence("the header")])
    assert known == "Choose one of: a, 1.5, the header"
    assert known.into("es") == "Elija uno de: a, 1,5, la cabecera"


def test_sentences_are_joined() -> None:
    both = join_sentences(Sentence(" or "), [Sentence("the header"), Sentence("the first line"), "{x}"])
    assert both == "the header or the first line or {x}"
    assert both.into("pt") == "o cabeçalho ou a primeira linha ou {x}"
    assert join_sentences(", ", []) == "" == join_sentences(", ", []).into("es")


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
@pytest.mark.parametrize("sentence", [FOUND, join_sentences("; ", [FOUND, "x"]), Sentence("a {b: c}")])
def test_copies_speak_all_languages(again: Callable[[Any], Any], sentence: Sentence) -> None:
    copied = again(sentence)
    assert isinstance(copied, Sentence)
    assert [copied.into(language) for language in LANGUAGES] == [sentence.into(language) for language in LANGUAGES]


def test_braces_without_places_are_braces() -> None:
    assert Sentence("source: {path: table.csv}").into("es") == "source: {path: table.csv}"
    wanted = Sentence("known is one of {lists}, or {{list, levels, language, others}}, got {given}", lists=["a"], given="{'x': 1}")
    assert wanted == "known is one of a, or {list, levels, language, others}, got {'x': 1}"
    assert wanted.into("es").endswith("o {list, levels, language, others}, se recibió {'x': 1}")


def test_one_text_has_two_translations_by_its_context() -> None:
    holds, attack = Sentence("fails"), Sentence("fails¦attack")
    assert str(holds) == str(attack) == attack.into("en") == Language("en").say("fails¦attack") == "fails"
    assert [holds.into("es"), attack.into("es")] == ["no se cumple", "fracasa"]
    assert Sentence("a¦b") == Sentence("a¦b").into("es") == "a¦b"


@pytest.mark.lint
def test_a_context_is_only_where_it_is_needed() -> None:
    """A text with a context has a twin that is translated otherwise."""
    with_context = {t: texts for t, texts in translations().items() if CONTEXT in t}
    assert with_context
    variants = {
        t: [o for o in translations() if o != t and o.partition(CONTEXT)[0] == t.partition(CONTEXT)[0]] for t in with_context
    }
    assert [t for t, others in variants.items() if all(translations()[o] == with_context[t] for o in others)] == []


def test_what_is_not_in_the_list_stays_english() -> None:
    strange = Sentence("nobody wrote {n:,} words for this", n=1234)
    assert strange.into("es") == "nobody wrote 1.234 words for this"
    assert translate_template("nobody wrote this", "pt") == "nobody wrote this"


def test_a_sentence_of_a_sentence_is_itself() -> None:
    assert Sentence(FOUND) is FOUND
    assert into("plain", "es") == "plain"
    assert into(FOUND, "pt") == FOUND.into("pt")
    assert wordless("{a}: {b}, {c:.1%}")
    assert not wordless("{a} of {b}")


@given(st.text(), st.integers(), st.floats(allow_nan=False))
def test_places_are_filled_as_python_fills_them(text: str, whole: int, number: float) -> None:
    template = "{text!r} {whole:,} {number:.3f} {{}} {text}"
    places: dict[str, Any] = {"text": text, "whole": whole, "number": number}
    assert Sentence(template, **places) == template.format(**places)
    there = Sentence(template, **places).into("es")
    assert there == f"{text!r} {localize_number(f'{whole:,}', 'es')} {localize_number(f'{number:.3f}', 'es')} {{}} {text}"


# Errors and notes


def test_code_and_fields_are_the_same_in_every_language() -> None:
    error = InputError("ragged-row", FOUND, file="a.csv", values=["x"], hint="Leave it out.")
    told = {language: error.as_dict(language)["error"] for language in LANGUAGES}
    assert told["es"]["message"] == FOUND.into("es")
    assert told["es"]["hint"] == "Quítela."
    assert error.text("es") == f"a.csv: {FOUND.into('es')} ('x')\nQuítela."
    assert str(error) == error.text() == f"a.csv: {FOUND} ('x')\nLeave it out."
    spoken = ("message", "hint")
    same = [{k: v for k, v in told[language].items() if k not in spoken} for language in LANGUAGES]
    assert same[0] == same[1] == same[2]
    assert same[0]["fields"] == {"line": 7, "found": 3, "wanted": 4}
    json.dumps(told)


def test_fields_are_names_and_numbers_of_all_sentences_in_the_message() -> None:
    where = Sentence("line {line}", line=12)
    error = InputError("x", Sentence("{where} is longer than the {most:,} bytes that a line may have", where=where, most=9))
    assert error.fields == {"line": 12, "most": 9}
    names = InputError("x", Sentence("no role is given for: {columns}", columns=["a", "b" * 100]))
    assert names.fields == {"columns": ["a", "b" * 60 + "…"]}
    assert InputError("x", join_sentences("; ", [where, "a"])).fields == {"line": 12}
    assert InputError("x", where, fields={"line": 13, "more": 1}).fields == {"line": 13, "more": 1}


def test_no_password_in_any_language() -> None:
    error = InputError("x", Sentence("cannot read the file: {why}", why="postgresql://me:geheim@host/db"))
    for language in LANGUAGES:
        assert "geheim" not in error.text(language) + json.dumps(error.as_dict(language))


def test_an_error_can_be_sent_to_another_process() -> None:
    note = Note("one-shift", Sentence("line {line}", line=1), "birth")
    assert pickle.loads(pickle.dumps(note)).text("es") == "columna 'birth': la línea 1"
    assert note.as_dict("pt") == {"code": "one-shift", "message": "a linha 1", "column": "birth"}
    error = InputError("x", Sentence("line {line}", line=1), file="a.csv", column="birth", hint="Run again.", values=["b"])
    error.others = (Cancelled(),)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is InputError
    assert again.as_dict("es") == error.as_dict("es")
    assert again.text("pt") == error.text("pt")
    assert again.others[0].code == "cancelled"


def test_hints_and_causes() -> None:
    assert suggest("modles", ["models", "output"]).into("es") == "¿Quería decir 'models'?"
    assert suggest("x", ["aaa", "bbb"]).into("pt") == "Conhecidos: aaa, bbb"
    assert did_you_mean(["a", "b"]).into("es") == "¿Quería decir 'a' o 'b'?"
    assert reason(PermissionError(13, "Permission denied")).into("es") == "permiso denegado"
    assert reason(ValueError("strange")) == "strange"
    assert reason(OSError(Sentence("the header"))).into("es") == "la cabecera"
    assert into(short_repr(10**400), "es") == "un número de más de 300 dígitos"
    assert InternalError.of(ValueError("secret")).text("es").startswith("error interno: ValueError en un lugar desconocido")


# The language of a command


@pytest.mark.parametrize(
    ("arguments", "environment", "code"),
    [
        ([], {}, "en"),
        (["run", "--language", "es"], {}, "es"),
        (["run", "--language=pt"], {"VELADO_LANGUAGE": "es"}, "pt"),
        (["--language", "es", "run", "--language", "pt"], {}, "pt"),
        (["run", "--", "--language", "es"], {}, "en"),
        ([], {"VELADO_LANGUAGE": "es", "LANG": "pt_BR.UTF-8"}, "es"),
        ([], {"VELADO_LANGUAGE": "", "LANG": "pt_BR.UTF-8"}, "pt"),
        ([], {"LANG": "es_CO.UTF-8"}, "es"),
        ([], {"LANG": "de_DE.UTF-8"}, "en"),
        ([], {"LANG": "es_ES", "LC_ALL": "C"}, "en"),
        ([], {"LC_MESSAGES": "pt_PT", "LANG": "es_ES"}, "pt"),
        (["--language"], {}, "en"),
    ],
)
def test_the_language_is_chosen(arguments: list[str], environment: dict[str, str], code: str) -> None:
    assert choose(arguments, environment).code == code


@pytest.fixture(autouse=True)
def english_afterwards() -> Any:
    """The language of a command is that of the process."""
    yield
    choose([], {})


@pytest.mark.parametrize("how", [{"args": ("--language", "de")}, {"env": {"VELADO_LANGUAGE": "de"}}])
def test_an_unknown_language_is_refused(how: dict[str, Any], environment: dict[str, str], tmp_path: Path) -> None:
    ended = subprocess.run(
        [VELADO, "inspect", "a.csv", *how.get("args", ())],
        cwd=tmp_path,
        env={**environment, **how.get("env", {})},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert ended.returncode == 2
    assert "there is no language 'de'" in ended.stderr
    assert "Traceback" not in ended.stderr


# What commands say when something is wrong

BAD_CHANGES: dict[str, dict[str, Any]] = {
    "unknown key": {"modles": []},
    "no columns": {"columns": None},
    "no models": {"models": None},
    "version": {"velado": 7},
    "light": {"protection": "operations"},
    "protection": {"protection": "heavy"},
    "rest": {"rest": "keep"},
    "source of another kind": {"source": 7},
    "option of the source": {"source": {"path": "patients.csv", "encodign": "utf-8"}},
    "delimiter": {"source": {"path": "patients.csv", "delimiter": ";;"}},
    "encoding": {"source": {"path": "patients.csv", "encoding": "klingon"}},
    "no file": {"source": {"path": "patient.csv"}},
    "no folder": {"source": {"path": "nowhere/patients.csv"}},
    "database": {"source": {"database": "postgresql://me:geheim@host/db", "table": "x"}},
    "skip": {"source": {"path": "patients.csv", "skip": 900}},
    "person and household": {"person": "name", "household": "name"},
    "variants": {"variants": "both"},
    "output order": {"output": {"path": "out.csv", "order": "random"}},
    "output suffix": {"output": {"path": "out.doc"}},
    "output is input": {"output": {"path": "patients.csv"}},
    "output folder": {"output": {"path": "nowhere/out.csv"}},
    "joinable": {"joinable": ["name"]},
    "method": {"method": {"simplex": {}}},
    "models as text": {"models": "k-anonymity"},
    "k": {"models": [{"k-anonymity": {"k": 1}}]},
    "too large k": {"models": [{"k-anonymity": {"k": 401}}]},
    "unknown model": {"models": [{"k-anonimity": {"k": 5}}]},
    "two names": {"models": [{"a": 1, "b": 2}]},
}
BAD_COLUMNS: dict[str, dict[str, Any]] = {
    "not listed": {"sex": None},
    "no role": {"sex": {}},
    "role": {"sex": {"role": "secret"}},
    "type": {"sex": {"role": QI, "type": "word"}},
    "missing rule": {"sex": {"role": QI, "missing": "guess"}},
    "no such column": {"sexx": {"role": QI}},
    "key of a column": {"sex": {"rolle": QI}},
    "exposure": {"sex": {"role": QI, "exposure": "accepted"}},
    "format": {"birth_date": {"role": QI, "type": "date", "format": "%Y %Y"}},
    "another format": {"birth_date": {"role": QI, "type": "date", "format": "%d/%m/%Y", "hierarchy": {"dates": ["year"]}}},
    "hierarchy as text": {"sex": {"role": QI, "hierarchy": "tree"}},
    "two hierarchies": {"sex": {"role": QI, "hierarchy": {"mask": "right", "prefix": [2]}}},
    "unknown builder": {"sex": {"role": QI, "hierarchy": {"maks": "right"}}},
    "incomplete tree": {"sex": {"role": QI, "hierarchy": {"tree": {"one": ["F"]}}}},
    "intervals of texts": {"sex": {"role": QI, "hierarchy": {"intervals": [5]}}},
    "intervals": {"postal_code": {"role": QI, "hierarchy": {"intervals": [5, 7]}}},
    "width": {"postal_code": {"role": QI, "hierarchy": {"intervals": ["five"]}}},
    "units": {"birth_date": {"role": QI, "type": "date", "hierarchy": {"dates": ["fortnight"]}}},
    "known": {"city": {"role": QI, "hierarchy": {"known": "countries"}}},
    "fill": {"postal_code": {"role": QI, "hierarchy": {"mask": {"fill": 2}}}},
    "no hierarchy file": {"sex": {"role": QI, "hierarchy": {"file": "sex.csv"}}},
    "unknown operation": {"cost": {"role": "sensitive", "operation": "hide"}},
    "key in the project": {"name": {"role": "identifier", "operation": {"encrypt": {"key": "a" * 64}}}},
    "no key": {"name": {"role": "identifier", "operation": {"encrypt": {"key": "env:NO_SUCH_KEY"}}}},
    "no key file": {"name": {"role": "identifier", "operation": {"pseudonym": {"key": "file:no.key"}}}},
    "no substitutes": {"sex": {"role": "insensitive", "operation": {"substitute": {"map": {"F": "x"}}}}},
    "both substitutes": {"sex": {"role": "insensitive", "operation": {"substitute": {"map": {"F": "x"}, "file": "a"}}}},
    "drop": {"sex": {"role": QI, "operation": "drop"}},
}


def check_spoken(text: str, language: str) -> None:
    """No English beside what is quoted."""
    assert not english_words(text, language), text


@pytest.fixture
def spoken(tmp_path: Path) -> Callable[[], None]:
    """Run a project that must fail, and read the error in Spanish and Portuguese; only its sentences differ."""

    def run() -> None:
        with pytest.raises(VeladoError) as caught:
            velado.run(tmp_path / "project.yaml")
        error, said = caught.value, ("message", "hint")
        english = error.as_dict()["error"]
        for language in OTHERS:
            told = error.as_dict(language)["error"]
            assert told["message"] != english["message"]
            assert {k: v for k, v in told.items() if k not in said} == {k: v for k, v in english.items() if k not in said}
            check_spoken(error.text(language), language)

    return run


def as_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def test_bad_projects_are_told_in_every_language(write_project, spoken) -> None:
    def check(case: str) -> None:
        changes = BAD_CHANGES[case]
        write_project(**changes) if "columns" not in changes else write_project(columns=dict.fromkeys(ALL))
        spoken()

    assert failures(check, BAD_CHANGES) == []


ALL = ("name", "national_id", "birth_date", "sex", "postal_code", "city", "marital_status", "diagnosis", "cost")


def test_bad_columns_are_told_in_every_language(write_project, spoken) -> None:
    def check(case: str) -> None:
        write_project(columns=BAD_COLUMNS[case])
        spoken()

    assert failures(check, BAD_COLUMNS) == []


def test_bad_tables_are_told_in_every_language(write_project, spoken, tmp_path: Path, patients_csv: str) -> None:
    def check(case: str) -> None:
        (tmp_path / "patients.csv").write_bytes(as_bytes(BAD_TABLES[case][0](patients_csv.splitlines())))
        spoken()

    write_project()
    assert failures(check, BAD_TABLES) == []


def test_bad_project_files_are_told_in_every_language(spoken, tmp_path: Path) -> None:
    def check(case: str) -> None:
        (tmp_path / "project.yaml").write_bytes(as_bytes(BAD_PROJECTS[case][0]))
        spoken()

    assert failures(check, BAD_PROJECTS) == []


def test_bad_hierarchies_are_told_in_every_language(write_project, spoken, tmp_path: Path) -> None:
    def check(case: str) -> None:
        text, options, *_ = BAD_HIERARCHY_FILES[case]
        write_project(columns={"sex": {"role": QI, "hierarchy": {"file": "sex.csv", **options}}})
        (tmp_path / "sex.csv").unlink(missing_ok=True)
        if text is not None:
            (tmp_path / "sex.csv").write_bytes(as_bytes(text))
        spoken()

    assert failures(check, BAD_HIERARCHY_FILES) == []


@pytest.mark.parametrize("kind", [InputError, NoSolution, VeladoError])
def test_texts_of_users_are_not_translated(kind: type[VeladoError]) -> None:
    """A column that has the name of a sentence keeps it."""
    error = kind("x", Sentence("the table '{table}' is described twice", table="the header"), column="the header")
    assert error.text("es") == "columna 'the header': la tabla 'the header' está descrita dos veces"


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("case", ["unknown key", "no file", "k", "too large k"])
def test_commands_tell_errors_in_the_language(case: str, language: str, write_project, main: Command) -> None:
    write_project(**BAD_CHANGES[case])
    ended = main("run", "project.yaml", "--json", "--language", language)
    assert ended.code == (1 if case == "too large k" else 2)
    assert ended.json["error"]["message"] in ended.err
    check_spoken(ended.err, language)
    assert ended.err.startswith({"es": "Error: ", "pt": "Erro: "}[language])


# What init and inspect say


@pytest.fixture(scope="module")
def described(patients: pa.Table) -> tuple[Inspection, Suggestion]:
    seen = inspect_table(patients)
    return seen, suggest_columns(patients, inspection=seen)


@pytest.mark.parametrize("language", OTHERS)
def test_init_writes_comments_in_the_language(language: str, described: tuple[Inspection, Suggestion]) -> None:
    source = Source(Path("patients.csv"))
    english, other = (project_text(*described, source, Path("p.yaml"), spoken) for spoken in ("en", language))
    assert yaml.safe_load(english) == yaml.safe_load(other)
    lines = [(a, b) for a, b in zip(english.splitlines(), other.splitlines(), strict=True) if "#" in a]
    comments = [b.partition("#")[2].lstrip("# ") for a, b in lines if a != b]
    assert len(comments) >= 10
    for comment in comments:
        check_spoken(comment, language)


@pytest.mark.parametrize("language", OTHERS)
def test_inspect_says_its_reasons_in_the_language(language: str, write_project, main: Command, tmp_path: Path) -> None:
    write_project()
    ended = main("inspect", "patients.csv", "--language", language)
    assert ended.code == 0
    assert {"es": "el sexo, por su nombre", "pt": "o sexo, pelo nome"}[language] in ended.out
    check_spoken(ended.out, language)


@pytest.mark.lint
def test_formats_of_the_lists_are_those_of_python() -> None:
    """Whatever has places can be filled."""
    for template, texts in translations().items():
        if "{" in template:
            for text in texts.values():
                list(Formatter().parse(text))
