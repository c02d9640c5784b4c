"""What the parts of a run of the suite took, and its slowest tests: ``python tests/suite_times.py REPORT.xml …`` (JUnit's XML)."""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

SLOWEST = 25


@dataclass
class Part:
    """The tests of one part."""

    seconds: float = 0
    cases: int = 0
    skipped: int = 0
    functions: set[str] = field(default_factory=set)


def main(reports: list[str]) -> None:
    """Print both tables."""
    parts: dict[str, Part] = defaultdict(Part)
    tests: list[tuple[float, str]] = []
    for report in reports:
        for suite in ElementTree.parse(report).iter("testsuite"):
            print(f"{Path(report).stem}: {float(suite.get('time', 0)) / 60:.1f} minutes")
            for case in suite.iter("testcase"):
                name, seconds = f"{case.get('classname')}::{case.get('name')}", float(case.get("time", 0))
                held = next((p.get("value", "") for p in case.iter("property") if p.get("name") == "part"), "?")
                # Property tests of the part quick run once more, with more examples.
                part = parts["property" if (held, Path(report).stem) == ("quick", "rest") else held]
                part.seconds += seconds
                part.cases += 1
                part.skipped += case.find("skipped") is not None
                part.functions.add(name.partition("[")[0])
                tests.append((seconds, name))
    print(f"\n{'part':10}{'functions':>10}{'cases':>8}{'skipped':>9}{'seconds of a worker':>22}")
    for name, part in parts.items():
        print(f"{name:10}{len(part.functions):10,}{part.cases:8,}{part.skipped:9,}{part.seconds:22,.0f}")
    print(f"\nThe {SLOWEST} slowest tests, in seconds")
    for seconds, name in sorted(tests, reverse=True)[:SLOWEST]:
        print(f"{seconds:8.1f}  {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
