"""MedCPT by a stand-in library: which model reads what, and that a score is a product and not a cosine. No weights are here."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audit.cli.main import main
from audit.errors import EmbeddingError
from audit.pipeline.embedding import medcpt
from audit.pipeline.embedding.medcpt import ARTICLE, QUERY, medcpt_encoders
from audit.pipeline.stress.building.questions import StressQuestion
from audit.pipeline.stress.building.signal_search import MEDCPT, SearchSettings, library_search
from audit.pipeline.stress.building.topics import Topic
from audit.text.documents import Document, Section


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, str]]:
    """A library whose models count two words; which folders were loaded, with how many tokens and which pooling."""
    loaded: list[tuple[str, int, str]] = []

    class Model:
        def __init__(self, modules: list[Any], device: str) -> None:
            words, pooling = modules
            loaded.append((Path(words.folder).name, words.tokens, pooling))

        def encode(self, texts: list[str], **_: Any) -> Any:
            return np.array([[text.count("fever"), text.count("rash")] for text in texts], dtype=np.float32)

    library = SimpleNamespace(
        SentenceTransformer=Model, set_num_threads=lambda _: None,
        models=SimpleNamespace(
            Transformer=lambda folder, max_seq_length: SimpleNamespace(
                folder=folder, tokens=max_seq_length, get_word_embedding_dimension=lambda: 2
            ),
            Pooling=lambda _, pooling_mode: pooling_mode,
        ),
    )  # fmt: skip
    monkeypatch.setattr(medcpt, "optional", lambda *_: library)
    return loaded


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    for name in (QUERY, ARTICLE):
        (tmp_path / "medcpt" / name).mkdir(parents=True)
        (tmp_path / "medcpt" / name / "model.safetensors").write_bytes(name.encode())
    return tmp_path / "medcpt"


def test_articles_and_questions_are_read_by_different_models_and_the_product_ranks(loaded, weights, tmp_path):
    texts = {"often": "fever fever fever rash rash", "once": "fever", "never": "nothing of it"}
    sections = tuple(Section(name, "", text) for name, text in texts.items())
    library = Document("book", "general", "book", "combined", sections)
    search = library_search([library], SearchSettings(MEDCPT, 3, 5), medcpt_encoders(weights), tmp_path / "indexes")
    question = StressQuestion("q", "Why fever?", "A")
    found = search.with_signal(question, [Topic("fever", "")]).documents
    # A cosine would put "once" first: it points in the very direction of the question
    assert [document.document_id.partition("@")[0] for document in found] == ["book/often", "book/once"]
    assert loaded == [(ARTICLE, 512, "cls"), (QUERY, 64, "cls")]


def test_a_folder_without_one_of_the_models_is_said(weights):
    (weights / QUERY / "model.safetensors").unlink()
    with pytest.raises(EmbeddingError, match="contains neither"):
        medcpt_encoders(weights)


def test_a_build_searches_its_library_by_medcpt(loaded, weights, tmp_path, monkeypatch):
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "q.jsonl").write_text(
        '{"question_id": "q", "question": "Why fever?", "options": {"A": "x", "B": "y"}, "answer": "A"}\n'
    )
    (tmp_path / "lib.jsonl").write_text('{"id": "d", "text": "Nothing of it."}\n{"id": "f", "text": "Because of fever."}\n')
    options = ["--library", str(tmp_path / "lib.jsonl"), "--retriever", "medcpt", "--encoder", str(weights), "--signal", "5"]
    # 1: one question alone has no noise, so some contexts are left out
    assert main(["stress", "build", str(tmp_path / "q.jsonl"), "--out", str(tmp_path / "out"), *options]) == 1
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["retriever"] == MEDCPT
    assert {name for name, *_ in loaded} == {ARTICLE, QUERY}
    instances = map(json.loads, (tmp_path / "out" / "stress_instances.jsonl").read_text().splitlines())
    signal = {document["text"] for one in instances for document in one["documents"] if document["is_signal"]}
    assert signal == {"Because of fever."}


def test_a_build_names_the_retriever_that_it_cannot_have(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "q.jsonl").write_text('{"question_id": "q", "question": "Why?", "options": {"A": "x", "B": "y"}, "gold": "A"}\n')
    (tmp_path / "lib.jsonl").write_text('{"id": "d", "text": "Because of fever."}\n')
    options = ["--library", str(tmp_path / "lib.jsonl"), "--retriever", "medcpt", "--encoder", str(tmp_path / "none")]
    assert main(["stress", "build", str(tmp_path / "q.jsonl"), "--out", str(tmp_path / "out"), *options]) == 2
    assert not (tmp_path / "out").exists()
    assert "MedCPT-Query-Encoder" in capsys.readouterr().err
