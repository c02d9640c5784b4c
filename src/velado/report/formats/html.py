"""The report as one HTML file: no script, nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from velado.errors import missing_package
from velado.report.chapters.content import Content
from velado.report.charts.drawing import Drawn, inline


def html(content: Content, drawn: Sequence[Drawn]) -> str:
    """Fill the page; every text is escaped."""
    jinja = _jinja()
    from markupsafe import Markup

    environment = jinja.Environment(
        loader=jinja.PackageLoader("velado.report"),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # The drawings come from Vega, which escapes the labels in them.
    svg = {
        id(picture): Markup(inline(d.svg, number, picture.title))
        for number, (picture, d) in enumerate(zip(content.pictures, drawn, strict=True))
    }
    template = environment.get_template("report.html")
    page: str = template.render(content=content, _=content.language.say, svg=lambda picture: svg[id(picture)])
    return page


def _jinja() -> Any:
    try:
        import jinja2
    except ImportError:
        raise missing_package("no-report", "HTML reports need one more package", "report") from None
    return jinja2
