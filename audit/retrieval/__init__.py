"""Retrieval: the passages of a handbook that speak to a question, by HERO-QA or by one of the baselines it is held against.

    index = build_index(document, Options(), encoder, folder)
    retrieval = strategy("hero", index).retrieve(Query("q1", "When may I travel?"))

Nothing heavy is imported before it is needed: bm25s and faiss-cpu are of the extra `retrieval`, sentence models too.
"""

from audit.retrieval.build import STRATEGIES, build, strategy
from audit.retrieval.index import Index, build_index
from audit.retrieval.model import Passage, Query, Retrieval, Strategy
from audit.retrieval.options import Options

__all__ = [
    "STRATEGIES",
    "Index",
    "Options",
    "Passage",
    "Query",
    "Retrieval",
    "Strategy",
    "build",
    "build_index",
    "strategy",
]
