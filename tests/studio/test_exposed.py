"""Who could know a column, and what all published columns expose: asked, judged, said beside the highest risk, never in green."""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from servers.studio import WAIT, Studio, until
from studio.conftest import released
from velado.client import Client
from velado.evaluation.exposure import LEAST
from velado.i18n.language import LANGUAGES, Language

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [60]}},
    "sex": "quasi-identifier",
    "salary": "sensitive",
    "shoe": "identifier",
    "illness": "sensitive",
}
ACCEPTED = {"salary": {"role": "sensitive", "exposure": "accepted"}, "illness": {"role": "sensitive", "known": "never"}}
METHOD = {"fixed": {"levels": {"age": 1, "sex": 0}}}
ABOUT = {"velado": 1, "person": "rows", "models": [{"k-anonymity": {"k": 5}}], "method": METHOD}
TITLES = ("Highest risk by quasi-identifiers", "Exposed by all that others could know", "Alone if all that is published were known")
GREEN = re.compile(r'<span class="badge good">(?:verified|Verified|approved)</span>')


def people() -> list[dict[str, Any]]:
    """Invented people; nearly everybody has a salary of their own."""
    rng = random.Random(3)
    illnesses = ("flu", "cold", "gout")
    return [
        {
            "age": 20 + rng.randrange(60),
            "sex": "fm"[i % 2],
            "salary": 1000 + rng.randrange(2000),
            "shoe": rng.randint(38, 43),
            "illness": rng.choice(illnesses),
        }
        for i in range(300)
    ]


