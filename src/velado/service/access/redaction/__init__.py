"""Redaction: what who may not read records sees of values and counts. The rules are one table: `table`.

`rules` are its words, `conditions` what a rule may depend on. `results`, `nodes`, `classes` and `errors` apply it: to what jobs
answer, to the nodes of a lattice in an Arrow file, to pages of classes, to why a job failed.
"""

from velado.service.access.redaction.errors import redact_error
from velado.service.access.redaction.results import has_no_header, redact_document, redact_profile, redact_result, redact_suggestion
from velado.service.access.redaction.rules import FEWER, SMALL

__all__ = [
    "FEWER",
    "SMALL",
    "has_no_header",
    "redact_document",
    "redact_error",
    "redact_profile",
    "redact_result",
    "redact_suggestion",
]
