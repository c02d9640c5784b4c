"""Frequency tables and equivalence classes: all that privacy decisions need."""

from velado.frequency.classes import Classes, in_order
from velado.frequency.population import Population
from velado.frequency.sensitive import Sensitive
from velado.frequency.single_records import Portions, SingleRecords
from velado.frequency.table import FrequencyTable, distinct_rows

__all__ = ["Classes", "FrequencyTable", "Population", "Portions", "Sensitive", "SingleRecords", "distinct_rows", "in_order"]
