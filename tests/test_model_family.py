"""Models of one family, by their names, and what is said where one family wrote and judged."""

from __future__ import annotations

import pytest

from audit.model_family import model_family, self_preference_note


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("Qwen/Qwen3-32B", "Qwen"), ("qwen3-4b", "Qwen"), ("meta-llama/Llama-3.3-70B-Instruct", "Llama"), ("gpt-4o-mini", "GPT"),
        ("o3-mini", "GPT"), ("mistralai/Mixtral-8x7B", "Mistral"), ("google/gemma-3-270m", "Gemma"), ("gemini-2.5-pro", "Gemini"),
        # two families in one name, and names that only contain the letters of one
        ("DeepSeek-R1-Distill-Qwen-32B", None), ("Graphite-7B", None), ("a large language model following RUBRIC.md", None),
        ("baseline judge (rules, no model)", None), ("", None),
    ],
)  # fmt: skip
def test_the_family_of_a_model_by_its_name(name: str, family: str | None) -> None:
    assert model_family(name) == family


def test_the_note_stands_only_where_both_are_known_and_of_one_family() -> None:
    assert "One family of models (Qwen)" in self_preference_note({"generator": "Qwen/Qwen3-8B", "judge": "qwen3-32b"})
    assert not self_preference_note({"generator": "Qwen/Qwen3-8B", "judge": "gpt-4o"})
    assert not self_preference_note({"generator": "source text", "judge": "a large language model"})
    assert not self_preference_note({})
