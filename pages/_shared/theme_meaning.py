"""Finding themes by meaning: the model runs in a process of its own, so that the dashboard never loads it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import pandas as pd
import streamlit as st

from audit.embedding.encoders import LEXICAL
from audit.errors import ThemesError
from audit.store.runs import Run
from audit.themes.taxonomy import Taxonomy

PATIENCE_S = 120


def offered(taxonomy: Taxonomy) -> bool:
    """Whether the themes were built with a sentence model, and what runs it is installed."""
    return taxonomy.built.get("model") not in (None, LEXICAL) and find_spec("sentence_transformers") is not None


def by_meaning(run: Run, taxonomy: Taxonomy, words: str) -> pd.DataFrame:
    """The themes nearest to the words: theme_id, similarity, phrase, name. Raises ThemesError, saying why it cannot tell."""
    return _searched(run.key, taxonomy.sha256, words)


@st.cache_data(show_spinner="Reading what the phrases mean: some seconds ...", max_entries=100)
def _searched(run: str, themes: str, words: str) -> pd.DataFrame:
    command = [sys.executable, "-m", "audit", "themes", "search", "--run", run, "--json", "--", words]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE_S)  # noqa: S603 - no shell
    except subprocess.TimeoutExpired:
        raise ThemesError(f"The model did not answer within {PATIENCE_S} seconds. Nothing was found by meaning.") from None
    if done.returncode:
        raise ThemesError(done.stderr.strip().removeprefix("audit: ") or "The search by meaning failed.")
    return pd.DataFrame(json.loads(done.stdout), columns=["theme_id", "similarity", "phrase", "name"])
