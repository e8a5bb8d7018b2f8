"""How often a search without a model finds what a document says: measured elsewhere, and drawn on the page *Trust*."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

CURVES = Path(__file__).with_name("search_curves.csv")


@cache
def search_curves() -> pd.DataFrame:
    """What `python -m benchmarks.closest minilm words --curve` wrote: a row for each way to compare and score, highest first.

    way                  'minilm' or 'words'
    threshold            float, the score
    right, wrong         int, questions at or above it whose answer is, or is not, in the passages quoted
    missed, answered     int, questions below it that the document answers, of all that it answers
    questions            int, all questions
    state                'stated' or 'perhaps' where this is the lowest score of that state, else ''
    """
    return pd.read_csv(CURVES, keep_default_na=False)
