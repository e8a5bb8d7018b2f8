"""One question put to one handbook, with what retrieval found for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from audit.corpus.documents import Document
from audit.retrieval.model import Query


class Asked(NamedTuple):
    """A question, the handbook that it is put to, and the record of its retrieval (mode, passages with their text, ...)."""

    query: Query
    document: Document
    retrieval: Mapping[str, Any]
