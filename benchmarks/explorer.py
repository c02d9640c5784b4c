"""Explore in a real browser: time until the lattice of Adult is drawn, and frames while lattices are moved.

    python benchmarks/explorer.py [--rounds 5] [--seconds 4] [--data FOLDER]

One service (one web process, one worker), one Chromium without a graphics card, over the loopback. Adult with the eight
hierarchies of UBB has 4,320 nodes. The page counts as drawn when all nodes are on the canvas (``lattice-drawn``), since the
navigation began; cold: a new browser profile, warm: the files that never change are in its cache. Lattices of 10,000 nodes
(drawn) and of 12,960 to a million (a map) are invented, given to the same element, and moved and zoomed by its own functions in
every frame: times between frames, and of drawing alone.
"""

from __future__ import annotations

import argparse
import os
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
from studio.conftest import _token
from velado.client import Client
from velado.studies import data_folder, ubb

DRAWN = """() => { const at = performance.getEntriesByName('lattice-drawn')[0]?.startTime;
    const n = performance.getEntriesByType('navigation')[0], all = [n, ...performance.getEntriesByType('resource')];
    const nodes = all.find((e) => e.name.includes('format=columns'));
    return at && nodes && {drawn: at, first: n.responseStart, bytes: all.reduce((sum, e) => sum + e.transferSize, 0),
        page: n.encodedBodySize, nodes: nodes.encodedBodySize, json: nodes.decodedBodySize, requests: all.length}; }"""
INVENT = """(sizes) => { const lattice = document.querySelector('velado-lattice'), n = sizes.reduce((a, b) => a * b, 1);
    const top = sizes.reduce((a, b) => a + b - 1, 0), of = (f) => Array.from({length: n}, (_, i) => f(i));
    const height = of((i) => { let rest = i, sum = 0; for (const size of [...sizes].reverse()) { sum += rest % size; rest = Math.floor(rest / size); } return sum / top; });
    const chance = of((i) => ((i * 2654435761) % 4294967296) / 4294967296), rows = lattice.about.rows;
    const suppressed = height.map((h, i) => Math.round(rows * Math.max(0, 1 - h * (1 + chance[i]) * 1.4)));
    const status = suppressed.map((s) => (s === rows ? 4 : s > rows / 20 ? 3 : 2)), loss = height.map((h, i) => Math.min(1, 0.2 + 0.8 * h * (0.6 + 0.4 * chance[i])));
    status[status.indexOf(2)] = 0;
    lattice.about.columns = sizes.map((_, c) => `q${c}`); lattice.about.labels = [];
    const begin = performance.now();
    lattice.take({nodes: n, sizes, status, minimal: status.map(() => 0), figures: {loss, suppressed}});
    lattice.draw();
    return performance.now() - begin; }"""
MOVE = """([zooming, seconds]) => new Promise((done) => { const lattice = document.querySelector('velado-lattice'), picture = lattice.picture;
    const gaps = [], draws = [], usual = lattice.draw.bind(lattice); let last = 0, begin = 0, turn = 0;
    lattice.draw = () => { const at = performance.now(); usual(); draws.push(performance.now() - at); };
    picture.fit();
    const step = (now) => {
        begin ||= now; if (last) gaps.push(now - last); last = now; turn++;
        if (now - begin > seconds * 1000) { lattice.draw = usual; done({gaps, draws}); return; }
        if (zooming) lattice.zoom(turn % 60 < 30 ? 1.05 : 1 / 1.05); else { picture.pan(turn % 120 < 60 ? 5 : -5, turn % 80 < 40 ? 3 : -3); lattice.ask(); }
        requestAnimationFrame(step); };
    requestAnimationFrame(step); })"""
LATTICES = ([10] * 4, [3, 4, 3, 5, 3, 2, 6, 2], [10] * 6)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=4)
    options.add_argument("--data", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "studio") as studio:
        measure(studio, given)


