"""A loop that names every case that fails."""

import pytest

from case_loop import failures

pytestmark = pytest.mark.lint


def test_every_case_that_fails_is_named() -> None:
    def check(name: str, number: int) -> None:
        assert number < 3
        with pytest.raises(ZeroDivisionError):
            1 / number

    cases = [("none", 0), ("one", 1), ("two", 2), ("three", 3), ("word", "x")]
    found = failures(check, cases)
    assert [case.partition(",")[0] for case in found] == ["one", "two", "three", "word"]
    assert "DID NOT RAISE" in found[0]
    assert "assert 3 < 3" in found[2]
    assert "TypeError" in found[3]
    assert failures(len, ["text", 5]) == ["5: TypeError: object of type 'int' has no len()"]
