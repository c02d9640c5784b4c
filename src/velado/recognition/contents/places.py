"""Where somebody is: street addresses and coordinates."""

from __future__ import annotations

import re

from velado.recognition.contents.sample import Content, Sample
from velado.recognition.names import fold

STREET = (
    "st street str ave av avenue rd road dr drive ln lane blvd boulevard ct court pl place way ter terrace cir "
    "circle pkwy parkway hwy highway sq square trl trail aly alley loop plz plaza row xing crescent close mews "
    "pike run"
).replace(" ", "|")
BEFORE = (
    "calle c/ cl cll cra carrera kra kr cr avenida avda av ave jr jiron psje pasaje pje diagonal dg transversal "
    "tv mz manzana urb urbanizacion camino paseo plaza ruta km rua r trav travessa alameda al praca estrada "
    "rodovia rod largo via viale corso piazza rue chemin impasse"
).replace(" ", "|")
ADDRESSES = tuple(
    re.compile(p)
    for p in (
        rf"\d[\dx]*[a-z]?(-\d+)?,? (block (of )?)?([nsew]{{1,2}}\.? )?[\w.' -]+ ({STREET})\.?( [nsew]{{1,2}}\.?)?\b.*",
        rf"([nsew]{{1,2}}\.? )?[\w.'-]+( [\w.'-]+){{0,3}} ({STREET})\.?( (and|&|at|near) .*)?",
        rf"({BEFORE})[. ] ?[\w].*",
        rf"\d+,? ?(bis|ter)?,? ({BEFORE})\.? .*",
        r"[\w .-]+(strasse|straße|str\.|weg|allee|gasse|platz|straat|laan) ?\d+.*",
        r"(intersection of |corner of )?.+ (and|&|/|y|con|esq\.?|esquina) .+ (st|ave|rd|dr|blvd|calle|av)\b\.?.*",
    )
)
"""Whole values, lower case without accents."""


LONGEST = 150
"""Longer values are texts."""


def addresses(sample: Sample) -> Content | None:
    """Street addresses in English, Spanish, Portuguese, German, French and Italian."""
    if sample.plain_numbers or sample.dates or sample.distinct < 5:
        return None
    share = sample.share(_is_address)
    numbered = sample.share(lambda v: _is_address(v) and any(c.isdigit() for c in v))
    supported = sample.topic == "address"
    if share >= (0.2 if supported else 0.5) and (supported or numbered >= 0.3):
        return Content("street addresses", share)
    return None


def _is_address(value: str) -> bool:
    if len(value) > LONGEST:
        return False
    folded = fold(value)
    return any(p.fullmatch(folded) for p in ADDRESSES) and " " in folded


PAIR = r"\(?\[?\s*[+-]?\d{1,3}[.,]\d{3,}\s*[,;| ]\s*[+-]?\d{1,3}[.,]\d{3,}\s*\]?\)?"
WKT = r"(SRID=\d+;\s*)?(MULTI)?(POINT|LINESTRING|POLYGON)\s*Z?M?\s*\(.*\)"
DEGREES = r"[NSEWO]?\s*\d{1,3}\s*°.*"


def coordinates(sample: Sample) -> Content | None:
    """Coordinates: pairs by their look; single ones by their name and range, where they are finer than ten kilometres."""
    # 1,234,567,890 has the look of a pair, too.
    pairs = 0.0 if sample.plain_numbers else sample.matching(rf"{PAIR}|{WKT}|{DEGREES}")
    if pairs >= 0.5:
        return Content("coordinates", pairs)
    if sample.topic != "coordinate":
        return None
    fine = sample.matching(r"[+-]?\d{1,3}[.,]\d{2,}|[+-]?\d{5,}([.,]\d+)?|[+-]?\d{1,3}(\.\d{3})+")
    return Content("coordinates", fine) if fine >= 0.5 else None
