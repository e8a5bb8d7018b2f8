"""`audit retrieve`: files for the next stage, trials, and no handbook searched twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit.cli.main import main
from audit.pipeline.embedding.encoders import Encoder, words_encoder
from audit.pipeline.retrieval.retrievers import Reranker
from audit.release.taxonomy import LEXICAL
from audit.text.documents import Document, Section, write_document
from tests.pipeline.retrieval.handbooks import ALDER

QUESTIONS = [
    {"question_id": "q1", "question": "When may I fly?", "organ": "kidney"},
    {"question_id": "q2", "question": "Is raw fish safe?", "organ": "general"},
    {"question_id": "q3", "question": "When may I lift?", "organ": "heart"},
]


def _read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _write_lines(path: Path, records: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "documents").mkdir()
    write_document(ALDER, tmp_path / "documents" / "alder.json")
    gold = [
        {"question_id": "q1", "handbook_id": ALDER.handbook_id, "gold": ["s2"]},
        {"question_id": "q2", "gold_sections": {"a": ["s5"]}},
    ]
    return [
        "retrieve", str(tmp_path / "documents"), "--questions", _write_lines(tmp_path / "questions.jsonl", QUESTIONS),
        "--gold", _write_lines(tmp_path / "gold.jsonl", gold), "--out", str(tmp_path / "out"),
        "--encoder", "words", "--strategy", "hero", "bm25", "--whole-characters", "0",
    ]  # fmt: skip


def test_questions_of_another_organ_are_not_put_to_a_handbook(command: list[str], tmp_path: Path) -> None:
    assert main(command) == 0
    retrievals = _read_lines(tmp_path / "out" / "kidney_alder_post.jsonl")
    assert [record["question_id"] for record in retrievals] == ["q1", "q2"]
    assert retrievals[0]["retrieval"]["passages"][0]["section_id"] == "s2"


def test_trials_have_each_strategys_ranking_and_the_gold_sections(command: list[str], tmp_path: Path) -> None:
    main(command)
    trials = _read_lines(tmp_path / "out" / "trials.jsonl")
    assert [(trial["question_id"], trial["strategy"], trial["ranked"][0], trial["gold"]) for trial in trials] == [
        ("q1", "hero", "s2", ["s2"]), ("q1", "bm25", "s2", ["s2"]), ("q2", "hero", "s5", ["s5"]), ("q2", "bm25", "s5", ["s5"]),
    ]  # fmt: skip


def test_a_handbook_searched_before_is_not_searched_again(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(command)
    before = (tmp_path / "out" / "kidney_alder_post.jsonl").stat().st_mtime_ns
    main(command)
    assert "1; 1 of them were searched before" in capsys.readouterr().out
    assert (tmp_path / "out" / "kidney_alder_post.jsonl").stat().st_mtime_ns == before
    main([*command, "--passages", "1"])
    assert len(_read_lines(tmp_path / "out" / "kidney_alder_post.jsonl")[0]["retrieval"]["passages"]) == 1


def test_another_fusion_searches_again(command: list[str], tmp_path: Path) -> None:
    main(command)
    by_scores = _read_lines(tmp_path / "out" / "kidney_alder_post.jsonl")[0]["retrieval"]["passages"][0]["score"]
    main([*command, "--fusion", "ranks"])
    by_ranks = _read_lines(tmp_path / "out" / "kidney_alder_post.jsonl")[0]["retrieval"]["passages"][0]["score"]
    assert by_ranks == pytest.approx(2 / 61) != by_scores, "first in all three retrievers by words, two of which count half"
    main([*command, "--fusion", "ranks", "--headings-weight", "1"])
    weighted = _read_lines(tmp_path / "out" / "kidney_alder_post.jsonl")[0]["retrieval"]["passages"][0]["score"]
    assert weighted == pytest.approx(2.5 / 61)


def test_a_strategy_named_in_an_option_of_its_own_is_added(command: list[str], tmp_path: Path) -> None:
    assert main([*command, "--strategy", "hero", "--strategy", "bm25"]) == 0
    trials = _read_lines(tmp_path / "out" / "trials.jsonl")
    assert {trial["strategy"] for trial in trials} == {"hero", "bm25"}


def test_the_preset_of_the_paper_sets_what_is_not_given(command: list[str], tmp_path: Path) -> None:
    start = command[: command.index("--encoder")]
    given = ["--encoder", LEXICAL, "--reranker", "none"]
    assert main([*start, *given, "--preset", "paper", "--whole-characters", "0", "--passages", "1"]) == 0
    passages = _read_lines(tmp_path / "out" / "kidney_alder_post.jsonl")[0]["retrieval"]["passages"]
    assert [passage["origin"] for passage in passages] == ["parent", "neighbour", "neighbour"], "the sections beside the best"
    assert passages[0]["score"] == pytest.approx(2 / 61), "by ranks"
    assert main([*start, *given, "--preset", "paper", "--whole-characters", "0", "--neighbour-sections", "0"]) == 0
    again = _read_lines(tmp_path / "out" / "kidney_alder_post.jsonl")[0]["retrieval"]["passages"]
    assert {passage["origin"] for passage in again} == {"parent"}, "an option of one's own changes the preset"


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the sentence models that a search asked for; each is a stand-in that knows words."""
    names: list[str] = []

    def stand_in(name: str, *_: object) -> Encoder:
        names.append(name)
        return words_encoder([section.text for section in ALDER.sections])

    monkeypatch.setattr("audit.pipeline.stages.retrieve.loaded_encoder", stand_in)
    return names


