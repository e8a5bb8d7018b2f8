"""Entities of a text by a vocabulary: the longest term, synonyms, and files that are not a vocabulary."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.errors import RetrievalError
from audit.pipeline.retrieval.across.entities import (
    DictionaryRecogniser,
    Entity,
    medical_recogniser,
    read_entity_terms,
)

TERMS = {
    "drug": {"tacrolimus": ["Prograf", "FK506"], "aspirin": []},
    "symptom": {"shortness of breath": ["dyspnea"], "fever": ["high temperature"]},
    "organ": {"kidney": ["renal"]},
    "procedure": {"kidney transplant": []},
}


def names(text: str, recogniser: DictionaryRecogniser | None = None) -> list[str]:
    (entities,) = (recogniser or DictionaryRecogniser(TERMS)).recognise([text])
    return [str(entity) for entity in entities]


def test_a_synonym_stands_for_its_preferred_name_whatever_its_case_and_ending() -> None:
    assert names("PROGRAF's level, and FK506. High temperatures?") == ["drug: tacrolimus", "symptom: fever"]
    assert names("Short of breath is not the term, shortness of breath is.") == ["symptom: shortness of breath"]
    assert names("") == []


def test_the_longest_term_counts_and_what_is_inside_it_does_not() -> None:
    assert names("After a kidney transplant") == ["procedure: kidney transplant"]
    assert names("A kidney transplant, and the other kidney.") == ["organ: kidney", "procedure: kidney transplant"]


def test_the_digest_changes_with_the_terms_only() -> None:
    assert DictionaryRecogniser(TERMS).digest == DictionaryRecogniser(dict(TERMS), "another name").digest
    assert DictionaryRecogniser(TERMS).digest != DictionaryRecogniser(TERMS | {"organ": {"liver": []}}).digest


def test_the_terms_of_the_package_know_what_patients_ask_about() -> None:
    text = "Can I take Advil for a headache three months after my liver transplant, or will the blood test show it?"
    assert names(text, medical_recogniser()) == [
        "drug: ibuprofen", "procedure: liver transplant", "symptom: headache", "test: blood test",
    ]  # fmt: skip


def test_a_vocabulary_of_ones_own_is_read(tmp_path: Path) -> None:
    path = tmp_path / "terms.toml"
    path.write_text('[formula]\n"six gentlemen" = ["Liu Jun Zi"]\n', encoding="utf-8")
    (entities,) = DictionaryRecogniser(read_entity_terms(path)).recognise(["Liu jun zi decoction"])
    assert entities == (Entity("formula", "six gentlemen"),)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("fever", "Expected"),
        ("", "names no entity"),
        ("fever = []", "'fever' is not a table"),
        ('[symptom]\nfever = "high temperature"', "the synonyms of 'fever' are not a list"),
        ("[symptom]\nfever = [1]", "the synonyms of 'fever' are not a list"),
    ],
)
def test_another_file_is_refused_with_the_form_it_must_have(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "terms.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(RetrievalError, match=rf"not a vocabulary of entities \(.*{problem}.*\[symptom\], then: fever"):
        read_entity_terms(path)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(RetrievalError, match=r"missing\.toml is not a vocabulary"):
        read_entity_terms(tmp_path / "missing.toml")