def measure(studio: Studio, given: argparse.Namespace) -> None:
    browser_helpers.link(studio, "ana", "steward")
    path = explored(Client(studio.address, _token(studio, "ana")), data_folder(given.data) / "adult")
    print(f"load {os.getloadavg()[0]:.1f}")
    with browser_helpers.browser() as browser:
        print(
            f"{'Adult, 4,320 nodes':20}{'drawn ms':>10}{'server ms':>11}{'page kB':>10}{'nodes kB':>10}{'JSON kB':>10}{'all kB':>9}"
        )
        for name in ("cold", "warm"):
            found = [timed(browser, studio, path, warm=name == "warm") for _ in range(given.rounds)]
            print(
                f"{name:20}{middle(found, 'drawn'):10.0f}{middle(found, 'first'):11.0f}{middle(found, 'page') / 1000:10.0f}"
                f"{middle(found, 'nodes') / 1000:10.0f}{middle(found, 'json') / 1000:10.0f}{middle(found, 'bytes') / 1000:9.0f}",
                flush=True,
            )
        print(f"{'frames':32}{'taken ms':>10}{'per second':>12}{'p95 ms':>8}{'longest':>9}{'drawing p50':>13}{'p95':>7}")
        page = opened(browser, studio, path)
        for sizes in (None, *LATTICES):
            taken = page.evaluate(INVENT, sizes) if sizes else 0.0
            count = page.evaluate("document.querySelector('velado-lattice').picture.count")
            how = "map" if page.evaluate("document.querySelector('velado-lattice').picture.map") else "lattice"
            for what, zooming in (("panned", False), ("zoomed", True)):
                found = page.evaluate(MOVE, [zooming, given.seconds])
                gaps, draws = sorted(found["gaps"]), sorted(found["draws"])
                print(
                    f"{f'{count:,} nodes, {how}, {what}':32}{taken:10.0f}{1000 / statistics.mean(gaps):12.0f}{at(gaps, 0.95):8.0f}"
                    f"{gaps[-1]:9.0f}{at(draws, 0.5):13.1f}{at(draws, 0.95):7.1f}",
                    flush=True,
                )
        page.context.close()


def explored(client: Client, folder: Path) -> str:
    """A project of Adult whose lattice was explored; the address of its page."""
    source = client.post(
        "/sources", {"name": "Adult", "upload": client.upload(folder / "adult.csv"), "options": {"delimiter": ";"}}
    )
    client.follow(source["job"])
    columns = {
        column.name: {
            "role": column.role,
            "hierarchy": {"file": f"upload:{client.upload(column.hierarchy['file'])}", "delimiter": ";"},
        }
        for column in ubb.columns(folder)
    }
    document = {
        "velado": 1,
        "source": {"source": source["id"]},
        "columns": columns,
        "rest": "drop",
        "method": {"lattice": {"suppression": 0.05}},
        "models": [{"k-anonymity": {"k": 5}}, {"t-closeness": {"t": 0.4, "column": ubb.SENSITIVE}}],
    }
    project = client.post("/projects", {"name": "Adult", "document": document})["id"]
    client.follow(client.submit("explore", project=project)["id"])
    return f"/projects/{project}/explore"


def opened(browser: Any, studio: Studio, path: str) -> Any:
    """The page of somebody who has just signed in, with the lattice drawn."""
    page = browser.new_context(viewport={"width": 1600, "height": 1000}).new_page()
    page.goto(f"{studio.address}/api/v1/health")
    assert page.context.request.get(browser_helpers.link(studio, "ana"), max_redirects=0).status == 303
    page.goto(studio.address + path)
    page.wait_for_function(DRAWN)
    return page


def timed(browser: Any, studio: Studio, path: str, *, warm: bool) -> dict[str, float]:
    """How the page loads in a new profile, or the second time in the same."""
    page = opened(browser, studio, path)
    if warm:
        page.goto(studio.address + path)
        page.wait_for_function(DRAWN)
    found: dict[str, float] = page.evaluate(DRAWN)
    page.context.close()
    return found


def middle(found: list[dict[str, float]], name: str) -> float:
    return statistics.median(one[name] for one in found)


def at(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


if __name__ == "__main__":
    main()
