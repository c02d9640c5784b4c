"""The rows and the classes of a release, page by page, from the copies that its run left beside it."""

from __future__ import annotations

from pathlib import Path

from velado.service.access.redaction.classes import count_columns, redact_classes
from velado.service.access.redaction.rules import SMALL
from velado.service.parquet_rows import Below, read_slice, read_sorted
from velado.service.releases.schemas import Page


def read_rows(path: Path, offset: int, limit: int) -> Page:
    """A page, in the order of the file."""
    found = read_slice(path, offset, limit)
    return Page(columns=found.columns, rows=found.rows, offset=offset, total=found.total)


def read_sorted_rows(path: Path, offset: int, limit: int, sort: str, descending: bool, small_first: bool) -> Page:
    """A page of all classes in another order; missing figures come last. Where small classes are masked, they come first:
    their place among the others would tell of them."""
    first = Below(count_columns, SMALL) if small_first else None
    found = read_sorted(path, offset, limit, sort, descending, first)
    return Page(columns=found.columns, rows=found.rows, offset=offset, total=found.total)


def redact_page(page: Page) -> Page:
    """Of classes of one or two people nothing is told but that they are there."""
    return page.model_copy(update={"rows": redact_classes(page.columns, page.rows), "masked": True})
