"""Answers: what one handbook says to one question, from the passages that retrieval found. Never opens the store."""

from audit.generation.asked import Asked
from audit.generation.extracting import EXTRACTIVE, Extract, extractive
from audit.generation.pairing import meets, paired
from audit.generation.records import Summary
from audit.generation.writing import Writing, by_model, load_prompt

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
