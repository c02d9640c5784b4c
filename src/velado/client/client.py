"""The client: requests, uploads in pieces, jobs, downloads. Messages are the service's own."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Self
from urllib.parse import urlsplit

from velado.errors import Cancelled, InputError, NoSolution, VeladoError, missing_package, reason, unwritable
from velado.progress import Progress
from velado.results import Discreet
from velado.sentences import Sentence

API = "/api/v1"
TOKEN = "VELADO_TOKEN"
CHUNK = 8_000_000
"""Bytes of an upload that are sent in one request."""
TRIES = 4
WAIT = 10
"""Seconds for which the service holds a question about a job back until there is something new."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ServiceError(InputError):
    """What the service refused, with its own code, message and hint; ``status`` is that of HTTP."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        fields = dict(problem.get("fields") or {})
        super().__init__(
            str(problem.get("code", "service-refused")),
            str(problem.get("message", "")),
            hint=str(problem.get("hint", "")),
            column=problem.get("column"),
            values=fields.pop("values", ()),
            fields=fields,
        )
        self.status = status
        self.others = tuple(ServiceError(status, other) for other in problem.get("others") or ())


class Client(Discreet):
    """A service at an address. ``language`` is that of its messages."""

    def __init__(self, url: str, token: str | None = None, *, language: str = "en", timeout: float = 60) -> None:
        try:
            import httpx2
        except ImportError:
            raise missing_package("no-client", Sentence("talking to a service needs a further package"), "client") from None
        self._errors = httpx2.TransportError
        token = token or os.environ.get(TOKEN)
        if not token:
            raise InputError(
                "no-server-token", "the service needs a token", hint="export VELADO_TOKEN=…; 'velado studio token add' makes one."
            )
        _check_url(url)
        self._http = httpx2.Client(
            base_url=url.rstrip("/") + API,
            timeout=timeout,
            headers={"Authorization": f"Bearer {token}", "Accept-Language": language},
        )

    def summary(self) -> Mapping[str, Any]:
        """Nothing: an address may hold what is nobody's business."""
        return {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    # Plain requests

    def get(self, path: str, **query: Any) -> Any:
        """What stands at an address of the interface, such as ``/projects``."""
        return self._request("GET", path, params=query).json()

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Make something, or ask for something to be done."""
        return self._request("POST", path, json={} if body is None else dict(body)).json()

    def put(self, path: str, body: Mapping[str, Any], version: int | None = None) -> Any:
        """Change something; of a document, the ``version`` that is changed."""
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        response = self._request("PUT", path, json=dict(body), headers=headers)
        return response.json() if response.content else None

    def delete(self, path: str) -> None:
        """Delete something."""
        self._request("DELETE", path)

    def _request(self, method: str, path: str, **options: Any) -> Any:
        """An answer; what was only asked for is asked for again where the connection broke."""
        tries = TRIES if method in ("GET", "HEAD") else 1
        for number in range(tries):
            try:
                response = self._http.request(method, path, **options)
            except self._errors as error:
                if number + 1 == tries:
                    raise unreachable(error) from None
                time.sleep(0.2 * 2**number)
            else:
                break
        if response.status_code >= 400:
            raise error_from_problem(
                response.status_code, response.json() if "json" in response.headers.get("content-type", "") else {}
            )
        return response

    # Uploads

    def upload(self, path: str | Path, progress: Progress | None = None) -> str:
        """Send a file in pieces; after a broken connection it goes on where the service is. The id of the upload."""
        path, progress = Path(path), progress or Progress()
        try:
            size = path.stat().st_size
            with open(path, "rb") as file:
                made = self.post("/uploads", {"name": path.name, "bytes": size})
                self._send(str(made["id"]), file, size, progress)
        except OSError as error:
            raise InputError("unreadable-source", Sentence("cannot read: {why}", why=reason(error)), file=path) from None
        return str(made["id"])

    def _send(self, id: str, file: IO[bytes], size: int, progress: Progress) -> None:
        offset, broken = 0, 0
        while offset < size or not size:
            progress.at(offset, max(size, 1))
            file.seek(offset)
            headers = {"Upload-Offset": str(offset), "Content-Type": "application/octet-stream"}
            try:
                answer = self._request("PATCH", f"/uploads/{id}", content=file.read(CHUNK), headers=headers).json()
                offset, broken = int(answer["offset"]), 0
            except VeladoError as error:
                broken += 1
                if broken == TRIES or error.code not in ("no-service", "wrong-offset"):
                    raise
                time.sleep(0.2 * 2**broken)
                offset = int(self.get(f"/uploads/{id}")["offset"])
            if not size:
                break

    # Jobs

    def submit(self, kind: str, parameters: Mapping[str, Any] | None = None, **about: str) -> dict[str, Any]:
        """A new job about a ``project``, a ``source`` or a ``release``."""
        return dict(self.post("/jobs", {"kind": kind, "parameters": dict(parameters or {}), **about}))

    def follow(self, job: str, progress: Progress | None = None) -> dict[str, Any]:
        """Wait for the end of a job; its error is raised. Cancelling the progress cancels the job."""
        progress = progress or Progress()
        stage, began = "", time.monotonic()
        while True:
            try:
                progress.check()
                # A long job is asked about less often, unless it comes to another stage.
                wait = min(WAIT, 1 + (time.monotonic() - began) / 10)
                state = self.get(f"/jobs/{job}", wait=int(wait), stage=stage)
                step = state.get("step") or {}
                stage = str(step.get("stage") or "")
                if stage:
                    progress.part(0, 1, stage).at(float(step.get("share") or 0.0))
            except Cancelled:
                self._cancel_job(job)
                raise
            if state["state"] == "done":
                return dict(state)
            if state["state"] == "cancelled":
                raise Cancelled()
            if state["state"] == "failed":
                raise error_from_problem(422, state.get("error") or {})

    def _cancel_job(self, job: str) -> None:
        with contextlib.suppress(VeladoError):
            self.post(f"/jobs/{job}/cancel")

    def download(self, path: str, to: str | Path) -> Path:
        """Write what stands at an address into a file, which is there only when it is complete."""
        to = Path(to)
        part = to.with_name(f".{to.name}.part")
        try:
            with self._http.stream("GET", path) as response:
                if response.status_code >= 400:
                    response.read()
                    raise error_from_problem(response.status_code, response.json())
                with open(part, "wb") as file:
                    for chunk in response.iter_bytes():
                        file.write(chunk)
            os.replace(part, to)
        except self._errors as error:
            raise unreachable(error) from None
        except OSError as error:
            raise unwritable(error, to) from None
        finally:
            part.unlink(missing_ok=True)
        return to


def error_from_problem(status: int, problem: Mapping[str, Any]) -> VeladoError:
    """What the service said, as the error that it is here."""
    if problem.get("code") == "no-solution":
        return NoSolution(
            "no-solution", str(problem.get("message", "")), hint=str(problem.get("hint", "")), fields=problem.get("fields")
        )
    return ServiceError(status, problem)


def unreachable(error: Exception) -> InputError:
    """The service does not answer."""
    return InputError(
        "no-service",
        Sentence("the service does not answer ({kind})", kind=type(error).__name__),
        hint="Look at the address, and whether the service runs.",
    )


def _check_url(url: str) -> None:
    """A token goes only where nobody listens on the way."""
    found = urlsplit(url)
    if found.scheme == "https" and found.hostname:
        return
    if found.scheme != "http" or found.hostname not in LOOPBACK:
        raise InputError(
            "bad-server", "a service is reached by https://, or on this machine by http://", hint="--server https://velado.example"
        )
