"""Every page as it is sent, in three languages: whole, without English in another language, without what the policy forbids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urldefrag, urlsplit

import httpx2 as httpx
import pytest

import stored_projects as at_hand
from servers.studio import WAIT, Studio
from studio.page_addresses import ADDRESSES, NOT_SPEECH, address_of, visitor
from test_speech import english
from velado.client import Client
from velado.errors import InputError
from velado.i18n.language import LANGUAGES
from velado.service.jobs import failure_messages
from velado.service.jobs.kinds import KINDS
from velado.service.store.tables import JobLine
from velado.studio.pages import jobs

SELECTOR = re.compile(r"([a-z]*)(?:\.([\w-]+))?(?:\[([\w-]+)(?:=([\w-]+))?\])?")
EMPTY = {"br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
SPOKEN = ("aria-label", "title", "placeholder")
TOLD_TO_THE_BROWSER = "/look"
"""Language and theme are kept by a browser that nobody has signed in with, too: no token, but from our pages only."""


def fits(selector: str, tag: str, attributes: dict[str, str]) -> bool:
    """Whether an element is meant by ``tag.class[name=value]``."""
    found = SELECTOR.fullmatch(selector)
    assert found is not None, selector
    name, of_class, key, value = found.groups()
    return (
        name in ("", tag)
        and (of_class is None or of_class in attributes.get("class", "").split())
        and (key is None or (key in attributes and value in (None, attributes[key])))
    )


@dataclass
class Form:
    """A form that changes something: where it goes, and the token that it repeats."""

    action: str
    csrf: str = ""


class Read(HTMLParser):
    """A page as it was sent: what is said on it, where it leads, what it sends."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.language = ""
        self.headings = 0
        self.said: list[str] = []
        self.leads: set[str] = set()
        self.forms: list[Form] = []
        self.forbidden: list[str] = []
        self._above: list[tuple[str, bool, bool]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {key: value or "" for key, value in attrs}
        _, silent, hidden = self._above[-1] if self._above else ("", False, False)
        hidden = hidden or has.get("aria-hidden") == "true"
        silent = silent or any(fits(one, tag, has) for one in NOT_SPEECH)
        if not hidden:
            self.said += [has[key] for key in SPOKEN if key in has]
        if tag not in EMPTY:
            self._above.append((tag, silent, hidden))
        self.language = has.get("lang", "") if tag == "html" else self.language
        self.headings += tag == "h1"
        self.leads |= {has[key] for key in ("href", "src", "data-load") if has.get(key)}
        if tag == "form" and has.get("method", "").lower() == "post":
            self.forms.append(Form(has.get("action", "")))
        elif tag == "input" and has.get("name") == "csrf":
            self.forms[-1].csrf = has["value"]
        self._forbid(tag, has)

    def handle_endtag(self, tag: str) -> None:
        while self._above and self._above.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if data.strip() and self._above and not self._above[-1][1]:
            self.said.append(data.strip())

    def _forbid(self, tag: str, has: dict[str, str]) -> None:
        """What the policy of the service refuses to do: scripts and styles within the page, and whatever is elsewhere."""
        self.forbidden += [f"<{tag} {key}>" for key in has if key == "style" or key.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in has and has.get("type") != "application/json"):
            self.forbidden.append(f"<{tag}> within the page")
        for key in ("href", "src", "action", "formaction"):
            if re.match(r"(?:[a-z]+:|//)", has.get(key, "")):
                self.forbidden.append(f"<{tag} {key}={has[key]}>")


class Sent(NamedTuple):
    """A page in a language, and who asked for it."""

    path: str
    language: str
    answer: httpx.Response
    page: Read
    asker: httpx.Client

    def there(self, address: str) -> str:
        """Where an address on the page leads."""
        return urldefrag(str(self.answer.url.join(address)))[0]


def test_every_page(studio: Studio, ids: dict[str, str]) -> None:
    """One test, since all of it is about the same answers."""
    with ExitStack() as opened:
        askers = {
            one: opened.enter_context(
                httpx.Client(base_url=studio.address, cookies=studio.cookies(*one), timeout=WAIT, follow_redirects=True)
            )
            for one in {visitor(path) for path in ADDRESSES}
        }
        sent = [ask(askers[visitor(path)], path, code, ids) for path in ADDRESSES for code in LANGUAGES]
        assert [*broken(sent), *untranslated(sent), *leading_nowhere(sent), *forgeable(sent)] == []


def ask(asker: httpx.Client, path: str, language: str, ids: dict[str, str]) -> Sent:
    """A page in a language."""
    answer = asker.get(address_of(path, ids), headers={"Accept-Language": language})
    return Sent(path, language, answer, Read(answer.text), asker)


def broken(sent: list[Sent]) -> Iterator[str]:
    """What is not there, leads on, is in another language, has not one heading, or what the policy forbids."""
    for one in sent:
        found = (one.answer.status_code, len(one.answer.history), one.page.language, one.page.headings)
        if found != (200, 0, one.language, 1):
            yield f"{one.path}: status, redirections, language and headings are {found}, not (200, 0, {one.language}, 1)"
        yield from (f"{one.path}: {what}" for what in one.page.forbidden)


def untranslated(sent: list[Sent]) -> Iterator[str]:
    """What is said in English to whom another language was promised."""
    for one in sent:
        assert one.page.said, one.path
        for text in one.page.said if one.language != "en" else ():
            if words := english(text, one.language):
                yield f"{one.path} in {one.language}: {text!r} has {words}"


def leading_nowhere(sent: list[Sent]) -> Iterator[str]:
    """Links to what does not exist; also pictures, styles, scripts, and parts that are loaded later."""
    wanted = {urlsplit(there).path: (there, one) for one in sent for there in map(one.there, one.page.leads)}
    assert len(wanted) > 50
    for address, one in wanted.values():
        if (answer := one.asker.get(address)).status_code != 200:
            yield f"{one.path} leads to {address}: {answer.status_code}"


def forgeable(sent: list[Sent]) -> Iterator[str]:
    """Forms without the token of the session, that lead nowhere, or that another site could send."""
    wanted = {urlsplit(one.there(form.action)).path: (form, one) for one in sent for form in one.page.forms}
    assert len(wanted) > 20
    for address, (form, one) in wanted.items():
        if not form.csrf and form.action != TOLD_TO_THE_BROWSER:
            yield f"{one.path}: the form to {address} has no token"
        forged = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
        answer = one.asker.post(address, data={"csrf": "0" * 64}, headers=forged)
        if answer.status_code != 403:
            yield f"{one.path}: another site can send the form to {address}: {answer.status_code}"


@pytest.fixture
def ana(studio: Studio) -> Iterator[httpx.Client]:
    """The browser of a steward."""
    with httpx.Client(base_url=studio.address, cookies=studio.cookies("ana", "steward"), timeout=WAIT) as client:
        yield client


def test_every_name_of_a_column_has_its_pages(studio: Studio, ana: httpx.Client, api: Client) -> None:
    """Clients take ``..`` out of a path, so names stand in the query."""
    names = ["..", ".", "a/b", "50% ?&#+"]
    owner = api.get("/session")["id"]
    source = at_hand.source(studio.service, owner, columns=[{"name": name, "type": "text"} for name in names])
    document = {"velado": 1, "source": {"source": source}, "columns": dict.fromkeys(names, "quasi-identifier")}
    here = f"/projects/{at_hand.project(studio.service, {owner: 'owner'}, document)}"
    workshops = {one for one in Read(ana.get(f"{here}/hierarchies").text).leads if one.startswith(f"{here}/hierarchy")}
    headed = {f"<h1>{escape(name)}</h1>": name for name in names}
    for workshop in workshops - {f"{here}/hierarchies"}:
        (name,) = (headed.pop(h) for h in list(headed) if h in ana.get(workshop).text)
        assert workshop in Read(ana.get(f"{here}/column", params={"column": name}).text).leads
    assert headed == {}


def test_what_could_not_be_measured_is_told(studio: Studio, ana: httpx.Client, api: Client, hospital: dict[str, str]) -> None:
    """Until it is measured again, also if something else is measured meanwhile; the stage that failed has no tick."""
    owner, project = api.get("/session")["id"], hospital["project"]
    error = failure_messages.describe_error(InputError("bad-labels", "labels overlap"))
    asked = {"parameters": {"measures": [], "target": "diagnosis"}, "release_id": hospital["release"]}
    failed = at_hand.job(studio.service, "evaluate", project, owner, state="failed", error=error, **asked)
    lines = [("started", {"attempt": 1}), ("stage", {"stage": "read"}), ("stage", {"stage": "evaluate"}), ("failed", {})]
    at_hand.add(
        studio.service,
        *(JobLine(job_id=failed, number=n, event=event, detail=detail) for n, (event, detail) in enumerate(lines, 1)),
    )
    queries = {**asked, "parameters": {"measures": ["queries"]}}
    told = {"queries": {"mean": 0.1, "median": 0.1, "queries": 10, "seed": 0}}
    measured = at_hand.job(studio.service, "evaluate", project, owner, told, **queries)
    page = ana.get(f"/projects/{project}/utility", params={"release": hospital["release"]}).text
    assert f'id="job-{failed}"' in page
    assert "labels overlap" in page
    assert "Not measured yet: classifiers" not in page
    stages = re.findall(r"[✓✗]", ana.get(f"/jobs/{failed}").text)
    assert stages == ["✓", "✗"]
    for job in (failed, measured):
        api.delete(f"/jobs/{job}")


def test_every_kind_of_job_has_a_title() -> None:
    assert set(jobs.KINDS) == set(KINDS)


def test_what_is_wrong_on_a_page_is_seen() -> None:
    page = Read(
        """<html lang=es><h1>A</h1><br><p style=x onclick=y title=of>the <code>which <b>whose</b></code><td class="n cell">that</td>
        <i aria-hidden=true title=it>is</i><form method=post action=/a></form><form method=post action=/b><input name=csrf value=1></form>
        <script>1</script><script type=application/json>{}</script><a href=https://x.example></a><a href=/c>may</a>"""
    )
    assert (page.language, page.headings, page.said) == ("es", 1, ["A", "of", "the", "may"])
    assert page.forms == [Form("/a"), Form("/b", "1")]
    assert page.leads == {"https://x.example", "/c"}
    assert page.forbidden == ["<p style>", "<p onclick>", "<script> within the page", "<a href=https://x.example>"]
