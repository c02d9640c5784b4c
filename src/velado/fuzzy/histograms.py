"""Which sensitive values the rows have: sparse matrices, rows × values, of numbers of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from velado.frequency import FrequencyTable

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def record_histograms(codes: np.ndarray, values: int | None = None) -> csr_array:
    """One record per row, with the code of its sensitive value."""
    from scipy.sparse import csr_array

    rows = len(codes)
    width = int(np.max(codes)) + 1 if values is None else values
    return csr_array((np.ones(rows, dtype=np.int64), np.asarray(codes), np.arange(rows + 1)), shape=(rows, width))


def column_histograms(frequency: FrequencyTable, column: str) -> csr_array:
    """The histograms of a sensitive column of a frequency table; values in the order of its labels."""
    from scipy.sparse import csr_array

    attribute = frequency.sensitive_column(column)
    whole = csr_array(
        (frequency.value_counts, frequency.values, frequency.start), shape=(frequency.rows, frequency.histogram_domain)
    )
    return whole[:, attribute.first : attribute.first + attribute.width]
