"""Answers: what one handbook says to one question, from the passages that retrieval found. Never opens the store."""

from audit.generate.asked import Asked
from audit.generate.extracting import EXTRACTIVE, Extract, extractive
from audit.generate.pairing import meets, paired
from audit.generate.records import Summary
from audit.generate.writing import Writing, by_model, load_prompt

__all__ = [
    "EXTRACTIVE",
    "Asked",
    "Extract",
    "Summary",
    "Writing",
    "by_model",
    "extractive",
    "load_prompt",
    "meets",
    "paired",
]
