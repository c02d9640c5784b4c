"""Verified releases: figures, rows, reports, approval."""