@pytest.fixture(scope="module")
def source(api: Client, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("exposed") / "people.csv"
    rows = people()
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    made = api.post("/sources", {"name": "Exposed", "upload": api.upload(path)})
    api.follow(made["job"])
    return str(made["id"])


@pytest.fixture(scope="module")
def ana(studio: Studio) -> Iterator[httpx.Client]:
    """The browser of a steward, who reads English."""
    with httpx.Client(base_url=studio.address, cookies=studio.cookies("ana", "steward"), timeout=WAIT) as client:
        yield client


class Own:
    """A project of one test, as its pages show and change it."""

    def __init__(self, ana: httpx.Client, api: Client, source: str, columns: dict[str, Any], **more: Any) -> None:
        document = {**ABOUT, **more, "source": {"source": source}, "columns": {**COLUMNS, **columns}}
        self.ana, self.api = ana, api
        self.id = str(api.post("/projects", {"name": "Exposed", "document": document})["id"])

    @property
    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = self.api.get(f"/projects/{self.id}")["document"]
        return found

    def page(self, address: str, language: str = "en") -> str:
        answer = self.ana.get(f"/projects/{self.id}/{address}", headers={"Accept-Language": language})
        assert answer.status_code == 200, address
        return unescape(answer.text)

    def send(self, address: str, **fields: Any) -> httpx.Response:
        csrf = re.search(r'name="csrf" value="(\w+)"', self.page("columns"))
        assert csrf is not None
        return self.ana.post(f"/projects/{self.id}/{address}", data={"csrf": csrf[1], **fields})

    def ask(self, address: str) -> str:
        """A part of a page that a worker answers."""
        answer = self.send(address)
        assert answer.status_code == 200, address
        return unescape(answer.text)

    def refused(self) -> dict[str, Any]:
        """Run it; why nothing was released."""
        job = self.api.submit("run", project=self.id)["id"]
        until(lambda: self.api.get(f"/jobs/{job}")["state"] == "failed")
        found: dict[str, Any] = self.api.get(f"/jobs/{job}")
        return found


def test_who_knows_columns_is_asked_once_for_many(ana: httpx.Client, api: Client, source: str) -> None:
    own = Own(ana, api, source, {"shoe": "insensitive"})
    assert 'aria-label="Could others know salary?"' in own.page("columns")
    assert 'aria-label="Could others know age?"' not in own.page("columns")
    meter = own.ask("columns/meter")
    assert "salary</strong>: it would be published, and singles people out" in meter
    assert "illness</span>: only the person and the keeper know it" in meter
    for known, columns in (("possibly", ["salary"]), ("possibly", ["shoe"]), ("never", ["illness"])):
        shown = own.ask(f"column/assumed?column={columns[0]}")
        words = {"possibly": "others could know it", "never": "only the person and the keeper know it"}[known]
        assert f"Nothing is said. Assumed: {words}, because" in shown
    own.send("columns/known", known="never", column=["age", "salary", "illness"])
    said = {name: spec for name, spec in own.document["columns"].items() if isinstance(spec, dict)}
    assert {name for name, spec in said.items() if spec.get("known") == "never"} == {"salary", "illness"}
    assert said["age"] == COLUMNS["age"]
    assert "it would be published, and singles people out" not in own.ask("columns/meter")
    assert "Nothing is said" not in own.ask("column/assumed?column=salary")
    before = api.get(f"/projects/{own.id}")["version"]
    own.send("columns/known", known="never", column=["age", "sex"])
    own.send("columns/known", known="perhaps", column=["salary"])
    assert api.get(f"/projects/{own.id}")["version"] == before
    own.send("columns/known", known="known", which="shown", q="shoe")
    assert own.document["columns"]["shoe"]["role"] == "quasi-identifier"


def test_an_allowance_is_a_share_of_the_people(ana: httpx.Client, api: Client, source: str) -> None:
    own = Own(ana, api, source, {"illness": {"role": "sensitive", "known": "never"}})
    assert own.send("privacy/allowance", allowance="1.5").status_code == 422
    assert own.send("privacy/allowance", allowance="some").status_code == 422
    assert "allowance" not in own.document
    own.send("privacy/allowance", allowance="0.25")
    assert own.document["allowance"] == 0.25
    assert re.search(r'name="allowance"[^>]* value="0.25"', own.page("privacy"))
    own.send("privacy/allowance", allowance="1")
    released(api, own.id)
    shown = own.page("result")
    assert "verified: within the allowance" in shown
    assert "The project allows 100% of the people to be exposed." in shown
    own.send("privacy/allowance", allowance="0")
    assert "allowance" not in own.document


def test_a_refused_run_has_its_ways_out(ana: httpx.Client, api: Client, source: str) -> None:
    own = Own(ana, api, source, {})
    job = own.refused()
    rounding = job["error"]["fields"]["rounding"]["salary"]
    ways = set(re.findall(r'name="way" value="([^"]+)"', own.page("run")))
    assert ways == {f"{way}:salary" for way in ("quasi", "out", "never", "round", "accepted")}
    changes = {
        "never": {"role": "sensitive", "known": "never"},
        "round": {"role": "sensitive", "operation": {"round": rounding}},
        "accepted": {"role": "sensitive", "exposure": "accepted"},
        "quasi": {"role": "quasi-identifier"},
    }
    for way, described in changes.items():
        other = Own(ana, api, source, {})
        job = other.refused()
        other.send("run/way", way=f"{way}:salary", job=job["id"])
        assert other.document["columns"]["salary"] == described
        runs = api.get("/jobs", project=other.id, kind="run")["items"]
        assert len(runs) == 2
        if way != "quasi":
            assert api.follow(runs[0]["id"])["state"] == "done", way


def test_several_columns_have_their_ways_out_together(ana: httpx.Client, api: Client, source: str) -> None:
    own = Own(ana, api, source, {"shoe": "insensitive"}, models=[{"k-anonymity": {"k": 30}}])
    job = own.refused()
    assert set(job["error"]["fields"]["columns"]) == {"salary", "shoe"}
    ways = set(re.findall(r'name="way" value="([^"]+)"', own.page("run")))
    assert ways >= {"quasi:", "out:", "never:", "never:salary", "never:shoe", "accepted:shoe"}
    own.send("run/way", way="never:", job=job["id"])
    columns = own.document["columns"]
    assert columns["salary"] == {"role": "sensitive", "known": "never"}
    assert columns["shoe"] == {"role": "insensitive", "known": "never"}


def test_small_counts_of_a_refusal_are_for_who_reads_records(
    studio: Studio, ana: httpx.Client, api: Client, tmp_path: Path
) -> None:
    """One person is alone with a ward: an analyst is not told that it is one."""
    rows = [("fm"[i % 2], "none" if i else "intensive care") for i in range(4 * LEAST)]
    path = tmp_path / "wards.csv"
    path.write_text("sex,ward\n" + "\n".join(map(",".join, rows)) + "\n")
    made = api.post("/sources", {"name": "Wards", "upload": api.upload(path)})
    api.follow(made["job"])
    own = Own(ana, api, made["id"], {}, method={"lattice": {"suppression": 0}})
    project = api.get(f"/projects/{own.id}")
    columns = {"sex": "quasi-identifier", "ward": "insensitive"}
    api.put(f"/projects/{own.id}", {"document": {**project["document"], "columns": columns}}, version=project["version"])
    job = own.refused()
    assert "1 of 80" in job["error"]["message"]
    analyst = Client(studio.address, studio.user("nia", "steward"))
    api.put(f"/projects/{own.id}/members", {"user": "nia", "role": "analyst"})
    told = analyst.get(f"/jobs/{job['id']}")["error"]
    assert "<3 of 80" in told["message"]
    assert "1 of 80" not in str(told)


def test_the_headline_says_the_whole_and_is_not_green(ana: httpx.Client, api: Client, source: str) -> None:
    own = Own(ana, api, source, ACCEPTED)
    release = released(api, own.id)["release"]
    found = api.get(f"/releases/{release}/evaluation")["exposure"]
    assert found["below"] > found["alone"] > 200
    for code in LANGUAGES:
        say = Language(code)
        titles = [say.say(title) for title in TITLES]
        shares = [say.percent(found[name] / found["people"], 1) for name in ("below", "alone_with_private")]
        for page in ("run", "result", "risk", "publish", "attack"):
            shown = own.page(page, code)
            assert [text for text in (*titles, *shares) if text not in shown] == [], (page, code)
    for page in ("run", "result", "publish"):
        shown = own.page(page)
        assert "erified: exposure accepted" in shown, page
        assert GREEN.search(shown) is None, page
    assert "verified: people exposed" in ana.get("/projects", params={"q": "Exposed"}).text
    risk = own.page("risk")
    keys = risk[risk.index('id="keys"') : risk.index('id="revealing"')]
    assert re.search(rf"one column</th><td class=\"number\">{found['keys']['1']} ", keys)
    assert re.search(rf"salary</span></th><td class=\"number\">\d+</td><td class=\"number\">{found['sets'][0]['below']}<", risk)
    marks = dict(re.findall(r'/(\w+)"[^>]*><span class="dot (\w+)"', risk))
    assert (marks["utility"], marks["result"], marks["risk"], marks["publish"]) == ("ready", "open", "open", "open")


def test_a_release_without_exposed_people_is_green(ana: httpx.Client, api: Client, source: str) -> None:
    own = Own(ana, api, source, {"salary": "identifier", "illness": {"role": "sensitive", "known": "never"}})
    released(api, own.id)
    for page in ("run", "result", "publish"):
        shown = own.page(page)
        assert GREEN.search(shown) is not None, page
        assert "Alone if all that is published were known" in shown, page
