"""The way of a release: fit, count, search, plan, write, verify, evaluate, publish. One file per step."""

from velado.release.count import count_table
from velado.release.result import LightRelease, Release, Releases
from velado.release.run import anonymize, run

__all__ = ["LightRelease", "Release", "Releases", "anonymize", "count_table", "run"]
