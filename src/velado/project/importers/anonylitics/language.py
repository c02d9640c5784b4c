"""The words of the Anonylitics JSON, parts of a file with their paths, and remarks about them."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from velado.errors import InputError, suggest
from velado.parameters import LARGEST
from velado.sentences import Sentence, into, join_sentences

ROLES = {
    "identificador": "identifier",
    "cuasi-identificador": "quasi-identifier",
    "pseudo-identificador": "quasi-identifier",
    "sensible": "sensitive",
    "comun": "insensitive",
    "no-sensible": "insensitive",
}
TYPES = {"numerico": "number", "categorico": "text"}
OPERATIONS = {
    "suprimir": "suppress",
    "supresion": "suppress",
    "sustituir": "substitute",
    "sustitucion": "substitute",
    "generalizar": "generalize",
    "generalizacion": "generalize",
    "cifrar": "encrypt",
    "ciframiento": "encrypt",
    "n/a": "none",
    "": "none",
}
TRUTHS = {"true": True, "false": False}
DATABASE_KEYS = ("_id", "__v")
HIDDEN = Sentence("(not shown)")
MOST_SIGNS = 60


@dataclass(frozen=True)
class Remark:
    """A part of the original that has no counterpart, or another one, and what to do.

    ``kind``: *unknown* (not in the language), *left-out* (no counterpart), *adapted* (something else took its place),
    *to-do* (something is lacking).
    """

    path: str
    value: str
    kind: str
    what: str

    def as_dict(self, language: str = "en") -> dict[str, str]:
        """JSON-ready; sentences in a language."""
        return {"path": self.path, "value": into(self.value, language), "kind": self.kind, "what": into(self.what, language)}


@dataclass(frozen=True)
class Part:
    """A part of the file: where it stands, what it holds, and where remarks about it go, each once."""

    path: str
    value: Any
    remarks: dict[Remark, None]
    hidden: bool = False

    def at(self, key: str, *, hidden: bool = False) -> Part:
        """What stands under a key, however its letters are written."""
        value = self.value.get(self._spelling(key)) if isinstance(self.value, dict) else None
        path = f"{self.path}.{key}" if self.path else key
        return Part(path, value, self.remarks, self.hidden or hidden)

    def _spelling(self, key: str) -> str:
        return next((k for k in self.value if k.lower() == key), key)

    def keys(self, known: Sequence[str]) -> dict[str, Any]:
        """The known keys of an object with what they hold; a remark for every other."""
        if not isinstance(self.value, dict):
            raise InputError(
                "not-anonylitics", Sentence("{path} must be an object, not {kind}", path=self.path, kind=type(self.value).__name__)
            )
        found = {}
        for key, value in self.value.items():
            if key.lower() in found:
                self._under(key).say_unknown("The key is written twice; the first one counts.")
            elif key.lower() in known:
                found[key.lower()] = value
            elif key in DATABASE_KEYS:
                self._under(key).say_left_out("It is the database's, not the project's.")
            else:
                said, near = Sentence("The language has no such key; nothing was done with it."), suggest(key, known)
                self._under(key).say_unknown(join_sentences(" ", (said, near)) if near.startswith("Did") else said)
        return found

    def _under(self, key: str) -> Part:
        path = f"{self.path}.{key}" if self.path else key
        return Part(path, self.value[key], self.remarks, self.hidden)

    def items(self, what: str) -> list[Part]:
        """The entries of a list."""
        if not isinstance(self.value, list) or not self.value:
            raise InputError("not-anonylitics", Sentence("{path} must be a list of {what}", path=self.path, what=what))
        return [Part(f"{self.path}[{i}]", v, self.remarks, self.hidden) for i, v in enumerate(self.value)]

    def text(self, key: str) -> str:
        """The text under a key; empty if there is none."""
        value = self.at(key).value
        if value is None:
            return ""
        if not isinstance(value, (str, int, float)) or isinstance(value, bool):
            raise InputError("not-anonylitics", Sentence("{path} must be a text", path=self.at(key).path))
        return str(value).strip()

    def say_unknown(self, what: str) -> None:
        """Not in the language."""
        self._say("unknown", what)

    def say_left_out(self, what: str) -> None:
        """No counterpart."""
        self._say("left-out", what)

    def say_adapted(self, what: str) -> None:
        """Something else took its place."""
        self._say("adapted", what)

    def say_to_do(self, what: str) -> None:
        """Something is lacking."""
        self._say("to-do", what)

    def _say(self, kind: str, what: str) -> None:
        remark = Remark(self.path, HIDDEN if self.hidden else shorten(self.value), kind, Sentence(what))
        self.remarks.setdefault(remark)


def shorten(value: Any) -> str:
    """A value in a few signs."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_SIGNS else text[: MOST_SIGNS - 1] + "…"


def fold(value: Any) -> str:
    """A word of the language without accents, capitals and kinds of blanks."""
    if not isinstance(value, str):
        return "" if value is None else json.dumps(value)
    plain = unicodedata.normalize("NFKD", value.strip().lower())
    return "-".join("".join(c for c in plain if not unicodedata.combining(c)).replace("_", " ").split())


def _number(part: Part) -> float | None:
    """A finite number; k and t are no larger than what models take."""
    value = part.at("principle_value").value
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) < LARGEST else None


def _k_anonymity(part: Part, columns: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    k = _number(part)
    if k is None or k != int(k) or k < 2:
        part.at("principle_value").say_unknown("k must be a whole number of 2 or more.")
        return []
    return [{"k-anonymity": {"k": int(k)}}]


def _t_closeness(part: Part, columns: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    t = _number(part)
    if t is None or not 0 < t <= 1:
        part.at("principle_value").say_unknown(
            "t must lie between 0 and 1 (the language allows whole numbers only): add {t-closeness: {t: …, column: …}}."
        )
        return []
    sensitive = {name: spec for name, spec in columns.items() if spec["role"] == "sensitive"}
    if not sensitive:
        part.say_left_out("t-closeness protects sensitive columns, and the table has none.")
    models = []
    for name, spec in sensitive.items():
        ordered = spec.get("type") == "number" and "operation" not in spec
        distance = "ordered" if ordered else "equal"
        part.say_adapted(
            Sentence(
                "The language names no distance: '{distance}' was written for the column '{column}'.",
                distance=distance,
                column=name,
            )
        )
        models.append({"t-closeness": {"t": t, "column": name, "distance": distance}})
    return models


PRINCIPLES: dict[str, Callable[[Part, Mapping[str, Mapping[str, Any]]], list[dict[str, Any]]]] = {
    "k-anonymity": _k_anonymity,
    "t-closeness": _t_closeness,
}
