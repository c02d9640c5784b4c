"""Cells as all layers see them."""

from __future__ import annotations

ROOT = "*"
"""What a fully generalized or suppressed cell shows."""

Text = str | None
"""A cell as text; None is a missing value."""
