"""Explore: the lattice by pointer, keys and list, filters, ways between nodes, release of a node, what an analyst sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from servers.studio import Studio, until
from studio import browser_helpers
from studio.conftest import made_project

DRAWN = "velado-lattice[data-drawn]"
LATTICE = "document.querySelector('velado-lattice')"
SHOWN = f"[...{LATTICE}.picture.rank].filter((rank) => rank < 8).length"
PLACE = f"""(levels) => {{ const lattice = {LATTICE}, box = lattice.canvas.getBoundingClientRect();
    const [x, y] = lattice.picture.place(lattice.picture.index(levels)); return [box.x + x, box.y + y]; }}"""
COLOURS = f"""() => {{ const {{canvas}} = {LATTICE}, all = new Map();
    const dots = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    for (const dot of dots) if (dot >>> 24 === 255) all.set(dot, (all.get(dot) || 0) + 1);
    return [...all].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([dot, often]) => [dot & 0xffffff, often]); }}"""
INVENTED = f"""(sizes) => {{ const lattice = {LATTICE}, n = sizes.reduce((a, b) => a * b, 1), rows = lattice.about.rows;
    const of = (f) => Array.from({{length: n}}, (_, i) => f(i)), status = of((i) => (i === 77 ? 0 : i % 3 ? 3 : 2));
    lattice.about.columns = sizes.map((_, c) => `q${{c}}`); lattice.about.labels = [];
    const figures = {{loss: of((i) => i / n), suppressed: of((i) => (i === 77 ? 0 : Math.round(rows * (i % 100) / 100)))}};
    lattice.take({{nodes: n, sizes, status, minimal: of(() => 0), figures}}); lattice.draw(); }}"""


class Explored:
    """A project whose lattice was explored."""

    def __init__(self, api: Any, name: str) -> None:
        self.api, self.project = api, made_project(api, name, 1500, run=False)["project"]
        # Four quasi-identifiers, whatever else is suggested as one.
        found = api.get(f"/projects/{self.project}")
        columns = {n: c for n, c in found["document"]["columns"].items() if n != "cost"}
        document = {**found["document"], "columns": columns, "rest": "drop"}
        api.put(f"/projects/{self.project}", {"document": document}, version=found["version"])
        self.id = api.follow(api.submit("explore", project=self.project)["id"])["id"]
        self.head = api.get(f"/explorations/{self.id}")

    def nodes(self, **query: Any) -> list[dict[str, Any]]:
        """Nodes as the service lists them."""
        listed: list[dict[str, Any]] = self.api.get(f"/explorations/{self.id}/nodes", limit=500, **query)["items"]
        return listed

    @property
    def best(self) -> str:
        """The levels of the best node."""
        return text_of(self.head["optimal"])


def text_of(levels: list[int]) -> str:
    return ",".join(map(str, levels))


@pytest.fixture(scope="module")
def explored(api: Any) -> Explored:
    return Explored(api, "Explored")


@pytest.fixture
def page(look: Callable[..., Any], studio: Studio, explored: Explored) -> Any:
    return opened(look(), studio, explored)


def opened(page: Any, studio: Studio, explored: Explored, query: str = "") -> Any:
    page.goto(f"{studio.address}/projects/{explored.project}/explore{query}")
    page.wait_for_selector(DRAWN)
    return page


def chosen(page: Any, levels: str) -> None:
    """The node is the one that the page is about."""
    page.wait_for_function(f"() => {LATTICE}.dataset.node === '{levels}'")
    page.locator("#node-title .vector").get_by_text(levels, exact=True).wait_for()


def test_a_project_without_a_lattice_is_explored_all_the_same(look: Callable[..., Any], studio: Studio, api: Any) -> None:
    project = made_project(api, "Local", run=False)["project"]
    before = api.get(f"/projects/{project}")
    document = {**before["document"], "method": "mondrian"}
    api.put(f"/projects/{project}", {"document": document}, version=before["version"])
    page = look()
    page.goto(f"{studio.address}/projects/{project}/explore")
    assert "mondrian" in page.inner_text("#main .empty")
    assert browser_helpers.axe(page) == []
    page.fill("#begin-suppression", "20")
    page.get_by_role("button", name="Explore with the lattice").click()
    page.wait_for_selector(DRAWN)
    (entry,) = api.get(f"/projects/{project}/explorations")["items"]
    head = api.get(f"/explorations/{entry['id']}")
    assert (head["method"], head["limit"]) == ("lattice", 80)
    assert api.get(f"/projects/{project}")["document"] == document
    # The project changes: what was explored is of an older version.
    assert page.get_by_text("The project has changed since").count() == 0
    document = {**document, "models": [{"k-anonymity": {"k": 2}}]}
    api.put(f"/projects/{project}", {"document": document}, version=3)
    page.reload()
    page.get_by_text("The project has changed since version 3").wait_for()
    page.locator(".notice").get_by_role("button", name="Explore again").click()
    until(lambda: len(api.get(f"/projects/{project}/explorations")["items"]) == 2)
    page.get_by_text("The project has changed since").wait_for(state="detached")
    assert page.locator("summary", has_text="Earlier explorations").count() == 1
    # The levels of a node become the method of the project.
    head = api.get(f"/explorations/{api.get(f'/projects/{project}/explorations')['items'][0]['id']}")
    page.get_by_role("button", name="Use as the project's method").click()
    until(lambda: api.get(f"/projects/{project}")["version"] == 5)
    method = api.get(f"/projects/{project}")["document"]["method"]
    assert method["fixed"]["levels"] == dict(zip(head["columns"], head["optimal"], strict=True))


def test_keys_walk_along_the_edges(page: Any, explored: Explored) -> None:
    told, top = page.locator("#lattice-told"), [size - 1 for size in explored.head["levels"]]
    page.focus("velado-lattice canvas")
    for key, levels in (
        ("Home", "0,0,0,0"),
        ("ArrowUp", "1,0,0,0"),
        ("ArrowRight", "1,0,0,0"),
        ("ArrowUp", "1,1,0,0"),
        ("ArrowDown", "1,0,0,0"),
        ("ArrowDown", "1,0,0,0"),
        ("3", "1,0,0,0"),
        ("ArrowUp", "1,0,1,0"),
        ("End", text_of(top)),
        ("ArrowUp", text_of(top)),
    ):
        page.keyboard.press(key)
        until(lambda levels=levels: told.inner_text().startswith(f"{levels}: "))
    (node,) = explored.nodes(levels=text_of(top))
    for said in ("satisfying", f"Classes: {node['classes']};", f"Up and down move {explored.head['columns'][2]}."):
        assert said in told.inner_text()
    before = page.evaluate(f"{LATTICE}.picture.scale")
    page.keyboard.press("+")
    assert page.evaluate(f"{LATTICE}.picture.scale") > before
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("0")
    assert page.evaluate(f"{LATTICE}.picture.scale") == before
    page.keyboard.press("Enter")
    chosen(page, text_of(top))
    assert f"node={'%2C'.join(map(str, top))}" in page.url
    # The focus stays, and the list shows the same node as chosen.
    assert page.evaluate(f"document.activeElement === {LATTICE}.canvas")
    page.keyboard.press("p")
    page.wait_for_selector(f"#pinned tr:has-text('{text_of(top)}')")
    page.keyboard.press("p")
    page.locator("#pinned").wait_for(state="detached")


def test_filters_hold_for_picture_and_list(page: Any, explored: Explored) -> None:
    def listed(expected: list[dict[str, Any]]) -> None:
        page.wait_for_function(f"() => {SHOWN} === {len(expected)}")
        page.get_by_text(f"{len(expected)} of {explored.head['nodes']} nodes match").wait_for()
        shown = page.locator("#nodes tbody tr td:first-child").all_inner_texts()
        assert len(shown) == min(25, len(expected))
        assert set(shown) <= {text_of(node["levels"]) for node in expected}

    page.get_by_role("checkbox", name="minimal").check()
    listed(explored.nodes(status="minimal"))
    page.get_by_role("checkbox", name="over the limit").check()
    listed(explored.nodes(status=["minimal", "over-limit"]))
    page.get_by_role("link", name="Clear the filters").click()
    listed(explored.nodes())
    page.locator("summary", has_text="More filters").click()
    page.fill("#most-loss", "0.6")
    page.fill("#most-suppressed", "30")
    page.press("#most-suppressed", "Tab")
    listed(explored.nodes(loss=0.6, suppressed=30))
    column = explored.head["columns"][0]
    page.get_by_label(f"Lowest level of {column}").select_option("2")
    page.get_by_label(f"Highest level of {column}").select_option("3")
    top = [3, *(size - 1 for size in explored.head["levels"][1:])]
    listed(explored.nodes(loss=0.6, suppressed=30, lowest="2,0,0,0", highest=text_of(top)))
    page.get_by_role("link", name="Clear the filters").click()
    listed(explored.nodes())
    page.locator("#nodes th a", has_text="Loss").click()
    page.wait_for_selector("#nodes th[aria-sort=ascending]:has-text('Loss')")
    page.locator("#nodes th a", has_text="Loss").click()
    page.wait_for_selector("#nodes th[aria-sort=descending]:has-text('Loss')")
    worst = explored.nodes(sort="loss", descending=True)
    assert page.locator("#nodes tbody tr td:first-child").first.inner_text() == text_of(worst[0]["levels"])
    page.locator("#nodes").get_by_role("link", name="Next").click()
    page.wait_for_function("() => document.querySelector('#nodes .pager span').textContent.startsWith('26 to')")
    assert page.locator("#nodes tbody tr td:first-child").first.inner_text() == text_of(worst[25]["levels"])
    # Without scripts the same page has the same nodes.
    plain = page.request.get(f"{page.url.partition('?')[0]}?state.optimal=1").text()
    assert plain.partition('id="nodes"')[2].count('aria-label="Pin ') == 1


@pytest.mark.quick
def test_a_node_is_opened_in_the_picture_and_released(page: Any, explored: Explored) -> None:
    node = next(
        n for n in explored.nodes(status="satisfying", sort="loss") if n["suppressed"] and n["classes"] > 25 and not n["minimal"]
    )
    levels = text_of(node["levels"])
    page.select_option("#colour", "k")
    page.wait_for_function(f"() => {LATTICE}.dataset.colour === 'k'")
    x, y = page.evaluate(PLACE, levels)
    page.mouse.move(x, y)
    page.wait_for_selector("velado-lattice .tip:not([hidden])")
    assert page.inner_text("velado-lattice .tip dt >> nth=0") == levels
    page.mouse.click(x, y)
    chosen(page, levels)
    facts = page.inner_text("#node-card .facts")
    assert str(node["classes"]) in facts
    assert f"{node['suppressed']} (" in facts
    # Classes and rows are counted by a worker, and come later.
    page.wait_for_selector("#node-classes table")
    assert page.locator("#node-classes h2", has_text="Example rows").count() == 1
    page.locator("#node-classes").get_by_role("link", name="Next").click()
    page.wait_for_function("() => document.querySelector('#node-classes .pager span').textContent.startsWith('26 to')")
    assert "colour=k" in page.url
    page.locator("velado-chart").scroll_into_view_if_needed()
    page.wait_for_selector("velado-chart[data-drawn] svg")
    assert browser_helpers.axe(page) == []
    page.get_by_role("button", name="Release this node").click()
    page.get_by_role("link", name="See the result").wait_for()
    (release,) = explored.api.get(f"/projects/{explored.project}/releases")["items"]
    summary = explored.api.get(f"/releases/{release['id']}/evaluation")
    wanted = dict(zip(explored.head["columns"], node["levels"], strict=True))
    assert (summary["levels"], summary["suppressed"]) == (wanted, node["suppressed"])
    assert explored.api.get(f"/projects/{explored.project}")["version"] == 3


def test_the_way_between_two_nodes(page: Any, explored: Explored, studio: Studio) -> None:
    other = text_of(next(n for n in explored.nodes(status="minimal") if text_of(n["levels"]) != explored.best)["levels"])
    page.locator("#nodes").get_by_role("link", name="Pin " + explored.best, exact=True).click()
    page.wait_for_selector("#pinned")
    opened(page, studio, explored, f"?node={other}&pins={explored.best}")
    page.get_by_role("link", name="Compare with the best").click()
    page.wait_for_selector("#distance")
    path = explored.api.get(f"/explorations/{explored.id}/path", start=explored.best, end=other)
    assert page.inner_text("#distance") == text_of(path["vector"])
    assert page.locator("#way .way li").all_inner_texts() == [text_of(levels) for levels in path["nodes"]]
    assert page.evaluate(f"{LATTICE}.dataset.path.split(';').length") == path["length"] + 1
    losses = [explored.nodes(levels=levels)[0]["loss"] for levels in (explored.best, other)]
    assert [f"{loss:.4f}".rstrip("0") for loss in losses] == page.locator("#way tbody tr").first.locator("td").all_inner_texts()[:2]
    assert browser_helpers.axe(page) == []
    page.locator("#way").get_by_role("link", name="Close").click()
    page.locator("#way").wait_for(state="detached")
    page.select_option("#way-start", "0,0,0,0")
    page.get_by_role("button", name="Show the way").click()
    page.wait_for_selector("#distance")
    assert page.inner_text("#distance") == other


def test_an_analyst_sees_no_small_counts_and_releases_nothing(look: Callable[..., Any], studio: Studio, explored: Explored) -> None:
    page = look("lea", "steward")
    explored.api.put(f"/projects/{explored.project}/members", {"user": "lea", "role": "analyst"})
    opened(page, studio, explored, f"?node={explored.best}")
    page.get_by_text("Counts below 3").wait_for()
    assert page.get_by_role("button", name="Release this node").count() == 0
    assert page.get_by_role("button", name="Use as the project's method").count() == 0
    page.wait_for_selector("#node-classes h2:has-text('Classes')")
    assert page.locator("#node-classes h2", has_text="Example rows").count() == 0
    small = page.evaluate(f"{LATTICE}.picture.small.k")
    ks = [node["k"] for node in explored.nodes()]
    assert small == [int(0 < k < 3) for k in ks]
    known = page.evaluate(f"[...{LATTICE}.picture.figures.k].map((k) => (k === k ? k : null))")
    assert known == [None if 0 < k < 3 else k for k in ks]
    page.focus("velado-lattice canvas")
    page.keyboard.press("Home")
    assert "fewer than 3" in page.inner_text("#lattice-told")
    assert browser_helpers.axe(page) == []
    # Who may not see results at all sees that.
    page = look("rui", "steward")
    explored.api.put(f"/projects/{explored.project}/members", {"user": "rui", "role": "reader"})
    page.goto(f"{studio.address}/projects/{explored.project}/explore")
    page.get_by_text("Explorations are not for your role").wait_for()


def test_the_picture_is_drawn_in_light_and_dark(look: Callable[..., Any], studio: Studio, explored: Explored) -> None:
    seen = []
    for dark in (False, True):
        page = opened(look(dark=dark), studio, explored)
        page.wait_for_function(f"() => ({COLOURS})().length > 4")
        module = page.locator("script[src$='/lattice.js']").get_attribute("src")
        # What a module imports is kept as long as the module itself.
        answer = page.request.get(studio.address + module.replace("lattice.js", "lattice_picture.js"))
        assert "immutable" in answer.headers["cache-control"]
        seen.append({colour for colour, often in page.evaluate(COLOURS) if often > 20})
    assert all(seen)
    assert seen[0] != seen[1]


def test_very_many_nodes_are_a_map(page: Any, explored: Explored) -> None:
    page.select_option("#view", "map")
    page.wait_for_function(f"() => {LATTICE}.picture.map")
    page.wait_for_selector("h2:has-text('Map of loss')")
    page.select_option("#view", "")
    page.wait_for_function(f"() => !{LATTICE}.picture.map")
    page.evaluate(INVENTED, [10, 10, 10, 10])
    assert page.evaluate(f"[{LATTICE}.picture.map, {LATTICE}.picture.rows.length > 19]") == [False, True]
    assert len(page.evaluate(COLOURS)) > 4
    page.evaluate(INVENTED, [12, 12, 9, 10])
    assert page.evaluate(f"{LATTICE}.picture.map")
    assert len(page.evaluate(COLOURS)) > 4
    page.locator("velado-lattice .legend").scroll_into_view_if_needed()
    # The best of the nodes that are in one place is shown, and it is pointed at.
    x, y = page.evaluate(
        f"() => {{ const p = {LATTICE}.picture, box = p.canvas.getBoundingClientRect(), [x, y] = p.place(77); return [box.x + x, box.y + y]; }}"
    )
    page.mouse.move(x, y)
    page.wait_for_selector("velado-lattice .tip:not([hidden])")
    assert page.inner_text("velado-lattice .tip dt >> nth=0") == "0,0,7,7"
    zoomed = page.evaluate(f"{LATTICE}.picture.scale")
    page.focus("velado-lattice canvas")
    page.mouse.wheel(0, -200)
    page.wait_for_function(f"() => {LATTICE}.picture.scale > {zoomed}")


def test_a_table_of_several(look: Callable[..., Any], studio: Studio, api: Any, explored: Explored) -> None:
    one = api.get(f"/projects/{explored.project}")["document"]
    rest = {key: one[key] for key in ("source", "columns", "rest") if key in one}
    document = {"velado": 1, "models": one["models"], "method": one["method"], "tables": {"first": rest, "second": rest}}
    project = api.post("/projects", {"name": "Two", "document": document})["id"]
    page = look()
    page.goto(f"{studio.address}/projects/{project}/explore?table=second")
    page.get_by_role("button", name="Explore", exact=True).click()
    page.wait_for_selector(DRAWN)
    (entry,) = api.get(f"/projects/{project}/explorations")["items"]
    assert entry["table"] == "second"
    page.get_by_role("button", name="Release this node").click()
    page.get_by_role("link", name="See the result").wait_for()
    (release,) = api.get(f"/projects/{project}/releases")["items"]
    assert set(api.get(f"/releases/{release['id']}")["place"]["tables"]) == {"first", "second"}
    page.goto(f"{studio.address}/projects/{project}/explore?table=first")
    page.get_by_text("Nothing is explored yet").wait_for()
