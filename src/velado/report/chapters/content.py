"""What a report says, before it becomes a page, a document or a workbook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from velado.evaluation import ClassFigures
from velado.i18n import Language
from velado.report.charts.drawing import Chart
from velado.results import Discreet


@dataclass(frozen=True, repr=False)
class Cell(Discreet):
    """A cell: the text that is read; for a workbook, the number behind it and its format there."""

    text: str
    value: Any = None
    format: str = "General"

    @property
    def raw(self) -> Any:
        """What a workbook holds."""
        return self.text if self.value is None else self.value


@dataclass(frozen=True, repr=False)
class Table(Discreet):
    """A table; ``align`` has one letter per column: l, r, or c for codes that are set in a fixed width.

    The first row of cells follows the header; a table without header lists facts.
    """

    kind: ClassVar[str] = "table"
    rows: tuple[tuple[Cell, ...], ...]
    align: str
    header: tuple[str, ...] = ()
    title: str = ""
    note: str = ""


@dataclass(frozen=True)
class Picture:
    """A chart under its title."""

    title: str
    chart: Chart


@dataclass(frozen=True)
class Pictures:
    """Charts beside each other, as many as fit."""

    kind: ClassVar[str] = "pictures"
    pictures: tuple[Picture, ...]
    title: str = ""
    note: str = ""


@dataclass(frozen=True)
class Beside:
    """A table with a chart beside it, where there is room."""

    kind: ClassVar[str] = "beside"
    table: Table
    picture: Picture


Block = Table | Pictures | Beside


@dataclass(frozen=True)
class Section:
    """A chapter of the report."""

    name: str
    title: str
    lead: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()

    @property
    def tables(self) -> list[Table]:
        """Its tables in order."""
        found = [b.table if isinstance(b, Beside) else b for b in self.blocks]
        return [b for b in found if isinstance(b, Table)]

    @property
    def pictures(self) -> list[Picture]:
        """Its charts in order."""
        found: list[Picture] = []
        for b in self.blocks:
            found += b.pictures if isinstance(b, Pictures) else [b.picture] if isinstance(b, Beside) else []
        return found


@dataclass(frozen=True)
class Tile:
    """One of the main figures."""

    label: str
    value: str
    note: str


@dataclass(frozen=True)
class Verdict:
    """The first page. ``state`` is ``holds``, ``fails`` or ``open``."""

    state: str
    headline: str
    proof: str
    tiles: tuple[Tile, ...]
    models: Table | None
    words: tuple[str, ...]
    cautions: tuple[str, ...]


@dataclass(frozen=True)
class ClassList:
    """The classes for the workbook with their figures, largest first, and how many there are."""

    figures: ClassFigures
    total: int


@dataclass(frozen=True, repr=False)
class Content(Discreet):
    """All of a report in one language."""

    NAMES: ClassVar[tuple[str, ...]] = ("name",)
    language: Language
    name: str
    subtitle: str
    verdict: Verdict
    sections: tuple[Section, ...]
    classes: ClassList
    footer: str
    created: str = ""

    @property
    def title(self) -> str:
        """What the document is."""
        return self.language.say("Privacy report")

    @property
    def pictures(self) -> list[Picture]:
        """All charts in order."""
        return [p for s in self.sections for p in s.pictures]
