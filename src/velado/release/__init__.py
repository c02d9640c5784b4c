"""The way of a release: fit, count, search, plan, write, verify, evaluate, publish. One file per step."""

from velado.release.apply import apply
from velado.release.count import count_table
from velado.release.incremental_result import Arrived
from velado.release.result import LightRelease, Release, Releases
from velado.release.run import anonymize, run

__all__ = ["Arrived", "LightRelease", "Release", "Releases", "anonymize", "apply", "count_table", "run"]
