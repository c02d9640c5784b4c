"""Texts that stand for a missing value, in English, Spanish and Portuguese."""

from __future__ import annotations

import re
import unicodedata

UNMISTAKABLE = frozenset(
    (
        "?",
        "n/a",
        "#n/a",
        "#n/d",
        "#na",
        "n/d",
        "s/d",
        "s/i",
        "null",
        "#null#",
        "#nulo#",
        "nan",
        "<na>",
        "<null>",
        "no registrado",
        "no registrada",
        "no registra",
        "sin registro",
        "sin registrar",
        "sem registro",
        "nao registrado",
        "nao registrada",
        "not recorded",
        "ignorado",
        "ignorada",
        "se ignora",
        "sin dato",
        "sin datos",
        "sin informacion",
        "sem informacao",
        "sem dados",
        "no informado",
        "no informada",
        "nao informado",
        "nao informada",
        "no disponible",
        "nao disponivel",
        "not available",
        "no data",
        "not reported",
        "not stated",
        "no declarado",
        "nao declarado",
        "no declarada",
        "nao declarada",
        "no consta",
        "nao consta",
        "(null)",
        "(blank)",
        "(en blanco)",
        "(vacio)",
        "(vazio)",
    )
)
"""What means nothing else in any column, folded."""
AMONG_OTHERS = frozenset(
    (
        "-",
        "--",
        "---",
        ".",
        "..",
        "...",
        "xx",
        "xxx",
        "na",
        "nulo",
        "nula",
        "n.a.",
        "n.d.",
        "s.d.",
        "s.i.",
        "nd",
        "sd",
        "ns",
        "nr",
        "nc",
        "ns/nc",
        "ns/nr",
        "ns/np",
        "none",
        "missing",
        "unknown",
        "desconocido",
        "desconocida",
        "desconhecido",
        "desconhecida",
        "faltante",
        "perdido",
        "vacio",
        "vazio",
        "blank",
        "empty",
        "undefined",
        "unspecified",
        "not known",
        "not applicable",
        "no aplica",
        "nao se aplica",
        "no especificado",
        "no especificada",
        "nao especificado",
        "nao especificada",
        "no sabe",
        "nao sabe",
        "no responde",
        "nao responde",
        "no sabe/no responde",
        "no contesta",
        "no answer",
        "refused",
        "rehusa",
        "se rehusa",
        "indeterminado",
        "indeterminada",
        "sin especificar",
        "sem especificacao",
        "por determinar",
        "invalid",
        "invalido",
        "invalida",
        "error",
        "erro",
        "#ref!",
        "#div/0!",
        "#value!",
        "#¡valor!",
        "#valor!",
        "#num!",
        "#name?",
        "#¿nombre?",
        "#nome?",
        "tbd",
    )
)
"""What stands for a missing value among numbers or dates, folded; elsewhere it may be a category."""
NOT_KNOWN = frozenset(
    (
        "unknown",
        "missing",
        "not known",
        "unspecified",
        "undefined",
        "desconocido",
        "desconocida",
        "desconhecido",
        "desconhecida",
        "faltante",
        "no especificado",
        "no especificada",
        "nao especificado",
        "nao especificada",
        "no sabe",
        "nao sabe",
        "no responde",
        "nao responde",
        "no sabe/no responde",
        "no contesta",
        "no answer",
        "refused",
    )
)
"""Of these, what says in every column that a value is not known, also beside other categories."""
IMPOSSIBLE_DATE = re.compile(r"99([/.-])99\1(?:9999|99)|00?([/.-])00?\2(?:0000|00)|9999([/.-])99\3(?:99)|0000([/.-])00?\4(?:00?)")
"""Dates that cannot be: 99/99/9999, 00/00/0000, 9999-99-99; 9/9/99 can."""
LONGEST = 40
"""Characters of a marker; most texts are seen to be none at once."""
AMONG_NUMBERS = UNMISTAKABLE | AMONG_OTHERS
EXACT = frozenset({"NA", "NaN"})
"""What is a marker in any column if it is written so: "na" may be a word."""


def _fold(text: str) -> str:
    if text.isascii():
        return " ".join(text.casefold().split())
    plain = unicodedata.normalize("NFKD", text.strip().casefold())
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).split())


def unmistakable_marker(value: str) -> bool:
    """Whether a text stands for a missing value wherever it occurs.

    >>> [unmistakable_marker(v) for v in ("NO REGISTRADO", "Não informado", "Unknown", "-")]
    [True, True, False, False]
    """
    return len(value) <= LONGEST and (value.strip() in EXACT or _fold(value) in UNMISTAKABLE)


def not_known_marker(value: str) -> bool:
    """Whether a text says that a value is not known, so that it may be called missing wherever it stands.

    >>> [not_known_marker(v) for v in ("Unknown", "none", "S/D")]
    [True, False, True]
    """
    return unmistakable_marker(value) or (len(value) <= LONGEST and _fold(value) in NOT_KNOWN)


def missing_marker(value: str) -> bool:
    """Whether a text stands for a missing value if it occurs among numbers or dates.

    >>> [missing_marker(v) for v in ("Unknown", "99/99/9999", "S/D", "retired", "90+")]
    [True, True, True, False, False]
    """
    if len(value) > LONGEST:
        return False
    if not value[:1].isdigit():
        return value.strip() in EXACT or _fold(value) in AMONG_NUMBERS
    return IMPOSSIBLE_DATE.fullmatch(value.strip()) is not None
