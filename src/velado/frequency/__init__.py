"""Frequency tables and equivalence classes: all that privacy decisions need."""

from velado.frequency.classes import Classes
from velado.frequency.table import FrequencyTable, Sensitive, distinct_rows

__all__ = ["Classes", "FrequencyTable", "Sensitive", "distinct_rows"]
