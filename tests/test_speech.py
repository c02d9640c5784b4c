"""The command line in Spanish and Portuguese: help, wrong usage, summaries, tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from case_loop import failures
from conftest import Command
from velado.cli import language, usage
from velado.cli.commands import COMMANDS, load
from velado.models import MODELS

OTHERS = ("es", "pt")
WORDS = """
the of and is are that with by this which not given what how its it be may only many from where whose each
file files table tables column columns people records values usage options arguments commands option command
default required show write print found number share before after lost loss highest written verified released
or such suppressed succeeds fails holds classes singled out average missing because suggested role level levels
"""
ENGLISH = set(WORDS.split())
"""Words that no Spanish or Portuguese sentence has."""
PORTUGUESE = {"classes"}
KEYS = {("schema",): {"columns"}, ("tables",): {"tables"}, (): {"tables"}}
"""Keys of project files and commands that a help names."""
CODE = re.compile(
    r"\d records|[a-z-]+ \(\w+\)|--?[a-z][\w-]*|<[^>]*>|\w+:\w+|\{[^}]*\}|'[^']*'|\b[\w/.-]+\.(?:csv|yaml|json|html)\S*"
)
"""What is code and not speech: words with their meaning after them, options, keys, files."""
NAMES = re.compile("|".join(rf"\b{name}\b" for name in MODELS if "-" in name))
"""Names of models, as project files have them."""


def english(text: str, code: str) -> set[str]:
    """The English words in a text."""
    lines = " ".join(text.replace("│", " ").split())
    lines = NAMES.sub(" ", lines)
    words = set(re.findall(r"\b[^\W\d_]+\b", CODE.sub(" ", lines).lower()))
    return (words & ENGLISH) - (PORTUGUESE if code == "pt" else set())


def every_command() -> list[tuple[str, ...]]:
    """All commands, and those inside of them."""
    inner = [(name, part) for name in ("import", "appointments") for part in load(name).commands]
    return [(), *((name,) for name in COMMANDS), *inner]


# Help


@pytest.mark.lint
def test_help_has_no_english(main: Command) -> None:
    def check(code: str, *command: str) -> None:
        ended = main(*command, "--help", "--language", code, columns=80)
        assert (ended.code, ended.err) == (0, "")
        assert english(ended.out, code) - KEYS.get(command, set()) == set()
        assert " Uso: velado" in ended.out
        assert max(map(cell_len, ended.out.splitlines())) <= 80

    assert failures(check, [(code, *command) for code in OTHERS for command in every_command()]) == []


@pytest.mark.lint
def test_english_in_a_help_is_found(main: Command) -> None:
    shown = main("check", "--help", columns=80).out
    assert {"the", "of", "table", "column", "default"} <= english(shown, "es") & english(shown, "pt")


def test_english_help_is_english_after_another_language(main: Command) -> None:
    before = main("check", "--help", columns=80).out
    spanish = main("check", "--help", "--language", "es", columns=80).out
    assert main("check", "--help", columns=80).out == before
    for word in ("Usage: velado check [OPTIONS] {table}", "Arguments", "Options", "[default: 2]", "[required]"):
        assert word in before
        assert word not in spanish
    for word in ("Uso: velado check [OPCIONES] {tabla}", "Argumentos", "[predeterminado: 2]", "[obligatorio]"):
        assert word in spanish


def test_values_in_the_help_are_those_of_the_code(main: Command) -> None:
    shown = " ".join(main("attack", "--help", "--language", "pt", columns=200).out.split())
    assert "Somente estes, separados por vírgulas: lookup, homogeneity, background," in shown
    # Names of methods are what --method takes, whatever they mean in the language.
    shown = " ".join(main("appointments", "assign", "--help", "--language", "pt", columns=200).out.split())
    assert "Tempo que a busca pode levar (exact)" in shown
    assert "Semente dos sorteios (random, best-fit)" in shown


def test_the_help_says_what_options_take(main: Command) -> None:
    """In the words of people, not of Python; a switch takes nothing."""
    for code, words in (("en", "text number integer path"), ("es", "texto número entero ruta")):
        shown = main("fuzzy", "--help", "--language", code, columns=200).out
        assert {f"<{word}>" for word in words.split()} == set(re.findall("<[a-zú]+>", shown))
    assert "<bool>" not in main("--help").out


# Wrong usage


@pytest.mark.parametrize(
    ("args", "english", "spanish", "portuguese"),
    [
        (
            "atack",
            "No such command 'atack'. Did you mean 'attack'?",
            "No existe la orden 'atack'. ¿Quería decir 'attack'?",
            "Não existe o comando 'atack'. Quis dizer 'attack'?",
        ),
        ("check", "Missing argument 'table'.", "Falta el argumento 'tabla'.", "Falta o argumento 'tabela'."),
        ("check a.csv", "Missing option '--qi'.", "Falta la opción '--qi'.", "Falta a opção '--qi'."),
        (
            "check a.csv --qi",
            "Option '--qi' requires an argument.",
            "La opción '--qi' necesita un valor.",
            "A opção '--qi' precisa de um valor.",
        ),
        (
            "check a.csv --qii b",
            "No such option: --qii (Possible options: --qi)",
            "No existe la opción --qii (opciones posibles: --qi)",
            "Não existe a opção --qii (opções possíveis: --qi)",
        ),
        ("check a.csv --qi b --xyz", "No such option: --xyz", "No existe la opción --xyz", "Não existe a opção --xyz"),
        (
            "check a.csv --qi b --all=1",
            "Option '--all' does not take a value.",
            "La opción '--all' no lleva valor.",
            "A opção '--all' não leva valor.",
        ),
        (
            "check a.csv b.csv --qi c",
            "Got unexpected extra argument(s) (b.csv)",
            "Sobran argumentos (b.csv)",
            "Há argumentos a mais (b.csv)",
        ),
        (
            "check a.csv --qi b --l two",
            "Invalid value for '--l': Input should be a valid integer, unable to parse string as an integer",
            "Valor no válido para '--l': debe ser un número entero",
            "Valor inválido para '--l': deve ser um número inteiro",
        ),
        (
            "balance a.yaml --loss x",
            "Invalid value for '--loss': Input should be a valid number, unable to parse string as a number",
            "Valor no válido para '--loss': debe ser un número, con punto decimal",
            "Valor inválido para '--loss': deve ser um número, com ponto decimal",
        ),
        (
            "balance a.yaml --loss 2",
            "Invalid value for '--loss': Input should be less than or equal to 1",
            "Valor no válido para '--loss': debe ser menor o igual que 1",
            "Valor inválido para '--loss': deve ser menor ou igual a 1",
        ),
        (
            "check a.csv --qi b --skip=-1",
            "Invalid value for '--skip': Input should be greater than or equal to 0",
            "Valor no válido para '--skip': debe ser mayor o igual que 0",
            "Valor inválido para '--skip': deve ser maior ou igual a 0",
        ),
        (
            "check a.csv --qi b --tree x",
            "--tree takes COLUMN=FILE, got 'x'",
            "--tree espera COLUMNA=ARCHIVO, no 'x'",
            "--tree espera COLUNA=ARQUIVO, não 'x'",
        ),
    ],
)
def test_wrong_usage(args: str, english: str, spanish: str, portuguese: str, main: Command) -> None:
    # First, lest an option without its value takes it.
    first, *rest = args.split()
    for code, message in (("en", english), ("es", spanish), ("pt", portuguese)):
        ended = main("--language", code, first, *rest)
        error = "Erro" if code == "pt" else "Error"
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.endswith(f"{error}: {message}\n")
        told = main("--language", code, first, "--json", *rest)
        assert told.code == 2
        assert told.json["error"]["message"] == message


def test_usage_and_the_way_to_the_help(main: Command) -> None:
    lines = main("run", "--language", "es").err.splitlines()
    assert lines[:3] == ["Uso: velado run [OPCIONES] {proyecto}", "Pruebe 'velado run --help' para ver la ayuda.", ""]


def test_what_the_parser_says_in_other_words_stays() -> None:
    assert usage.problem("Something {new} happened").into("es") == "Something {new} happened"


# Summaries and tables


@pytest.fixture
def project(write_project: Any) -> Path:
    """A project whose values are no English words."""
    path: Path = write_project()
    return path


SPOKEN = {
    "run project.yaml": (
        ("registros publicados", "óptimo demostrado", "Verificado en lo que se escribió", "se cumple", "Publicación: out.csv"),
        ("registros publicados", "ótimo provado", "Verificado no que foi gravado", "é satisfeito", "Publicação: out.csv"),
    ),
    "check patients.csv --qi sex,city --sensitive diagnosis": (
        ("400 registros en", "k-anonimato", "t-cercanía, distancia uniforme", "registros singularizados"),
        ("400 registros em", "k-anonimato", "t-proximidade, distância uniforme", "registros singularizados"),
    ),
    "inspect patients.csv": (
        ("9 columnas (delimitador ',', utf-8)", "función sugerida", "cuasi-identificador", "Siguiente paso: velado init"),
        ("9 colunas (delimitador ',', utf-8)", "papel sugerido", "quase-identificador", "Próximo passo: velado init"),
    ),
    "compare project.yaml --k 2,5": (
        ("Configuraciones (*", "riesgo máximo", "suprimidos", "niveles"),
        ("Configurações (*", "risco máximo", "suprimidos", "níveis"),
    ),
    "estimate project.yaml": (("Estimación", "en memoria"), ("Estimativa", "em memória")),
}


@pytest.mark.parametrize("line", SPOKEN)
def test_summaries_have_no_english(line: str, project: Path, main: Command) -> None:
    for code, phrases in zip(OTHERS, SPOKEN[line], strict=True):
        ended = main(*line.split(), "--language", code)
        assert (ended.code, ended.err) == (0, "")
        for phrase in phrases:
            assert phrase in ended.out
        names = ["name", "national_id", "birth_date", "sex", "postal_code", "city", "marital_status", "diagnosis", "cost"]
        assert english(re.sub(rf"\b({'|'.join(names)})\b", "", ended.out), code) <= {"male", "female"}


def test_numbers_have_the_marks_of_the_language_and_columns_stay_straight(project: Path, main: Command) -> None:
    shown = {code: main("compare", "project.yaml", "--k", "2,5", "--language", code).out for code in ("en", *OTHERS)}
    assert re.search(r"\d\.\d\d%", shown["en"])
    assert re.search(r"\d,\d\d\u202f%", shown["es"])
    assert re.search(r"\d,\d\d%", shown["pt"])
    for text in shown.values():
        lines = [line for line in text.splitlines() if line.startswith(("k=", "setting", "config."))]
        assert len({cell_len(line.rstrip()) for line in lines}) == 1


@pytest.mark.parametrize("code", ["en", *OTHERS])
def test_a_narrow_terminal_cuts_no_figure(code: str, project: Path, main: Command) -> None:
    wide, narrow = (main("compare", "project.yaml", "--k", "2,5", "--language", code, columns=c).out for c in (200, 80))
    assert "…" not in narrow
    assert sorted(narrow.split()) == sorted(wide.split())
    assert max(map(cell_len, narrow.splitlines())) <= 86


def without_words(data: Any) -> Any:
    """JSON without what is said to people."""
    if isinstance(data, dict):
        return {k: without_words(v) for k, v in data.items() if k not in ("message", "hint", "seconds")}
    return [without_words(v) for v in data] if isinstance(data, list) else data


@pytest.mark.parametrize(
    "line",
    [
        "inspect patients.csv",
        "check patients.csv --qi sex,city --sensitive diagnosis",
        "compare project.yaml --k 2,5",
        "check patients.csv --qi nowhere",
        "run nowhere.yaml",
    ],
)
def test_json_is_the_same_in_every_language(line: str, project: Path, main: Command) -> None:
    told = [main(*line.split(), "--json", "--language", code) for code in ("en", *OTHERS)]
    assert len({ended.code for ended in told}) == 1
    english, spanish, portuguese = (without_words(ended.json) for ended in told)
    assert spanish == portuguese == english


# Which language


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"LANG": "es_ES.UTF-8"}, "es"),
        ({"LANG": "pt_BR.UTF-8"}, "pt"),
        ({"LANG": "es_ES.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "pt_PT"}, "pt"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "es_ES.UTF-8", "VELADO_LANGUAGE": "pt"}, "pt"),
        ({}, "en"),
    ],
)
def test_the_language_of_the_system(
    environment: dict[str, str], expected: str, main: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (language.VARIABLE, *language.LOCALES):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    said = {"en": "No such command", "es": "No existe la orden", "pt": "Não existe o comando"}
    assert said[expected] in main("nothing").err
    assert said["pt"] in main("nothing", "--language", "pt").err


def test_a_language_that_does_not_exist(main: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for locale, said in (("C", "there is no language 'fr'"), ("es_AR.UTF-8", "no existe el idioma 'fr'")):
        monkeypatch.setenv("LC_ALL", locale)
        ended = main("--language", "fr", "--help")
        assert ended.code == 2
        assert said in ended.err
