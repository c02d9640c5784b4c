"""Spelling variants: texts that differ, but say the same.

Whoever reads ``HIV``, ``hiv`` and ``HIV `` learns the same thing, so they are no diversity. Variants are texts that are
equal when letters are compared without case, outer and doubled blanks and invisible characters do not count, and
characters are compared by what they mean (Unicode NFKC: composed or not, full width, no-break blanks); numbers that are
equal (``1``, ``1.0``, ``-0.0``), except codes with leading zeros; and words for a missing value, beside one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from velado.numbers import CODE, PLAIN, Notation, notation_of
from velado.results import Discreet
from velado.values import Text

VARIANTS = ("fold", "distinct")
"""Whether variants of a column are judged as one value, or as different ones."""
MISSING_WORDS = frozenset({"", "?", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "missing"})
"""What stands for a missing value, in the folded form."""
INVISIBLE = ("Cf", "Cc")
"""Categories of characters that show nothing."""
IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U00013441\U00013442\U00016fe4\U0001d159\U000e0000-\U000e0fff]"
)
"""What else shows nothing: all code points with Default_Ignorable_Code_Point (Unicode 16) that are in no such category,
unassigned ones among them, and glyphs that are blank: of Braille, Egyptian, Khitan and music."""


def visible(text: str) -> str:
    """A text without the characters that show nothing; blanks stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in IGNORABLE.sub("", text) if c.isspace() or unicodedata.category(c) not in INVISIBLE)


def fold_spelling(text: str) -> str:
    """A text as it is compared: the same for all variants that are no numbers.

    >>> fold_spelling("  HIV\\u00a0 positive "), fold_spelling("Cafe\\u0301") == fold_spelling("CAFÉ")
    ('hiv positive', True)
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.casefold().split())
    text = unicodedata.normalize("NFKC", visible(text))
    # Letters without case may be composed anew.
    text = unicodedata.normalize("NFKC", text.casefold())
    return " ".join(text.split())


def _number(text: str, notation: Notation) -> str | None:
    """A number as everybody would write it, without rounding; None for codes and other texts."""
    plain = notation.plain(text)
    if plain is None or CODE.match(plain):
        return None
    if plain.isdigit():
        return plain
    if "e" in plain or "E" in plain:
        plain = format(Decimal(plain), "f")
    whole, _, rest = plain.lstrip("+-").partition(".")
    rest = rest.rstrip("0")
    shown = (whole.lstrip("0") or "0") + (f".{rest}" if rest else "")
    return f"-{shown}" if plain.startswith("-") and shown != "0" else shown


@dataclass(frozen=True, repr=False)
class SpellingVariants(Discreet):
    """The groups of variants among the values of a column, each with two spellings or more, in their order."""

    groups: tuple[tuple[Text, ...], ...] = ()

    @classmethod
    def among(cls, values: Iterable[Text]) -> SpellingVariants:
        """Find them.

        >>> SpellingVariants.among(["flu", "HIV", "hiv", "1.0", "1", None, "N/A", "007", "7"]).groups
        (('1', '1.0'), ('HIV', 'hiv'), (None, 'N/A'))
        """
        different = set(values)
        texts: dict[Text, Text] = {None: None} if None in different else {}
        texts |= {v: fold_spelling(v) for v in sorted(v for v in different if v is not None)}
        present = [visible(v) for v, text in texts.items() if v is not None and text not in MISSING_WORDS]
        notation = notation_of(present) or PLAIN
        found: dict[Text, list[Text]] = {}
        for value, text in texts.items():
            key = None if value is None or text in MISSING_WORDS else _number(visible(value), notation) or text
            found.setdefault(key, []).append(value)
        groups = sorted((tuple(g) for g in found.values() if len(g) > 1), key=lambda g: (g[0] is None, g[-1] or ""))
        return cls(tuple(groups))

    @property
    def labels(self) -> dict[Text, Text]:
        """For every spelling the one that stands for its group: a missing value, or the first of the alphabet."""
        return {spelling: group[0] for group in self.groups for spelling in group}

    def within(self, values: Iterable[Text]) -> SpellingVariants:
        """The groups that some values leave: of a release, for instance."""
        left = set(values)
        groups = [tuple(v for v in group if v in left) for group in self.groups]
        return SpellingVariants(tuple(g for g in groups if len(g) > 1))

    @property
    def spellings(self) -> int:
        """How many spellings the groups have together."""
        return sum(map(len, self.groups))

    def __bool__(self) -> bool:
        return bool(self.groups)


NO_VARIANTS = SpellingVariants()


def variants_of(values: Sequence[Text], rule: str) -> SpellingVariants:
    """The variants that are judged as one value by a column's rule."""
    return SpellingVariants.among(values) if rule == "fold" else NO_VARIANTS
