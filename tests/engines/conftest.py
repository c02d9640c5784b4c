"""A table with everything that tends to go wrong."""

import pyarrow as pa
import pytest

TEXTS = [
    "x",
    "X",
    "x ",
    " x",
    "x",
    None,
    "\u00e9",
    "e\u0301",
    "ß",
    "ss",
    "SS",
    "1",
    "1.0",
    "01",
    "1,0",
    "+1",
    "-0",
    "İ",
    "i",
    "山",
    "😀",
    "NULL",
    "null",
    "NaN",
    "*",
    "true",
    "a\nb",
    'say "hi"',
    "it's",
    "a;b,c\td|e",
    "x",
    "\u00e9",
    "-1",
    "a-b",
    "\u00a0x",
]


@pytest.fixture(scope="session")
def people() -> pa.Table:
    """Two columns of texts, one of them hard, and a column of people with several rows each."""
    n = 3 * len(TEXTS)
    return pa.table(
        {
            "word": pa.array([TEXTS[i % len(TEXTS)] for i in range(n)], pa.string()),
            "sex": pa.array([["f", "m", None][(i * 7) % 5 % 3] for i in range(n)], pa.string()),
            "who": pa.array([f"p{i * i % 41:02}" for i in range(n)], pa.string()),
        }
    )
