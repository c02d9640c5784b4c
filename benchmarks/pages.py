"""Studio's pages in a real browser: time until they can be used, weight, and memory of the web process per user.

    python benchmarks/pages.py [--users 20] [--rounds 5] [--rows 5000]

One service (one web process, one worker), one Chromium, over the loopback. A page counts as interactive when its document
has been read, its styles and modules are loaded and run (``loadEventEnd``). Cold: a new browser profile; warm: the files
that never change are in its cache.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

# Without this folder, whose studio.py is another one than the tests'.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from servers.studio import Studio, running
from studio import browser_helpers
from studio.conftest import _token, made_project
from velado.client import Client

STEPS = ("data", "columns", "hierarchies", "privacy", "run", "explore", "compare", "result", "utility", "risk", "attack", "publish")
TIMES = """() => { const n = performance.getEntriesByType('navigation')[0];
    const all = [n, ...performance.getEntriesByType('resource')];
    return {ready: n.loadEventEnd, first: n.responseStart, requests: all.length,
            bytes: all.reduce((sum, e) => sum + e.transferSize, 0)}; }"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--users", type=int, default=20)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--rows", type=int, default=5000)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "studio") as studio:
        measure(studio, given)


def measure(studio: Studio, given: argparse.Namespace) -> None:
    browser_helpers.link(studio, "ana", "steward")
    client = Client(studio.address, _token(studio, "ana"))
    made = made_project(client, "Hospital", given.rows)
    client.follow(client.submit("explore", project=made["project"])["id"])
    pages = {"/": "/", "/projects": "/projects", **{step: f"/projects/{made['project']}/{step}" for step in STEPS}}
    with browser_helpers.browser() as browser:
        print(f"{'page':14}{'cold ms':>10}{'warm ms':>10}{'server ms':>11}{'cold kB':>10}{'warm kB':>10}{'requests':>10}")
        for name, path in pages.items():
            cold = [timed(browser, studio, path, warm=False) for _ in range(given.rounds)]
            warm = [timed(browser, studio, path, warm=True) for _ in range(given.rounds)]
            print(
                f"{name:14}{middle(cold, 'ready'):10.0f}{middle(warm, 'ready'):10.0f}{middle(warm, 'first'):11.0f}"
                f"{middle(cold, 'bytes') / 1000:10.0f}{middle(warm, 'bytes') / 1000:10.0f}{middle(cold, 'requests'):10.0f}",
                flush=True,
            )
        users(browser, studio, given.users, list(pages.values())[:2])


def timed(browser: Any, studio: Studio, path: str, *, warm: bool) -> dict[str, float]:
    """How one page loads in a new profile, or the second time in the same."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(browser_helpers.link(studio, "ana") if warm else f"{studio.address}/api/v1/health")
    if warm:
        page.goto(studio.address + path)
    else:
        answer = context.request.get(browser_helpers.link(studio, "ana"), max_redirects=0)
        assert answer.status == 303
    page.goto(studio.address + path)
    page.wait_for_load_state("load")
    found: dict[str, float] = page.evaluate(TIMES)
    context.close()
    return found


def middle(found: list[dict[str, float]], name: str) -> float:
    return statistics.median(one[name] for one in found)


def users(browser: Any, studio: Studio, count: int, paths: list[str]) -> None:
    """Memory of the web process before and after so many people have opened pages, each in a session of their own."""
    before = memory(studio)
    for number in range(count):
        context = browser.new_context()
        page = context.new_page()
        page.goto(browser_helpers.link(studio, f"user{number}", "steward"))
        for path in paths:
            page.goto(studio.address + path)
        context.close()
    after = memory(studio)
    print(f"web process: {before:.1f} MB before, {after:.1f} MB after {count} users: {(after - before) / count:.2f} MB per user")


def memory(studio: Studio) -> float:
    assert studio.web is not None
    lines = Path(f"/proc/{studio.web.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1000


if __name__ == "__main__":
    main()
