"""Charts as Vega-Lite descriptions, drawn to SVG, PDF and PNG without browser or network."""

from __future__ import annotations

import json
import re
import struct
import sys
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any, NamedTuple

from velado.errors import InputError, missing_package
from velado.i18n import Language
from velado.report.charts.drawer import FAILED
from velado.sentences import into

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""Fonts with the same widths, so that what is measured here fits elsewhere."""
INK = "#222222"
SUFFIXES = (".png", ".svg", ".pdf")
WIDTH = 330
"""Of a chart in a report: two fit beside each other on a page, three on a screen."""
THEME: dict[str, Any] = {
    "aria": False,
    "background": "white",
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": "#666666",
        "tickColor": "#666666",
        "gridColor": "#DDDDDD",
        "titlePadding": 6,
        "labelLimit": 0,
        "titleLimit": 0,
    },
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "labelColor": INK, "labelLimit": 0, "symbolStrokeWidth": 1},
    "title": {"fontSize": 14, "subtitleFontSize": 12, "anchor": "start", "color": INK, "limit": 0},
    "header": {"labelFontSize": 12, "titleFontSize": 12},
}


class Drawn(NamedTuple):
    """A chart as SVG text and, if it was asked for, as PDF."""

    svg: str
    pdf: bytes | None


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite description and the language of its numbers."""

    spec: dict[str, Any]
    language: Language = field(default_factory=lambda: Language("en"))

    def with_title(self, title: str, subtitle: str = "") -> Chart:
        """The same chart with a title of its own, for files that stand alone; sentences are told in its language."""
        told, beneath = (into(text, self.language.code) for text in (title, subtitle))
        shown = {"text": told, **({"subtitle": beneath} if beneath else {})}
        return Chart({**self.spec, "title": shown}, self.language)

    @property
    def vega_spec(self) -> dict[str, Any]:
        """The description with fonts and colours."""
        return {**self.spec, "config": THEME}

    def svg(self) -> str:
        """Draw as SVG."""
        text: str = converter().vegalite_to_svg(self.vega_spec, format_locale=self.language.format_locale)
        return text

    def save(self, path: Path) -> None:
        """Write as PNG, SVG or PDF, by the suffix."""
        if path.suffix.lower() == ".svg":
            path.write_text(self.svg(), encoding="utf-8")
            return
        if path.suffix.lower() == ".pdf":
            path.write_bytes(converter().svg_to_pdf(self.svg()))
            return
        image = converter().vegalite_to_png(self.vega_spec, scale=2, format_locale=self.language.format_locale)
        path.write_bytes(image)


def frame_spec(width: int | str, height: int, **parts: Any) -> dict[str, Any]:
    """A description whose axes and labels fit into the size."""
    fit = {"type": "fit", "contains": "padding"}
    return {"width": width, "height": height, "autosize": fit, "padding": 4, **parts}


def converter() -> Any:
    """The package that draws."""
    try:
        import vl_convert
    except ImportError:
        raise _no_charts() from None
    return vl_convert


def _no_charts() -> InputError:
    return missing_package("no-charts", "charts need one more package", "report")


class Studio:
    """Draws charts in a process of its own (see `velado.report.charts.drawer`), while other work goes on.

    It warms up as soon as it is made. A chart that was drawn before is not drawn again.
    """

    def __init__(self, pdf: bool) -> None:
        if find_spec("vl_convert") is None:
            raise _no_charts()
        self.pdf = pdf
        self.drawn: dict[str, Future[Drawn]] = {}
        command = [sys.executable, "-P", str(Path(__file__).with_name("drawer.py"))]
        self.process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        # One thread writes and one reads, so that neither side waits for the other.
        self.writer, self.reader = ThreadPoolExecutor(1), ThreadPoolExecutor(1)

    def draw(self, charts: Iterable[Chart]) -> list[Future[Drawn]]:
        """Begin to draw."""
        return [self._begin(chart) for chart in charts]

    def _begin(self, chart: Chart) -> Future[Drawn]:
        wanted = {"spec": chart.vega_spec, "locale": chart.language.format_locale, "pdf": self.pdf}
        line = json.dumps(wanted, ensure_ascii=False)
        if line not in self.drawn:
            self.writer.submit(self._send, line)
            self.drawn[line] = self.reader.submit(self._receive)
        return self.drawn[line]

    def _send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def _receive(self) -> Drawn:
        first, second = struct.unpack(">II", self._read(8))
        if first == FAILED:
            raise RuntimeError("a chart could not be drawn: " + self._read(second).decode())
        return Drawn(self._read(first).decode(), self._read(second) or None)

    def _read(self, length: int) -> bytes:
        assert self.process.stdout is not None
        data = self.process.stdout.read(length)
        if len(data) < length:
            raise RuntimeError("the process that draws charts has ended")
        return data

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pool in (self.writer, self.reader):
            pool.shutdown(cancel_futures=True)
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()


IDS = re.compile(r'(\bid="|url\(#|href="#)')


def inline(svg: str, number: int, label: str) -> str:
    """An SVG that can stand in a page beside others: ids of its own, and a text for those who cannot see it."""
    from html import escape

    named = IDS.sub(rf"\g<1>c{number}-", svg)
    return named.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
