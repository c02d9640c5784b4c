"""The glossary: all terms of the field, and one."""

from __future__ import annotations

from itertools import groupby

from fastapi import APIRouter, Response

from velado.service.errors import NotFound
from velado.studio.request import PageRoute, Visiting
from velado.studio.words import LANGUAGES, NATIVE, Term, Words, keys, plain

router = APIRouter(route_class=PageRoute)


@router.get("/help")
def glossary(visit: Visiting, q: str = "") -> Response:
    """All terms, or those in which a text occurs, under their first letters."""
    everything = visit.words.terms()
    found = [term for term in everything if _fits(term, q)]
    letters = [(letter, list(terms)) for letter, terms in groupby(found, key=_letter)]
    return visit.render("help.html", letters=letters, found=len(found), total=len(everything), wanted=q)


@router.get("/help/{key}")
def term(visit: Visiting, key: str) -> Response:
    """One term, in other languages too, with those that belong to it."""
    try:
        shown = visit.words.term(key)
    except KeyError:
        raise NotFound() from None
    others = [(code, NATIVE[code], Words(code).term(key)) for code in LANGUAGES if code != visit.words.code]
    related = [visit.words.term(other) for other in shown.see]
    return visit.render("help_term.html", term=shown, others=others, related=related)


def _fits(term: Term, wanted: str) -> bool:
    """Whether all words that are looked for occur in a term, its meaning or one of its keys."""
    names = " ".join(name for name, key in keys().items() if key == term.key)
    text = plain(f"{term.title} {term.meaning} {names}")
    return all(word in text for word in plain(wanted).split())


def _letter(term: Term) -> str:
    first = plain(term.title)[:1].upper()
    return first if first.isascii() and first.isalpha() else "#"
