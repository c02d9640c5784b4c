"""Linguistic labels."""

import pytest

from velado.fuzzy import set_labels
from velado.i18n import LANGUAGES


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("number", range(1, 15))
def test_as_many_different_labels_as_sets(code, number):
    assert len(set(set_labels(number, code))) == number


def test_they_ascend_and_mirror():
    assert set_labels(1) == ["middle"]
    assert set_labels(2, "pt") == ["baixo", "alto"]
    assert set_labels(5, "es") == ["muy bajo", "bajo", "medio", "alto", "muy alto"]
    assert set_labels(9) == [
        "extremely low",
        "very low",
        "low",
        "rather low",
        "middle",
        "rather high",
        "high",
        "very high",
        "extremely high",
    ]
    for number in range(2, 10):
        labels = set_labels(number)
        assert [label.replace("high", "low") for label in reversed(labels)] == [x.replace("high", "low") for x in labels]
    assert set_labels(10)[2] == "level 3 of 10"