def _with_model(command: list[str], *options: str) -> list[str]:
    start = command[: command.index("--encoder")]
    gold = start.index("--gold")
    return [*start[:gold], *start[gold + 2 :], "--encoder", "some-model", *options]


def test_for_short_handbooks_the_sentence_model_is_not_loaded_and_a_sentence_says_so(
    command: list[str], loaded: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):  # also where the search was done before
        assert main(_with_model(command, "--strategy", "hero")) == 0
        assert "Short handbooks are used in full; the sentence model was not needed" in capsys.readouterr().err
    assert loaded == []


@pytest.mark.parametrize("options", [["--strategy", "hero", "--whole-characters", "0"], ["--strategy", "hero", "dense"], []])
def test_where_vectors_are_compared_the_sentence_model_is_loaded(
    command: list[str], loaded: list[str], capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    assert main(_with_model(command, *options)) == 0
    assert "not needed" not in capsys.readouterr().err
    assert loaded == ["some-model"]


def test_the_closest_passages_are_found_unless_another_strategy_or_preset_is_named(command: list[str], tmp_path: Path) -> None:
    start = command[: command.index("--strategy")]
    assert main(start) == 0
    record = _read_lines(tmp_path / "out" / "kidney_alder_post.jsonl")[0]["retrieval"]
    assert (record["strategy"], record["encoder"], record["mode"]) == ("closest", "words", "passages")
    passage, (layer,) = record["passages"][0], record["layers"]
    assert (passage["section_id"], passage["text"]) == ("s2", ALDER.sections[1].text)
    assert passage["retrievers"]["closest"]["score"] > passage["score"], "before what is usual in the handbook is taken off"
    assert (layer["layer"], layer["top"][0]["score"]) == ("closest", passage["score"])
    assert main([*start, "--preset", "paper", "--reranker", "none"]) == 0
    assert _read_lines(tmp_path / "out" / "kidney_alder_post.jsonl")[0]["retrieval"]["strategy"] == "hero"


def test_settings_that_contradict_each_other_are_refused(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--overlap-words", "200"]) == 2
    assert "chunks of 160 words cannot share 200 words" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "gold.jsonl has no gold sections for these handbooks"),
        ([{"question_id": "q1", "gold_sections": {"elsewhere": ["s99"]}}], "names that are neither a handbook nor a center: 1"),
        ([{"question_id": "q9", "handbook_id": ALDER.handbook_id, "gold": ["s2"]}], "questions outside the question list: 1"),
    ],
)
def test_gold_that_cannot_be_used_is_reported_and_affects_no_passage(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: list[dict[str, Any]], message: str
) -> None:
    _write_lines(tmp_path / "gold.jsonl", lines)
    assert main(command) == 0
    assert message in capsys.readouterr().err
    assert {trial["question_id"] for trial in _read_lines(tmp_path / "out" / "trials.jsonl")} == {"q1", "q2"}


