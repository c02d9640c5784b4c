"""Routes of comparisons."""

from __future__ import annotations

import csv
import io

from fastapi import APIRouter, Response

from velado.service.comparisons import operations as comparisons
from velado.service.comparisons.kept_results import ResultAnswer, ResultEntry
from velado.service.web import downloads
from velado.service.web.call import Called
from velado.service.web.schemas import After, Limit, Listed

router = APIRouter(tags=["results"])


@router.get("/projects/{id}/comparisons")
def list_comparisons(call: Called, id: str, limit: Limit = 100, after: After = None) -> Listed[ResultEntry]:
    """The comparisons and balances of a project, the newest first."""
    return comparisons.list_comparisons(call, id, limit, after)


@router.get("/comparisons/{id}")
def read_comparison(call: Called, id: str) -> ResultAnswer:
    """What a comparison or a balance found."""
    return comparisons.read_comparison(call, id)


@router.get("/comparisons/{id}/table", response_class=Response, responses=downloads.answers("text/csv"))
def download_comparison(call: Called, id: str) -> Response:
    """The main figures of every setting as a file, one line each."""
    text = io.StringIO()
    csv.writer(text).writerows(comparisons.download_comparison(call, id))
    return Response(text.getvalue().encode(), media_type="text/csv", headers=downloads.headers("comparison.csv"))
