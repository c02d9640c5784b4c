"""What a released cell may stand for, as an outsider reads it: intervals, masks, sets, periods, rounded numbers, ``*``.

Nothing of Velado is imported. Labels are read as docs/reference/hierarchies.md and operations.md describe them; what cannot be
read stands for itself. Where the project says how a column was recoded, the adversary knows that, too.
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import numpy as np

ROOT = "*"
FORMATS = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y/%m/%d",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%d.%m.%Y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d-%b-%y",
    "%d %b %Y",
    "%B %d, %Y",
    "%b %d, %Y",
)
_SIGNED = r"[+-]?(?:\d+(?:[.,]\d+)*|[.,]\d+)(?:[eE][+-]?\d+)?"
_DASHED = re.compile(rf"([\[(]?)\s*({_SIGNED})\s*(?:-|–|\.\.|~)\s*({_SIGNED})\s*([\])]?)")
_BRACKETS = re.compile(rf"([\[(])\s*({_SIGNED}|-inf)\s*[,;]\s+({_SIGNED}|inf)\s*([\])])")
_ONE_SIDE = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_SIGNED})")
_AND_MORE = re.compile(rf"({_SIGNED})\s*\+")
_MONEY = re.compile(r"^(?:R\$|US\$|[$€£¥]|[A-Z]{3}\s)\s*|\s*(?:€|%|[$£])$")
_MANY = {"k": Decimal(1000), "K": Decimal(1000), "mil": Decimal(1000), "M": Decimal(1000000)}
_GUARDED = re.compile(r"'[=+\-@\t\r]")

US_STATES = {
    ("New England", "Northeast"): "CT Connecticut,ME Maine,MA Massachusetts,NH New Hampshire,RI Rhode Island,VT Vermont",
    ("Middle Atlantic", "Northeast"): "NJ New Jersey,NY New York,PA Pennsylvania",
    ("East North Central", "Midwest"): "IL Illinois,IN Indiana,MI Michigan,OH Ohio,WI Wisconsin",
    ("West North Central", "Midwest"): "IA Iowa,KS Kansas,MN Minnesota,MO Missouri,NE Nebraska,ND North Dakota,SD South Dakota",
    ("South Atlantic", "South"): "DE Delaware,DC District of Columbia,FL Florida,GA Georgia,MD Maryland,NC North Carolina,"
    "SC South Carolina,VA Virginia,WV West Virginia",
    ("East South Central", "South"): "AL Alabama,KY Kentucky,MS Mississippi,TN Tennessee",
    ("West South Central", "South"): "AR Arkansas,LA Louisiana,OK Oklahoma,TX Texas",
    ("Mountain", "West"): "AZ Arizona,CO Colorado,ID Idaho,MT Montana,NV Nevada,NM New Mexico,UT Utah,WY Wyoming",
    ("Pacific", "West"): "AK Alaska,CA California,HI Hawaii,OR Oregon,WA Washington",
}
BRAZILIAN_STATES = {
    ("Norte",): "AC Acre,AP Amapá,AM Amazonas,PA Pará,RO Rondônia,RR Roraima,TO Tocantins",
    ("Nordeste",): "AL Alagoas,BA Bahia,CE Ceará,MA Maranhão,PB Paraíba,PE Pernambuco,PI Piauí,RN Rio Grande do Norte,SE Sergipe",
    ("Centro-Oeste",): "DF Distrito Federal,GO Goiás,MT Mato Grosso,MS Mato Grosso do Sul",
    ("Sudeste",): "ES Espírito Santo,MG Minas Gerais,RJ Rio de Janeiro,SP São Paulo",
    ("Sul",): "PR Paraná,RS Rio Grande do Sul,SC Santa Catarina",
}


def read_number(text: str) -> Decimal | None:
    """The number that a text shows, with decimal point or comma, thousands, money, ``%``, ``K`` and ``M``."""
    text, factor = _MONEY.sub("", text.strip()).strip(), Decimal(1)
    for suffix, many in _MANY.items():
        if text.endswith(suffix) and text[: -len(suffix)].strip():
            text, factor = text[: -len(suffix)].strip(), many
            break
    if not re.fullmatch(_SIGNED, text):
        return None
    if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", text):
        text = text.replace(",", "")
    elif re.fullmatch(r"[+-]?\d{1,3}(\.\d{3})+,\d+|[+-]?\d{1,3}(\.\d{3}){2,}", text):
        text = text.replace(".", "").replace(",", ".")
    text = text.replace(",", ".")
    return None if text.count(".") > 1 else Decimal(text) * factor


def unguard(cell: str) -> str:
    """A cell without the apostrophe that keeps spreadsheets from running it."""
    return cell[1:] if _GUARDED.match(cell) else cell


def covers(values: Sequence[str], labels: Sequence[str], column: Mapping[str, Any] | None = None) -> list[tuple[int, ...]]:
    """For every original value the numbers of the labels that may stand for it; ``column`` is what the project says of it.

    Values that no label covers belong to the labels that cover nobody (``other``, names of groups that are not listed
    anywhere): so an adversary would reason.
    """
    column = column or {}
    different = list(dict.fromkeys(values))
    found: dict[str, set[int]] = {value: set() for value in different}
    reader = _Reader(different, Counter(values), column)
    for i, label in enumerate(labels):
        if label != ROOT:
            for value in reader.under(label):
                found[value].add(i)
    used = {i for numbers in found.values() for i in numbers}
    orphans = {i for i, label in enumerate(labels) if label != ROOT and label and i not in used}
    roots = {i for i, label in enumerate(labels) if label == ROOT}
    sets = {v: tuple(sorted((found[v] or (orphans if v else set())) | roots)) for v in different}
    return [sets[value] for value in values]


class _Reader:
    """The different original values of a column, and which of them a label may stand for."""

    def __init__(self, values: Sequence[str], records: Mapping[str, int], column: Mapping[str, Any]) -> None:
        self.values = values
        self.known = set(values)
        self.groups = _listed_groups(column.get("hierarchy"), records)
        # Of lists that are not written out here, a group may stand for every place.
        self.places = isinstance(spec := column.get("hierarchy"), Mapping) and "known" in spec
        numbers = [(v, n) for v in values if (n := read_number(v)) is not None]
        self.numbers = [v for v, _ in numbers]
        self.amounts = np.array([float(n) for _, n in numbers])
        self.same: dict[Decimal, list[str]] = defaultdict(list)
        self.rules = _operations(column.get("operation"))
        for value, n in numbers:
            self.same[self._shown(n)].append(value)
        days = [(v, d) for v, d in zip(values, _days(values, column.get("format")), strict=True) if d is not None]
        self.dates = [v for v, _ in days]
        self.days = np.array([d for _, d in days], dtype=float)
        self.formats = _formats(column.get("format"))

    def _shown(self, n: Decimal) -> Decimal:
        """What becomes of a number under the column's operation."""
        for rule in self.rules:
            n = rule(n)
        return n.normalize()

    def under(self, label: str) -> Iterable[str]:
        """The values that a label may stand for."""
        found = {label} & self.known
        if (n := read_number(label)) is not None:
            found |= set(self.same.get(n.normalize(), ()))
        elif self.numbers and (limits := _interval(label)) is not None:
            low, high, low_in, high_in = limits
            above = self.amounts >= low if low_in else self.amounts > low
            within = above & (self.amounts <= high if high_in else self.amounts < high)
            found |= {self.numbers[i] for i in np.flatnonzero(within)}
        if self.dates and (period := _period(label, self.formats)) is not None:
            within = (self.days >= period[0]) & (self.days < period[1])
            found |= {self.dates[i] for i in np.flatnonzero(within)}
        found |= self.groups.get(label, frozenset()) & self.known
        if self.places and label and not found:
            return [v for v in self.values if v]
        return found or self._by_text(label)

    def _by_text(self, label: str) -> Iterable[str]:
        if label.startswith("{") and label.endswith("}"):
            members = label[1:-1]
            return {m for part in (members.split(", "), members.split(",")) for m in map(str.strip, part)} & self.known
        if ROOT in label:
            return [v for v in self.values if v and _fits_mask(label, v)]
        return [v for v in self.values if _is_part(label, v)]


