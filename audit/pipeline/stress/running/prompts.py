"""The prompts of the four stress tests, filled in for an instance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from audit.papers.departures import PRESETS, Paper
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.prompts import Prompt, PromptForm, load_templates
from audit.pipeline.stress.instances import StressInstance
from audit.pipeline.stress.running.forms import StressReplyForm, sub_questions_of
from audit.vocabulary import STRESS_TESTS, StressTest

FIELDS = ("documents", "question", "options")
WITH_SUB_QUESTIONS = (StressTest.INTEGRATION, StressTest.ROBUSTNESS)
NO_DOCUMENTS, NO_OPTIONS, NO_SUB_QUESTIONS = (
    "(no documents)",
    "(no options: answer in one or two sentences)",
    "(no sub-questions)",
)


def _fields(test: StressTest) -> tuple[str, ...]:
    return (*FIELDS, "sub_questions") if test in WITH_SUB_QUESTIONS else FIELDS


MEDRGB = PRESETS[Paper.S3]
"""The preset with the instructions and the order of the replies of MedRGB."""
AS_MEDRGB = {test: f"{MEDRGB}_{test}" for test in STRESS_TESTS if test != StressTest.STANDARD}
"""Test -> template of that preset; the standard test is the same."""
# The schema of a call depends on its instance; here it is empty, and a journal is bound to the wording
FORMS = {test: PromptForm(f"stress_{test}", str(test), _fields(test), {}) for test in STRESS_TESTS}
FORMS_AS_MEDRGB = FORMS | {test: PromptForm(name, str(test), _fields(test), {}) for test, name in AS_MEDRGB.items()}


def load_stress_prompts(folder: Path | None = None, preset: str | None = None) -> dict[StressTest, Prompt]:
    """The prompt of each test, from `folder` if it has one; `preset`: MEDRGB, or None for ours.

    Raises AuditError if a template cannot be used.
    """
    forms = FORMS_AS_MEDRGB if preset else FORMS
    prompts = load_templates(forms.values(), __package__, folder)
    return {test: prompts[form.name] for test, form in forms.items()}


def stress_call(prompt: Prompt, model: str, instance: StressInstance) -> Call:
    """The request that puts an instance to a model. It reveals neither the truth about the documents nor their ids."""
    documents = [f"Document {number}: {_one_line(one.text)}" for number, one in enumerate(instance.documents, 1)]
    options = [f"{letter}: {_one_line(text)}" for letter, text in instance.options.items()]
    asked = [f"Sub-question {number}: {_one_line(one.sub_question)}" for number, one in enumerate(sub_questions_of(instance), 1)]
    texts = {
        "documents": "\n".join(documents) or NO_DOCUMENTS,
        "question": instance.question,
        "options": "\n".join(options) or NO_OPTIONS,
        "sub_questions": "\n".join(asked) or NO_SUB_QUESTIONS,
    }
    form = StressReplyForm.of(instance, reasons_first=prompt.name not in AS_MEDRGB.values())
    schema = form.schema(instance.test)
    return replace(prompt, form=replace(prompt.form, schema=schema)).call(model, instance.question_id, texts)


def _one_line(text: str | None) -> str:
    """The text on one line, so no text can start a line that looks like another document."""
    return " ".join((text or "").split())
