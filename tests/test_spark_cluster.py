"""What differs with executors of their own processes, some of it: `make spark` runs all tests of Spark there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from servers import spark
from test_same_answer import CONFIGURATIONS

CLUSTER = "local-cluster[2,1,1024]"
TESTS = Path(__file__).parent


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.skipif(spark.reason() is not None, reason=str(spark.reason()))
@pytest.mark.skipif(CLUSTER == spark.MASTER, reason="all tests run there")
def test_on_executors_of_their_own() -> None:
    """Killed executors; parts that are solved by them; a configuration of UBB and Mondrian in parts on Adult."""
    chosen = [
        "test_spark.py::test_an_executor_is_killed",
        "engines/test_spread.py::test_solved_parts_are_written_with_their_labels",
        f"test_same_answer.py::test_the_configurations_of_ubb[{[*CONFIGURATIONS][-1]}-spark]",
        "test_same_answer.py::test_mondrian_in_parts[median-spark]",
    ]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", *chosen],
        cwd=TESTS,
        env={**os.environ, "VELADO_SPARK_MASTER": CLUSTER, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-4000:]
    assert " passed" in ended.stdout
