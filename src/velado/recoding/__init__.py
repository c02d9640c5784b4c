"""Recodings: what becomes of each quasi-identifier row; apply, save, re-apply."""

from velado.recoding.recoding import Applied, ColumnRecoding, Others, Recoding

__all__ = ["Applied", "ColumnRecoding", "Others", "Recoding"]
