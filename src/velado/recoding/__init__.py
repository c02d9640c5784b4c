"""Recodings: what becomes of each quasi-identifier row; apply, save, re-apply."""

from velado.recoding.recoding import UNKNOWN, Applied, ColumnRecoding, Others, Recoding

__all__ = ["UNKNOWN", "Applied", "ColumnRecoding", "Others", "Recoding"]