def _interval(label: str) -> tuple[float, float, bool, bool] | None:
    """Limits of an interval, and whether they belong to it. Brackets allow for the nine decimals that are written."""
    label = label.strip()
    if found := _DASHED.fullmatch(label):
        low, high = _limits(found[2], found[3])
        return None if low > high else (low, high, found[1] != "(", found[4] != ")")
    if found := _BRACKETS.fullmatch(label):
        low, high = _limits(found[2], found[3])
        return (low - 1e-9 * (found[1] == "["), high + 1e-9 * (found[4] == "]"), found[1] == "[", found[4] == "]")
    if found := _ONE_SIDE.fullmatch(label):
        limit, below = _limits(found[2], found[2])[0], found[1] in ("<", "<=", "≤")
        inside = found[1] not in ("<", ">")
        return (-np.inf, limit, True, inside) if below else (limit, np.inf, inside, True)
    if found := _AND_MORE.fullmatch(label):
        return (_limits(found[1], found[1])[0], np.inf, True, True)
    return None


def _limits(*texts: str) -> tuple[float, ...]:
    return tuple(float(t) if "inf" in t else float(read_number(t) or 0) for t in texts)


def _fits_mask(label: str, value: str) -> bool:
    """``280**``: as long as the longest value, so that a shorter one fits as well; zeros may have been put before it."""
    for text in {value, value.zfill(len(label)) if value.isdigit() else value}:
        if label.rstrip(ROOT) != label and len(text) <= len(label) and text.startswith(label.rstrip(ROOT)):
            return True
        if label.lstrip(ROOT) != label and len(text) <= len(label) and text.endswith(label.lstrip(ROOT)):
            return True
        if len(text) == len(label) and all(a in (ROOT, b) for a, b in zip(label, text, strict=True)):
            return True
    return False


