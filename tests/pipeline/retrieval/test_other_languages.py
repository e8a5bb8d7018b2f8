"""Search in languages other than English: words, chunks, entities and a library of handbooks."""

from __future__ import annotations

import pytest

from audit.pipeline.retrieval.across.entities import DictionaryRecogniser
from audit.pipeline.retrieval.across.library import build_library
from audit.pipeline.retrieval.across.sources import Source
from audit.pipeline.retrieval.bm25 import Bm25, stemmer_of, tokens
from audit.pipeline.retrieval.closest import ClosestPassages
from audit.pipeline.retrieval.index import build_index, split_into_chunks
from audit.pipeline.retrieval.retrievers import bm25_over_chunks, unexpanded_query
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.text.documents import Document, Section
from audit.text.language import NAMES

CHINESE = {
    "zuotai": "佐太是藏药中最重要的成分之一，用于治疗中风。",
    "fever": "移植后每天量体温两次。超过三十八度请致电诊所。",
    "alcohol": "服药期间不要喝酒。少量啤酒也不行。",
}
SPANISH = {
    "fever": "Mida su temperatura dos veces al día. Llame a la clínica si pasa de 38 grados.",
    "alcohol": "No beba alcohol mientras toma la medicina.",
    "fish": "No coma pescado crudo durante el primer año.",
}


def handbook(name: str, texts: dict[str, str], language: str) -> Document:
    sections = tuple(Section(section, "", text) for section, text in texts.items())
    return Document(name, "kidney", name, "post", sections, language=language)


def test_a_question_in_chinese_finds_the_passage_that_answers_it() -> None:
    passages = [
        "佐太是藏药中最重要的成分之一，用于治疗中风。",
        "移植后每天量体温两次，超过三十八度请致电诊所。",
        "服药期间不要喝酒。",
    ]
    index = Bm25.build([tokens(passage) for passage in passages])
    for question, best in (("藏药佐太的功效是什么", 0), ("体温多少度要打电话", 1), ("我可以喝酒吗", 2)):
        scores = index.scores(dict.fromkeys(tokens(question), 1.0))
        assert scores.argmax() == best, question
        assert scores[best] > 0


def test_a_chunk_of_chinese_has_as_many_letters_as_one_of_english_has_words() -> None:
    text = "移植后每天量体温两次。" * 100
    document = Document("h", "kidney", "H", "post", (Section("s1", "", text),))
    chunks = split_into_chunks(document, RetrievalSettings(chunk_words=160, overlap_words=40))
    assert len(chunks) == 9
    assert all(chunk.end - chunk.start <= 160 for chunk in chunks)
    assert chunks[-1].end == len(text)


@pytest.mark.parametrize(
    ("texts", "language", "question", "best"),
    [
        (CHINESE, "zh", "藏药佐太的功效是什么？", "zuotai"),
        (CHINESE, "zh", "我可以喝啤酒吗", "alcohol"),
        (SPANISH, "es", "¿Puedo comer pescado crudo?", "fish"),
        (SPANISH, "es", "¿Cuándo llamo a la clínica?", "fever"),
    ],
)
def test_a_library_of_another_language_is_searched(texts: dict[str, str], language: str, question: str, best: str) -> None:
    library = build_library([handbook("one", texts, language)], [Source("all", ("one",))], RetrievalSettings(chunk_words=40))
    hits = library.search(question)["all"]
    assert hits[0].chunk_id.section_id == best


@pytest.mark.parametrize(
    ("language", "question", "best"),
    [
        # infección, infecciones; Impfung, Impfungen; прививка, прививками: the endings of English join none of them
        ("es", "¿Hay infecciones contraindicadas?", "infection"),
        ("de", "Welche Impfungen sind verboten?", "vaccine"),
        ("ru", "прививками живыми", "vaccine"),
    ],
)
def test_words_are_compared_by_the_stems_of_the_language(language: str, question: str, best: str) -> None:
    texts = {
        "es": {"infection": "Una infección está contraindicada.", "other": "Hay que hay que llamar."},
        "de": {"vaccine": "Eine Impfung verbietet der Arzt.", "other": "Nimm die Tabletten morgens."},
        "ru": {"vaccine": "Живая прививка запрещена.", "other": "Позвоните в клинику."},
    }[language]
    index = build_index(handbook("one", texts, language), RetrievalSettings())
    row, *_ = bm25_over_chunks(index, unexpanded_query(question, language).weights)
    assert index.document.sections[index.chunks[row].section].section_id == best
    closest = ClosestPassages(handbook("one", texts, language))
    assert sum(map(closest.word_counts.document_frequency, closest.tokens(question))) > 0


def test_a_language_has_its_own_stemmer_where_the_library_has_one() -> None:
    stemmers = {code: stemmer_of(code) for code in NAMES}
    assert (stemmers["es"], stemmers["pl"], stemmers["zh"], stemmer_of(None)) == ("spanish", "polish", "", "english")
    assert len(set(stemmers.values()) - {"english", ""}) > 27
    assert all(len(tokens("transplantation", code)) == 1 for code in NAMES)
    assert tokens("medicinas Medicina", "es") == ["medicin"] * 2
    # Where a language has none, words stay as they are: the endings of English are not its own
    assert tokens("the transplants", "vi") == ["the", "transplants"]
    assert tokens("the transplants") == ["transplant"]


def test_closest_passages_of_a_chinese_handbook_are_whole_sentences() -> None:
    closest = ClosestPassages(handbook("one", CHINESE, "zh"))
    passage, *_ = closest.closest("体温超过多少度要打电话？", 1)
    assert passage.text == CHINESE["fever"]


def test_a_vocabulary_of_chinese_terms_is_found_inside_a_sentence() -> None:
    terms = DictionaryRecogniser({"drug": {"佐太": ["藏药佐太"]}, "disease": {"中风": []}})
    (entities,) = terms.recognise(["佐太是藏药中最重要的成分之一，用于治疗中风。"])
    assert [str(entity) for entity in entities] == ["disease: 中风", "drug: 佐太"]
