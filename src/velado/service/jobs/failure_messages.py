"""Why a job failed: told by its process in all languages at once, kept in the store, said to who asks in theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from velado.errors import InputError, VeladoError
from velado.i18n.language import LANGUAGES
from velado.sentences import Sentence
from velado.service.errors import Refused

PLAIN = ("column", "values", "fields")


def describe_error(error: VeladoError) -> dict[str, Any]:
    """An error as the store keeps it: sentences in every language. Files are left out: their places are nobody's business."""
    said = {code: error.as_dict(code)["error"] for code in LANGUAGES}
    kept: dict[str, Any] = {
        "code": error.code,
        "message": {code: one.get("message", "") for code, one in said.items()},
        **{key: said["en"][key] for key in PLAIN if key in said["en"]},
    }
    if error.hint:
        kept["hint"] = {code: one.get("hint", "") for code, one in said.items()}
    if error.others:
        kept["others"] = [describe_error(other) for other in error.others]
    return kept


def translate_error(kept: Mapping[str, Any], language: str) -> dict[str, Any]:
    """A kept error in one language: code, message, hint, column, values, fields and others."""
    found: dict[str, Any] = {"code": kept["code"], "message": _translate(kept.get("message"), language)}
    if "hint" in kept:
        found["hint"] = _translate(kept["hint"], language)
    found |= {key: kept[key] for key in PLAIN if key in kept}
    if "others" in kept:
        found["others"] = [translate_error(other, language) for other in kept["others"]]
    return found


def _translate(texts: Any, language: str) -> str:
    return str(texts.get(language, texts.get("en", ""))) if isinstance(texts, Mapping) else ""


class JobFailed(Refused):
    """A job failed that a request waited for: the answer says what the job said."""

    status = 422

    def __init__(self, kept: Mapping[str, Any]) -> None:
        english = translate_error(kept, "en")
        super().__init__(
            kept["code"],
            english["message"],
            hint=english.get("hint", ""),
            column=kept.get("column"),
            values=kept.get("values", ()),
            fields=kept.get("fields"),
        )
        self.kept = kept
        self.others = tuple(JobFailed(other) for other in kept.get("others", ()))

    def as_dict(self, language: str = "en") -> dict[str, Any]:
        """The error in a language, as it was told."""
        return {"error": {key: value for key, value in translate_error(self.kept, language).items() if key != "others"}}


class JobBroke(JobFailed):
    """A job failed by no fault of who asked."""

    status = 500


OURS = ("internal-error", "job-lost")


def job_failure(kept: Mapping[str, Any]) -> JobFailed:
    """The error to raise for a job that failed."""
    return (JobBroke if kept["code"] in OURS else JobFailed)(kept)


# What the supervisor says


def lost_job() -> InputError:
    """The process of a job, or its worker, was gone each time."""
    return InputError(
        "job-lost",
        "the job was broken off each time that it was tried",
        hint="Try it again. If that happens again, an administrator finds the cause in the log of the system.",
    )


def unknown(kind: str) -> InputError:
    """A kind of job that this version does not know."""
    return InputError(
        "unknown-kind", Sentence("there is no kind of job '{kind}'", kind=kind), hint="Web and worker must be of the same version."
    )


def too_large(limit: int) -> InputError:
    """More memory than a job may use."""
    return InputError(
        "job-too-large",
        "the job needed more memory than a job may use",
        fields={"limit": limit},
        hint="Use fewer quasi-identifiers or columns, or coarser hierarchies. An administrator can raise the limit (setting job_memory).",
    )


def too_long(limit: int) -> InputError:
    """More time than a job may take."""
    return InputError(
        "job-too-long",
        "the job took longer than a job may take",
        fields={"limit": limit},
        hint="Use fewer quasi-identifiers, or a limit of seconds of the method. An administrator can raise the limit (setting job_seconds).",
    )


def too_late(limit: int) -> InputError:
    """More time than a question may take."""
    return InputError(
        "job-too-long",
        "the answer took longer than a question may take",
        fields={"limit": limit},
        hint="Submit a job instead, or ask about fewer columns.",
    )


def too_much_disk(limit: int) -> InputError:
    """More bytes than a job may write."""
    return InputError(
        "job-too-much-disk",
        "the job wrote more than a job may write",
        fields={"limit": limit},
        hint="Release fewer columns or records. An administrator can raise the limit (setting job_bytes).",
    )
