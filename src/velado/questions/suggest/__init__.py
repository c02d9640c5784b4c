"""A project for an inspected table that runs: what ``velado init`` writes."""

from velado.questions.suggest.result import SuggestedColumn, Suggestion, Trial, Without
from velado.questions.suggest.steps import suggest
from velado.questions.suggest.wishes import Wishes

__all__ = ["SuggestedColumn", "Suggestion", "Trial", "Wishes", "Without", "suggest"]
