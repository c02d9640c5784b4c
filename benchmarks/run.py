"""All benchmarks without rivals: ``make bench``. See README.md for the comparisons."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

for name in ("lattice", "check", "compare", "scale", "mondrian", "fuzzy", "appointments"):
    print(f"== {name}")
    sys.argv = [name]
    runpy.run_path(str(Path(__file__).parent / f"{name}.py"), run_name="__main__")
