"""The report as a PDF document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from velado.errors import missing_package
from velado.report.chapters.content import Beside, Block, Content, Picture, Table
from velado.report.charts.drawing import Drawn
from velado.tables.publication.private import PrivateFolder


def pdf(content: Content, drawn: Sequence[Drawn], beside: Path | None = None) -> bytes:
    """Set the document. Texts reach the template as data, so that nothing in them is taken for markup.

    What is temporary is kept in a private folder ``beside`` the output.
    """
    typst = _typst()
    template = files("velado.report").joinpath("templates/report.typ").read_text(encoding="utf-8")
    with PrivateFolder.beside(beside) as folder:
        for number, d in enumerate(drawn):
            (folder / f"{number}.pdf").write_bytes(d.pdf or b"")
        (folder / "content.json").write_text(json.dumps(_data(content), ensure_ascii=False), encoding="utf-8")
        (folder / "report.typ").write_text(template, encoding="utf-8")
        moment = datetime.fromisoformat(content.created) if content.created else datetime(2000, 1, 1, tzinfo=UTC)
        made: bytes = typst.compile(str(folder / "report.typ"), root=str(folder), format="pdf", timestamp=moment)
    return made


def _data(content: Content) -> dict[str, Any]:
    v, words = content.verdict, content.language
    numbers = iter(range(len(content.pictures)))
    return {
        "lang": words.code,
        "title": content.title,
        "name": content.name,
        "subtitle": content.subtitle,
        "footer": content.footer,
        "created": [int(x) for x in content.created[:10].split("-")] if content.created else None,
        "page": words.say("page {page} of {pages}", page="\x01", pages="\x02"),
        "labels": {"words": words.say("In plain words"), "cautions": words.say("Keep in mind")},
        "verdict": {
            "state": v.state,
            "headline": v.headline,
            "proof": v.proof,
            "tiles": [[t.label, t.value, t.note] for t in v.tiles],
            "models": None if v.models is None else _block(v.models, numbers),
            "words": v.words,
            "cautions": v.cautions,
        },
        "sections": [
            {"title": s.title, "lead": s.lead, "blocks": [_block(b, numbers) for b in s.blocks]} for s in content.sections
        ],
    }


def _block(block: Block, numbers: Iterator[int]) -> dict[str, Any]:
    if isinstance(block, Beside):
        return {"kind": block.kind, "table": _block(block.table, numbers), "picture": _picture(block.picture, numbers)}
    shown: dict[str, Any] = {"kind": block.kind, "title": block.title, "note": block.note}
    if isinstance(block, Table):
        rows = [[cell.text for cell in row] for row in block.rows]
        return {**shown, "align": list(block.align), "header": block.header, "rows": rows}
    return {**shown, "pictures": [_picture(p, numbers) for p in block.pictures]}


def _picture(picture: Picture, numbers: Iterator[int]) -> dict[str, str]:
    return {"title": picture.title, "file": f"{next(numbers)}.pdf"}


def _typst() -> Any:
    try:
        import typst
    except ImportError:
        raise missing_package("no-report", "PDF reports need one more package", "report") from None
    return typst