def _is_part(label: str, value: str) -> bool:
    """A code cut short, or the end of a path such as ``TX`` of ``Houston, TX``."""
    if not label or len(value) <= len(label):
        return False
    return value.startswith(label) or (value.endswith(label) and not value[-len(label) - 1].isalnum())


# Groups that the project lists


def _listed_groups(spec: Any, records: Mapping[str, int]) -> dict[str, frozenset[str]]:
    """Label → values, where the hierarchy says so itself."""
    found: dict[str, set[str]] = defaultdict(set)
    spec = spec if isinstance(spec, Mapping) else {}
    if "tree" in spec:
        _walk(spec["tree"], (), found)
    if "groups" in spec:
        levels = spec["groups"] if isinstance(spec["groups"], list) else [spec["groups"]]
        for level in levels:
            for name, members in level.items():
                for member in map(str, members):
                    found[str(name)] |= found.get(member) or {member}
    for row in spec.get("rows", ()):
        for label in row[1:]:
            found[str(label)].add(str(row[0]))
    if "known" in spec:
        _add_places(found, {_plain(value): value for value in records})
    if "frequency" in spec:
        given = spec["frequency"] if isinstance(spec["frequency"], Mapping) else {"least": spec["frequency"]}
        least = given["least"] if isinstance(given["least"], list) else [given["least"]]
        for i, most in enumerate(least):
            rare = {value for value, n in records.items() if n < most}
            name = given.get("name", "other")
            for label in [name] if len(least) == 1 else [f"{name}{gap}{i + 1}" for gap in (" ", "", "-", "_")]:
                found[label] |= rare
    return {label: frozenset(members) for label, members in found.items()}


def _add_places(found: dict[str, set[str]], values: Mapping[str, str]) -> None:
    for parts in (US_STATES, BRAZILIAN_STATES):
        for labels, members in parts.items():
            for code, name in (member.split(" ", 1) for member in members.split(",")):
                here = {values[text] for text in (_plain(code), _plain(name)) if text in values}
                for label in labels:
                    found[label] |= here


def _plain(text: str) -> str:
    """A name without capitals, accents and signs."""
    letters = unicodedata.normalize("NFKD", text.lower())
    return "".join(letter for letter in letters if letter.isalnum())


