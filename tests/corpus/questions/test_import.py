"""Importing questions: what is read, what is left out with a sentence, and that every record is accounted for."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from audit.corpus.questions import Report, Taxonomy, import_questions, read_taxonomy
from audit.embedding.encoders import Encoder, words_encoder
from audit.errors import QuestionsError

TRAVEL = Taxonomy("own", ("heart", "lung"), {"travel": ("travel timing", "vaccines"), "diet": ("fluids",)})


def imported(folder: Path, text: str, name: str = "asked.csv", **options: object) -> tuple[Report, list[dict[str, object]]]:
    """The report and the questions written of a file that holds `text`."""
    (folder / name).write_text(text, encoding="utf-8")
    report = import_questions(folder / name, folder / "questions.jsonl", **options)
    return report, [json.loads(line) for line in report.out.read_text(encoding="utf-8").splitlines()]


def decide(report: Report, *words: str) -> None:
    """Fill the table of near-duplicates as a person would, row by row."""
    with report.decisions.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, word in zip(rows, words, strict=True):
        row["decision"] = word
    with report.decisions.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_a_table_and_json_lines_give_the_same_questions_under_any_of_the_release_s_names(tmp_path: Path) -> None:
    table = "qid,text,organ_type,topic,subtopic\nq1,May I fly?,heart,travel; diet,vaccines|fluids\n"
    tags = {"topics": ["travel", "diet"], "subtopics": ["vaccines", "fluids"]}
    lines = json.dumps({"id": "q1", "question": "May I fly?", "organ": "heart", **tags})
    (_, one), (_, other) = imported(tmp_path, table), imported(tmp_path, lines, "asked.jsonl")
    assert one == other
    assert one[0]["topics"] == ["travel", "diet"]


def test_an_id_is_made_from_the_text_where_there_is_none_and_stays_when_the_file_is_sorted_anew(tmp_path: Path) -> None:
    asked = ["May I fly?,lung", "May I swim?,lung", "May I fly?,heart"]
    _, one = imported(tmp_path, "question,organ\n" + "\n".join(asked))
    _, other = imported(tmp_path, "question,organ\n" + "\n".join(reversed(asked)))
    ids = [{(q["question"], q["organ"]): q["question_id"] for q in questions} for questions in (one, other)]
    assert ids[0] == ids[1]
    assert len(set(ids[0].values())) == 3


def test_every_record_is_written_dropped_or_told_and_what_is_told_is_not_lost(tmp_path: Path) -> None:
    lines = [
        '{"question_id": "q1", "question": "May I fly?", "organ": "lung"}',
        '{"question_id": "q1", "question": "May I swim?", "organ": "lung"}',
        '{"question_id": "q3", "organ": "lung"}',
        '{"question_id": "q4", "question": "May I',
        '{"question_id": "q5", "question": "May I run?"}',
        '["May I jump?"]',
    ]
    report, written = imported(tmp_path, "\n".join(lines), "asked.jsonl")
    assert (report.read, len(written), report.quarantined) == (6, 2, 4)
    told = {finding.position: finding for finding in report.findings}
    assert "'q1' stands already at line 1" in told["line 2"].message
    assert "May I swim?" in str(told["line 2"].record)
    assert "no field 'question'" in told["line 3"].message
    assert "looks truncated" in told["line 4"].message
    assert "taken as 'general'" in told["line 5"].message
    assert "must be an object" in told["line 6"].message
    assert not report.clean


def test_a_sound_file_is_clean(tmp_path: Path) -> None:
    report, _ = imported(tmp_path, "question_id,question,organ\na,May I fly?,lung\nb,What may I eat?,lung\n")
    assert report.clean
    assert not report.decisions.exists()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("asked.xlsx", b"x", "'.xlsx' is no format"),
        ("asked.csv", b"", "none is a question"),
        ("asked.csv", b"question|organ\nMay I fly?|lung\n", "it has: question|organ"),
        (
            "asked.csv",
            b"Frage,Thema\nDarf ich?,Reise\n",
            "no field 'question', the text of the question (text, question_text are",
        ),
        ("asked.csv", b"Frage,Thema\nDarf ich?,Reise\n", "understood too); it has: Frage, Thema."),
        ("asked.csv", b"question,organ\n,lung\n", "field 'question' is empty."),
        ("asked.csv", b"question,organ\nM\xe4y I fly?,lung\n", "not UTF-8"),
        ("asked.json", b'{"questions": [', "truncated"),
        ("missing.csv", None, "no such file"),
        ("asked.jsonl.gz", b"\x1f\x8b\x08", "cannot be read to its end"),
    ],
)
def test_a_file_that_holds_no_questions_is_told_in_a_sentence_and_nothing_is_written(
    tmp_path: Path, name: str, content: bytes | None, told: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(QuestionsError, match="Nothing was written") as error:
        import_questions(tmp_path / name, tmp_path / "questions.jsonl")
    assert told in str(error.value)
    assert not (tmp_path / "questions.jsonl").exists()


def test_the_file_that_is_read_is_never_written(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text('{"question": "May I fly?"}')
    with pytest.raises(QuestionsError, match="also the file that is read"):
        import_questions(tmp_path / "questions.jsonl", tmp_path / "questions.jsonl")


def test_tags_that_the_taxonomy_lacks_are_kept_and_told_with_the_nearest_word(tmp_path: Path) -> None:
    head = "question_id,question,organ,topics,subtopics\n"
    table = f"{head}q1,May I fly?,hart,travell,Travel-Timing\nq2,May I drink?,lung,diet,vaccines\nq3,Why?,lung,,\n"
    report, written = imported(tmp_path, table, taxonomy=TRAVEL)
    told = [finding.message for finding in report.findings]
    assert any("topic 'travell' is not in the taxonomy own. Did you mean 'travel'?" in one for one in told)
    assert any("organ 'hart'" in one and "'heart'" in one for one in told)
    assert any("'vaccines' belongs to 'travel'" in one for one in told)
    assert any("has no topic" in one for one in told)
    assert (written[0]["topics"], written[0]["subtopics"]) == (["travell"], ["travel timing"])


def test_the_transplant_taxonomy_has_the_published_shape_and_the_simulator_keeps_to_it() -> None:
    from audit.demo.policies import policies

    taxonomy = read_taxonomy("transplant")
    assert (len(taxonomy.topics), len(taxonomy.subtopics)) == (13, 43)
    assert {s for policy in policies() for s in policy.subtopics} == set(taxonomy.subtopics)


@pytest.mark.parametrize("text", ["topics = 3", "organs = ['a']", "[topics]\ntravel = 'timing'", "topics ="])
def test_what_is_no_taxonomy_is_told_in_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(QuestionsError, match="not a taxonomy that can be read"):
        read_taxonomy(tmp_path / "own.toml")


PAIRS = "question_id,question,organ\na,May I fly?,lung\nb,may I  FLY,lung\nc,What may I eat?,lung\n"


def test_exact_duplicates_are_listed_without_any_encoder_and_kept_until_somebody_decides(tmp_path: Path) -> None:
    report, written = imported(tmp_path, PAIRS)
    assert [(pair.key, pair.cosine) for pair in report.near] == [(("a", "b"), 1.0)]
    assert (len(written), report.undecided, report.clean) == (3, 1, False)


@pytest.mark.parametrize(("said", "kept"), [("drop_first", "bc"), ("drop_second", "ac"), ("keep_both", "abc")])
def test_the_next_call_obeys_what_was_decided(tmp_path: Path, said: str, kept: str) -> None:
    report, _ = imported(tmp_path, PAIRS)
    decide(report, said)
    report, written = imported(tmp_path, PAIRS)
    assert [question["question_id"] for question in written] == list(kept)
    assert (report.undecided, report.clean) == (0, True)
    assert report.read == len(written) + len(report.dropped)


def test_a_decision_holds_when_the_file_is_sorted_anew(tmp_path: Path) -> None:
    report, _ = imported(tmp_path, PAIRS)
    decide(report, "drop_first")
    head, a, b, c = PAIRS.splitlines()
    _, written = imported(tmp_path, "\n".join([head, b, c, a]))
    assert [question["question_id"] for question in written] == ["b", "c"]


def test_a_decision_whose_questions_were_reworded_is_told_kept_in_the_table_and_not_obeyed(tmp_path: Path) -> None:
    report, _ = imported(tmp_path, PAIRS)
    decide(report, "drop_first")
    report, written = imported(tmp_path, PAIRS.replace("may I  FLY", "May I hike?"))
    assert len(written) == 3
    assert [finding.code for finding in report.findings] == ["stray_decision"]
    assert "drop_first" in report.decisions.read_text(encoding="utf-8-sig")


def test_a_word_that_is_no_decision_is_told_and_the_pair_waits(tmp_path: Path) -> None:
    report, _ = imported(tmp_path, PAIRS)
    decide(report, "drop second")
    report, _ = imported(tmp_path, PAIRS)
    assert "Did you mean 'drop_second'?" in report.findings[0].message
    assert report.undecided == 1


def test_decisions_never_leave_a_group_without_a_question(tmp_path: Path) -> None:
    three = "question_id,question,organ\na,May I fly?,lung\nb,may I fly,lung\nc,MAY I FLY,lung\n"
    report, _ = imported(tmp_path, three)
    assert [pair.key for pair in report.near] == [("a", "b"), ("a", "c"), ("b", "c")]
    decide(report, "drop_first", "drop_second", "drop_first")  # a for b, c for a, b for c: a ring
    report, written = imported(tmp_path, three)
    assert [question["question_id"] for question in written] == ["b"]
    assert [finding.code for finding in report.findings] == ["ring_of_drops"]


def test_a_table_that_cannot_be_read_stops_the_import_and_stays_as_it_is(tmp_path: Path) -> None:
    report, _ = imported(tmp_path, PAIRS)
    before = report.out.read_bytes()
    report.decisions.write_text("question_a;question_b;decision\na;b;drop_first\n")
    with pytest.raises(QuestionsError, match="needs the columns"):
        imported(tmp_path, PAIRS)
    assert report.out.read_bytes() == before
    assert "drop_first" in report.decisions.read_text()


def vectors_of(*rows: tuple[float, float]) -> Encoder:
    return Encoder("by hand", "0", lambda texts, _: np.array(rows[: len(texts)], dtype=np.float32))


def test_near_duplicates_are_those_above_the_threshold_and_the_likest_come_first(tmp_path: Path) -> None:
    # by hand: a-b 0.96, a-c 0.8, b-c 0.96 * 0.8 + 0.28 * 0.6 = 0.936
    encoder = vectors_of((1.0, 0.0), (0.96, 0.28), (0.8, 0.6))
    table = "question_id,question,organ\na,One?,lung\nb,Two?,lung\nc,Three?,lung\n"
    report, _ = imported(tmp_path, table, encoder_of=lambda _: encoder)
    assert [(pair.key, pair.cosine) for pair in report.near] == [
        (("a", "b"), 0.96),
        (("b", "c"), 0.936),
    ]
    report, _ = imported(tmp_path, table, encoder_of=lambda _: encoder, threshold=0.95)
    assert [pair.key for pair in report.near] == [("a", "b")]


def test_words_alone_find_a_question_asked_twice_with_a_small_change(tmp_path: Path) -> None:
    table = (
        "question_id,question,organ\na,When can I travel abroad after my transplant?,lung\n"
        "b,When can I travel abroad after the transplant?,lung\nc,Which foods should I avoid?,lung\nd,May I keep a cat?,lung\n"
    )
    report, _ = imported(tmp_path, table, encoder_of=words_encoder)
    assert [pair.key for pair in report.near] == [("a", "b")]
    assert report.compared == "words"


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / "questions.decisions.csv", tmp_path / "questions.jsonl"]
    imported(tmp_path, PAIRS)
    first = [file.read_bytes() for file in files]
    imported(tmp_path, PAIRS)
    assert [file.read_bytes() for file in files] == first


def test_a_question_that_a_spreadsheet_would_run_is_made_safe_in_the_table_and_still_fits_its_decision(tmp_path: Path) -> None:
    table = 'question_id,question,organ\na,"=HYPERLINK(""x"") may I fly?",lung\nb,"=hyperlink(""x"") may I fly",lung\n'
    report, _ = imported(tmp_path, table)
    assert "'=HYPERLINK" in report.decisions.read_text(encoding="utf-8-sig")
    decide(report, "drop_second")
    report, written = imported(tmp_path, table)
    assert [question["question"] for question in written] == ['=HYPERLINK("x") may I fly?']
    assert report.clean


@pytest.mark.parametrize("between", [";", "\t"])
def test_a_table_of_a_spreadsheet_that_writes_decimal_commas_is_read_and_that_is_said(tmp_path: Path, between: str) -> None:
    table = '\ufeffquestion_id;question;organ\r\nq1;"May I fly, and\nhow far? ""Soon""?";heart\r\nq2;Когда?;heart\r\n'
    report, written = imported(tmp_path, table.replace(";", between))
    assert [each["question"] for each in written] == ['May I fly, and\nhow far? "Soon"?', "Когда?"]
    assert any("cells are apart by" in finding.message for finding in report.findings)
