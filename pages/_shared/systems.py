"""What the pages about answering systems share: filters of questions, and what to say where a run has no systems."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from audit.queries.system_answers import system_question_list
from audit.store.runs import Run
from pages._shared.loaders import load
from pages._shared.pickers import pick_one
from pages._shared.widgets import say, server_commands, title_of

NO_SYSTEMS = (
    "This run has no answering systems, so there is nothing to compare here (not measured, which is not the same as zero). A "
    "release has them in systems.jsonl and system_answers.jsonl; commands create them."
)
SYSTEM_COMMANDS = """\
audit run CONFIG.toml              # with [[systems]] in the configuration: each answers the same questions
audit systems score RELEASE        # measures of each answer against the reference answers"""
CSS = Path(__file__).with_name("systems.css")


@dataclass(frozen=True)
class QuestionFilter:
    """Which questions are counted; None: all."""

    question_type: str | None
    organ: str | None

    @property
    def options(self) -> dict[str, str | None]:
        """As the options of a metric."""
        return {"question_type": self.question_type, "organ": self.organ}


def stop_without_systems(run: Run) -> None:
    """Say how a run gets systems, and stop the page, where it has none."""
    if not run.has_systems:
        st.info(say(run, NO_SYSTEMS))
        server_commands(SYSTEM_COMMANDS)
        st.stop()


def pick_questions(run: Run) -> tuple[QuestionFilter, pd.DataFrame]:
    """Pickers of question type and organ, where there are several, and the questions that match."""
    questions = load(system_question_list, run)
    types, organs = (sorted(questions[name].dropna().unique()) for name in ("question_type", "organ"))
    left, right = st.columns(2)
    with left:
        question_type = pick_one("Question type", types, "type") if _needs_picker(types, "type") else None
    with right if _needs_picker(types, "type") else left:
        organ = pick_one(title_of(run, "organ"), organs, "organ") if _needs_picker(organs, "organ") else None
    chosen = QuestionFilter(question_type, organ)
    of_type = (questions["question_type"] == question_type) if question_type else pd.Series(True, index=questions.index)
    return chosen, questions[of_type & ((questions["organ"] == organ) if organ else True)]


def _needs_picker(values: list[str], param: str) -> bool:
    """Whether there is something to pick, or a link asks for a value, which must not be ignored in silence."""
    return len(values) > 1 or param in st.query_params