def _walk(node: Any, above: tuple[str, ...], found: dict[str, set[str]]) -> None:
    if isinstance(node, Mapping):
        for name, below in node.items():
            _walk(below if below else [name], (*above, str(name)), found)
        return
    for leaf in node:
        for label in above:
            found[label].add(str(leaf))


# Operations


def _operations(spec: Any) -> list[Callable[[Decimal], Decimal]]:
    """Rounding and limits, as the project states them."""
    rules: list[Callable[[Decimal], Decimal]] = []
    for name, given in spec.items() if isinstance(spec, Mapping) else ():
        options = given if isinstance(given, Mapping) else {"to": given, "high": given, "low": given}
        if name == "round":
            rules.append(_rounding(Decimal(str(options["to"]))))
        elif name in ("top", "bottom", "limits") and not options.get("label"):
            low = Decimal(str(options["low"])) if name != "top" else None
            high = Decimal(str(options["high"])) if name != "bottom" else None
            rules.append(_clipping(low, high))
    return rules


def _rounding(step: Decimal) -> Callable[[Decimal], Decimal]:
    return lambda n: (n / step).quantize(Decimal(1), ROUND_HALF_EVEN) * step


def _clipping(low: Decimal | None, high: Decimal | None) -> Callable[[Decimal], Decimal]:
    def clip(n: Decimal) -> Decimal:
        n = n if low is None else max(n, low)
        return n if high is None else min(n, high)

    return clip


# Dates


def _formats(stated: Any) -> tuple[str, ...]:
    stated = [stated] if isinstance(stated, str) else list(stated or ())
    return tuple(stated) or FORMATS


def _day(text: str, formats: Iterable[str]) -> float | None:
    for form in formats:
        try:
            moment = datetime.strptime(text, form)
        except ValueError:
            continue
        return moment.toordinal() + (moment.hour * 3600 + moment.minute * 60 + moment.second) / 86400
    return None


def _days(values: Sequence[str], stated: Any) -> list[float | None]:
    """Days of a column: in the formats that the project states, else in the one that reads most of a few values."""
    if stated:
        return [_day(v, _formats(stated)) for v in values]
    some = [v for v in values if v and len(v) >= 6 and read_number(v) is None][:200]
    readable = {form: sum(_day(v, [form]) is not None for v in some) for form in FORMATS}
    best = max(readable, key=lambda form: readable[form])
    if not some or readable[best] < len(some) / 2:
        return [None] * len(values)
    return [_day(v, [best]) for v in values]


def _period(label: str, formats: Sequence[str]) -> tuple[float, float] | None:
    """First day of a period and the day after it."""
    if ".." in label:
        ends = [_period(part, formats) for part in label.split("..", 1)]
        return (ends[0][0], ends[1][1]) if ends[0] and ends[1] else None
    if found := re.fullmatch(r"week of (.+)", label):
        start = _day(found[1], [*formats, *FORMATS])
        return None if start is None else (start, start + 7)
    if found := re.fullmatch(r"(\d{4})-Q([1-4])", label):
        return _months(int(found[1]), int(found[2]) * 3 - 2, 3)
    if (found := re.fullmatch(r"(\d{4})-(\d\d)", label)) and 1 <= int(found[2]) <= 12:
        return _months(int(found[1]), int(found[2]), 1)
    if (found := re.fullmatch(r"(\d\d)/(\d{4})", label)) and 1 <= int(found[1]) <= 12:
        return _months(int(found[2]), int(found[1]), 1)
    if found := re.fullmatch(r"(\d{4})(?:-(\d{4}))?", label):
        first, last = int(found[1]), int(found[2] or found[1])
        return (date(first, 1, 1).toordinal(), date(last, 12, 31).toordinal() + 1) if 1 <= first <= last else None
    start = _day(label, [*formats, *FORMATS])
    if start is None:
        return None
    return (start, start + (1 if start == int(start) else 1e-9))


def _months(year: int, month: int, many: int) -> tuple[float, float]:
    last = month + many - 1
    end = date(year, last, calendar.monthrange(year, last)[1]) + timedelta(days=1)
    return date(year, month, 1).toordinal(), end.toordinal()