def test_settings_of_hybrid_are_given_by_name(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = command.index("--strategy")
    alone = [*command[:at], "--strategy", "hybrid", *command[at + 3 :]]
    hybrid = [*alone, "--hybrid", "final_k=2", "mmr_lambda=0.9", "leave_out=expansion,mmr"]
    assert main(hybrid) == 0
    (fly, _) = _read_lines(tmp_path / "out" / "kidney_alder_post.jsonl")
    assert fly["retrieval"]["strategy"] == "hybrid"
    assert fly["retrieval"]["queries"] == ["When may I fly?"]
    assert fly["retrieval"]["layers"][-1] == {"layer": "mmr", "skipped": "left out"}
    for wrong, sentence in (
        ("final=2", "hybrid has no 'final'. Did you mean 'final_k'? Allowed: chunk_tokens"),
        ("final_k=two", "final_k must be a number, not 'two'"),
        ("final_k=0", "final_k must be at least 1, not 0"),
    ):
        assert main([*command, "--hybrid", wrong]) == 2
        assert sentence in capsys.readouterr().err


def test_rankings_and_known_sections_are_written_as_trec_files(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ir_measures", reason="ir_measures is not installed (extra pipeline)")
    assert main([*command, "--trec", str(tmp_path / "trec"), "--json"]) == 0
    measures = json.loads(capsys.readouterr().out)["measures"]
    assert measures["bm25"] == {"P@5": 1 / 5, "recall@5": 1, "nDCG": 1, "MRR": 1}
    assert (tmp_path / "trec" / "qrels").read_text() == "q1/kidney_alder_post 0 s2 1\nq2/kidney_alder_post 0 s5 1\n"
    assert (tmp_path / "trec" / "hero.run").read_text().startswith("q1/kidney_alder_post Q0 s2 1 1.000000 hero\n")


def test_trec_files_without_known_sections_are_refused(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = command.index("--gold")
    assert main([*command[:at], *command[at + 2 :], "--trec", str(tmp_path / "trec")]) == 2
    assert "--trec writes known sections too, so it needs --gold. Nothing was retrieved." in capsys.readouterr().err


# -- one corpus, and configurations compared ----------------------------------------------------------------------------

FLIGHTS = ("You may fly six weeks after surgery.", "Ask your team before you fly.", "Fly with your medicines in the cabin.")
OTHER = ("Wash raw fruit.", "Bring your card.", "Park behind the clinic.")


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two handbooks: all three passages on flying are in the first."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "documents").mkdir()
    for name, texts in (("a", FLIGHTS), ("b", OTHER)):
        sections = tuple(Section(f"s{number}", "", text) for number, text in enumerate(texts, 1))
        write_document(
            Document(f"general_{name}_all", "general", name, "combined", sections), tmp_path / "documents" / f"{name}.json"
        )
    questions = [{"question_id": "q1", "question": "When may I fly?", "organ": "general"}]
    gold = [{"question_id": "q1", "handbook_id": "general_a_all", "gold": ["s1"]}]
    return [
        "retrieve", str(tmp_path / "documents"), "--questions", _write_lines(tmp_path / "questions.jsonl", questions),
        "--gold", _write_lines(tmp_path / "gold.jsonl", gold), "--out", str(tmp_path / "out"), "--encoder", "words",
    ]  # fmt: skip


@pytest.mark.parametrize("strategy", ["hybrid", "hero", "bm25"])
def test_the_best_passages_of_a_corpus_may_be_of_one_handbook(corpus: list[str], tmp_path: Path, strategy: str) -> None:
    assert main([*corpus, "--unit", "corpus", "--strategy", strategy]) == 0
    (found,) = _read_lines(tmp_path / "out" / "corpus.jsonl")
    best = found["passages"][:3]
    assert {passage["handbook_id"] for passage in best} == {"general_a_all"}
    assert sorted(passage["section_id"] for passage in best) == ["s1", "s2", "s3"]


def test_precision_counts_passages_and_the_rest_what_is_relevant_once(
    corpus: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """All three passages are of the document that answers: P@3 is 3 of 3, by section 1 of 3; recall of one document is 1."""
    by = {}
    for relevant in ("document", "section"):
        arguments = [*corpus, "--unit", "corpus", "--strategy", "bm25", "--passages", "3", "--relevant", relevant, "--json"]
        assert main(arguments) == 0
        (by[relevant],) = json.loads(capsys.readouterr().out)["measures"]
    assert (by["document"]["precision"], by["document"]["recall"], by["document"]["mrr"]) == (1, 1, 1)
    assert by["section"]["precision"] == pytest.approx(1 / 3)
    assert by["section"]["recall"] == 1


def test_each_layer_is_left_out_and_compared_with_all_of_them(
    corpus: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [*corpus, "--ablate", "--unit", "corpus", "--strategy", "hybrid", "--trec", str(tmp_path / "trec"), "--json"]
    assert main(arguments) == 0
    rows = json.loads(capsys.readouterr().out)["measures"]
    by_comparison = {
        name: [row["configuration"] for row in rows if row["comparison"] == name] for name in ("components", "passages")
    }
    assert by_comparison == {
        "components": ["hybrid, full", "without expansion", "without reranking", "without MMR", "BM25 alone"],
        "passages": ["5 passages", "1 passage", "3 passages", "10 passages"],
    }
    trials = _read_lines(tmp_path / "out" / "search_trials.jsonl")
    assert {trial["gold"][0] for trial in trials} == {"general_a_all/s1"}
    assert next(row for row in rows if row["configuration"] == "1 passage")["passages"] == 1
    assert (tmp_path / "trec" / "components" / "hybrid_full.run").is_file()
    assert (tmp_path / "trec" / "qrels").read_text().split()[2] == "general_a_all/s1"


def test_each_sentence_model_is_combined_with_each_reranker_and_with_none(
    corpus: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stand-ins for models: one compares words, and one prefers the shortest passage."""
    command = "audit.pipeline.cli.retrieval_comparison"
    monkeypatch.setattr(f"{command}._KEPT", {})
    monkeypatch.setattr(f"{command}.loaded_encoder", lambda *_: words_encoder([*FLIGHTS, *OTHER]))
    monkeypatch.setattr(f"{command}.cross_encoder", lambda name: Reranker(name, lambda pairs: [-len(text) for _, text in pairs]))
    models = ["--encoder", "acme/sentences", "words", "--reranker", "none", "acme/cross"]
    assert main([*corpus[:-2], *models, "--ablate", "--unit", "corpus", "--strategy", "hybrid", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    names = [row["configuration"] for row in result["measures"] if row["comparison"] == "models"]
    ways = ["reranked by the question's terms", "acme/cross", "not reranked"]
    assert names == [f"{encoder}, {way}" for encoder in ("acme/sentences", "words") for way in ways]
    assert {row["configuration"] for row in result["changes"] if row["comparison"] == "models"} == set(names[1:])
    assert main([*corpus[:-2], *models, "--ablate", "--unit", "corpus", "--strategy", "hybrid"]) == 0
    printed = capsys.readouterr().out.partition("Sentence model and reranker")[2].splitlines()
    # One below the other, however long the names are
    assert len({line.index("[") for line in printed if line.startswith("acme/")}) == 1
    assert "nan" not in "".join(printed)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--unit", "corpus"], "Strategy 'closest' is about what is usual in one handbook"),
        (["--strategy", "bm25", "--encoder", "words", "acme/other"], "Several --encoder are compared by --ablate only."),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(corpus: list[str], more: list[str], sentence: str, capsys) -> None:
    assert main([*corpus, *more]) == 2
    assert sentence in capsys.readouterr().err


def test_without_known_sections_nothing_is_compared(corpus: list[str], tmp_path: Path, capsys) -> None:
    (tmp_path / "gold.jsonl").write_text("")
    assert main([*corpus, "--ablate", "--strategy", "bm25"]) == 2
    assert "No question has a known section in these handbooks" in capsys.readouterr().err
    cut = corpus.index("--gold")
    assert main([*corpus[:cut], *corpus[cut + 2 :], "--ablate", "--strategy", "bm25"]) == 2
    assert "--ablate compares what finds known sections, so it needs --gold." in capsys.readouterr().err
