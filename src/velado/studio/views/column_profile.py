"""What is known of the columns of a project's table, beside what the document says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from velado.results import Discreet
from velado.sentences import Sentence
from velado.service.errors import Conflict, Forbidden, NotFound
from velado.service.sources import operations as sources
from velado.studio.forms import column_edit
from velado.studio.forms.column_edit import CHOICES, LEFT_OUT, UNDECIDED, Said
from velado.studio.project_page import ProjectPage
from velado.studio.words import Words

TYPE_WORDS = {"text": Sentence("text"), "integer": Sentence("integer"), "number": Sentence("number"), "date": Sentence("date")}
ROLE_WORDS = {LEFT_OUT: Sentence("left out"), UNDECIDED: Sentence("not decided")}


@dataclass(frozen=True, repr=False)
class ColumnRow(Discreet):
    """A column as the table of columns shows it. ``about`` is what was found in it, empty where that is not known."""

    name: str
    said: Said
    about: Mapping[str, Any]
    suggested: str
    reason: str
    there: bool = True

    @property
    def differs(self) -> bool:
        """Whether another role was suggested."""
        return bool(self.suggested) and self.suggested != self.said.role


@dataclass(frozen=True, repr=False)
class Looked(Discreet):
    """What is known of a table: columns as they were found, and what was suggested. Both are empty for who may not know."""

    columns: Sequence[Mapping[str, Any]]
    suggestion: Mapping[str, Any] | None
    profile: Mapping[str, Any]

    @property
    def specs(self) -> dict[str, Mapping[str, Any]]:
        """What suggests itself for each column: as suggested, and how it was read."""
        read = {
            one["name"]: {key: one[key] for key in ("type", "format", "hierarchy") if one.get(key) not in (None, "text")}
            for one in self.columns
        }
        return {name: {**about, **self.suggested_specs.get(name, {})} for name, about in read.items()}

    @property
    def suggested_specs(self) -> dict[str, Mapping[str, Any]]:
        """What was suggested for each column."""
        return {one["name"]: one.get("spec") or {} for one in (self.suggestion or {}).get("columns", ())}


def load_findings(work: ProjectPage) -> Looked:
    """The profile of the table and its suggestion."""
    source = work.source
    if source is None:
        return Looked((), None, {})
    try:
        profile = sources.get_profile(work.call, source.id)
        suggestion = sources.get_suggestion(work.call, source.id)
    except (Conflict, Forbidden, NotFound):
        return Looked([{"name": one.name} for one in source.columns], None, {})
    return Looked(profile.get("columns", ()), suggestion or None, profile)


def all_rows(work: ProjectPage, found: Looked) -> list[ColumnRow]:
    """All columns of the table in its order, then those that only the document knows."""
    part = work.part
    told = {one["name"]: one for one in (found.suggestion or {}).get("columns", ())}
    rows = []
    for about in found.columns:
        name = str(about["name"])
        kept = told.get(name, {})
        suggested = str((kept.get("spec") or {}).get("role") or about.get("role") or "")
        if kept and not kept.get("kept", True):
            suggested = LEFT_OUT
        reason = str(kept.get("reason") or about.get("reason") or "")
        rows.append(ColumnRow(name, column_edit.said_of(part, name), about, suggested, reason))
    known = {row.name for row in rows}
    others = [name for name in part.columns if name not in known]
    rows += [ColumnRow(name, column_edit.said_of(part, name), {}, "", "", not known) for name in others]
    return rows


def role_word(words: Words, role: str) -> str:
    """What a role is called."""
    return ROLE_WORDS[role].into(words.code) if role in ROLE_WORDS else words.label("role", role)


def type_word(words: Words, type: Any) -> str:
    """What a type is called."""
    return TYPE_WORDS.get(str(type or "text"), Sentence("{type}", type=type)).into(words.code)


def role_choices(work: ProjectPage) -> list[tuple[str, str]]:
    """The roles that a column may be given; not to decide is possible where nothing is said for the rest."""
    roles = [one for one in CHOICES if one != UNDECIDED or not work.part.rest]
    return [(one, role_word(work.words, one)) for one in roles]


def back_to(work: ProjectPage) -> str:
    """Back to where a form was sent from, if that is a page of columns of this project."""
    wanted, here = work.form.text("back"), f"/projects/{work.id}/column"
    return wanted if wanted.startswith(here) and not wanted.startswith(f"{here}s/") else work.address("columns")
