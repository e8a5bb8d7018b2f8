"""Importing questions: what is read, what is left out with a reason, and that every record is accounted for."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from audit.errors import QuestionsError
from audit.pipeline.corpus.questions.checks import TagTaxonomy, read_tag_taxonomy
from audit.pipeline.corpus.questions.importing import ImportReport, import_questions
from audit.pipeline.embedding.encoders import Encoder, words_encoder

TRAVEL = TagTaxonomy("own", ("heart", "lung"), {"travel": ("travel timing", "vaccines"), "diet": ("fluids",)})


def imported(
    folder: Path, text: str, name: str = "source.csv", **options: object
) -> tuple[ImportReport, list[dict[str, object]]]:
    """The report on a file with this text, and the questions written."""
    (folder / name).write_text(text, encoding="utf-8")
    report = import_questions(folder / name, folder / "questions.jsonl", **options)
    return report, [json.loads(line) for line in report.out.read_text(encoding="utf-8").splitlines()]


def decide(report: ImportReport, *decisions: str) -> None:
    """Fill the table of near-duplicates as a person would, row by row."""
    with report.decisions.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, decision in zip(rows, decisions, strict=True):
        row["decision"] = decision
    with report.decisions.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_csv_and_json_lines_give_the_same_questions_under_any_field_name_of_a_release(tmp_path: Path) -> None:
    table = "qid,text,organ_type,topic,subtopic\nq1,May I fly?,heart,travel; diet,vaccines|fluids\n"
    tags = {"topics": ["travel", "diet"], "subtopics": ["vaccines", "fluids"]}
    lines = json.dumps({"id": "q1", "question": "May I fly?", "organ": "heart", **tags})
    (_, from_csv), (_, from_lines) = imported(tmp_path, table), imported(tmp_path, lines, "source.jsonl")
    assert from_csv == from_lines
    assert from_csv[0]["topics"] == ["travel", "diet"]


def test_a_missing_id_is_made_from_the_text_and_survives_sorting_the_file(tmp_path: Path) -> None:
    rows = ["May I fly?,lung", "May I swim?,lung", "May I fly?,heart"]
    _, before = imported(tmp_path, "question,organ\n" + "\n".join(rows))
    _, after = imported(tmp_path, "question,organ\n" + "\n".join(reversed(rows)))
    ids = [{(q["question"], q["organ"]): q["question_id"] for q in questions} for questions in (before, after)]
    assert ids[0] == ids[1]
    assert len(set(ids[0].values())) == 3


def test_every_record_is_written_dropped_or_reported_with_its_text(tmp_path: Path) -> None:
    lines = [
        '{"question_id": "q1", "question": "May I fly?", "organ": "lung"}',
        '{"question_id": "q1", "question": "May I swim?", "organ": "lung"}',
        '{"question_id": "q3", "organ": "lung"}',
        '{"question_id": "q4", "question": "May I',
        '{"question_id": "q5", "question": "May I run?"}',
        '["May I jump?"]',
    ]
    report, written = imported(tmp_path, "\n".join(lines), "source.jsonl")
    assert (report.read, len(written), report.quarantined) == (6, 2, 4)
    findings = {finding.position: finding for finding in report.findings}
    assert "'q1' is already used at line 1" in findings["line 2"].message
    assert "May I swim?" in str(findings["line 2"].record)
    assert "no field 'question'" in findings["line 3"].message
    assert "looks truncated" in findings["line 4"].message
    assert "'general' was used" in findings["line 5"].message
    assert "must be an object" in findings["line 6"].message
    assert not report.clean


def test_a_valid_file_is_clean(tmp_path: Path) -> None:
    report, _ = imported(tmp_path, "question_id,question,organ\na,May I fly?,lung\nb,What may I eat?,lung\n")
    assert report.clean
    assert not report.decisions.exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("source.xlsx", b"x", "questions cannot be read from '.xlsx' files"),
        ("source.csv", b"", "it is empty"),
        ("source.csv", b"question|organ\nMay I fly?|lung\n", "it has: question|organ"),
        (
            "source.csv",
            b"Frage,Thema\nDarf ich?,Reise\n",
            "no field 'question', the text of the question (text, question_text are",
        ),
        ("source.csv", b"Frage,Thema\nDarf ich?,Reise\n", "understood too); it has: Frage, Thema."),
        ("source.csv", b"question,organ\n,lung\n", "field 'question' is empty."),
        ("source.csv", b"question,organ\nM\xe4y I fly?,lung\n", "not UTF-8"),
        ("source.csv", b"question,Question \nMay I fly?,May I swim?\n", "columns 'question' and 'Question' have the same name"),
        ("source.csv", b"question,text\nMay I fly?,May I swim?\n", "'question' and 'text' are both the field 'question'"),
        ("source.csv", b"question,organ\nMay I fly?\n", "row 2: it has 1 cells, and the first row names 2 columns"),
        ("source.json", b'{"questions": [', "truncated"),
        ("missing.csv", None, "no such file"),
        ("source.jsonl.gz", b"\x1f\x8b\x08", "cannot be read to its end"),
    ],
)
def test_a_file_without_questions_is_reported_in_a_sentence_and_nothing_is_written(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(QuestionsError, match="Nothing was written") as error:
        import_questions(tmp_path / name, tmp_path / "questions.jsonl")
    assert message in str(error.value)
    assert not (tmp_path / "questions.jsonl").exists()


def test_the_file_that_is_read_is_never_written(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text('{"question": "May I fly?"}')
    with pytest.raises(QuestionsError, match="also the file that is read"):
        import_questions(tmp_path / "questions.jsonl", tmp_path / "questions.jsonl")


def test_tags_outside_the_taxonomy_are_kept_and_reported_with_the_nearest_term(tmp_path: Path) -> None:
    head = "question_id,question,organ,topics,subtopics\n"
    table = f"{head}q1,May I fly?,hart,travell,Travel-Timing\nq2,May I drink?,lung,diet,vaccines\nq3,Why?,lung,,\n"
    report, written = imported(tmp_path, table, taxonomy=TRAVEL)
    messages = "\n".join(finding.message for finding in report.findings)
    assert "topic 'travell' is not in the taxonomy own. Did you mean 'travel'?" in messages
    assert "organ 'hart' is not in the taxonomy own. Did you mean 'heart'?" in messages
    assert "'vaccines' belongs to 'travel'" in messages
    assert "has no topic" in messages
    assert (written[0]["topics"], written[0]["subtopics"]) == (["travell"], ["travel timing"])


def test_the_transplant_taxonomy_has_the_published_shape_and_the_simulator_uses_it() -> None:
    from tests.simulator.policies import policies

    taxonomy = read_tag_taxonomy("transplant")
    assert (len(taxonomy.topics), len(taxonomy.subtopics)) == (13, 43)
    assert {s for policy in policies() for s in policy.subtopics} == set(taxonomy.subtopics)


@pytest.mark.parametrize("text", ["topics = 3", "organs = ['a']", "[topics]\ntravel = 'timing'", "topics ="])
def test_a_file_that_is_not_a_taxonomy_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(QuestionsError, match="not a readable taxonomy"):
        read_tag_taxonomy(tmp_path / "own.toml")


PAIRS = "question_id,question,organ\na,May I fly?,lung\nb,may I  FLY,lung\nc,What may I eat?,lung\n"


def test_exact_duplicates_are_listed_without_an_encoder_and_kept_until_a_decision(tmp_path: Path) -> None:
    report, written = imported(tmp_path, PAIRS)
    assert [(pair.key, pair.cosine) for pair in report.near_duplicates] == [(("a", "b"), 1.0)]
    assert (len(written), report.undecided, report.clean) == (3, 1, False)


@pytest.mark.parametrize(("decision", "kept"), [("drop_first", "bc"), ("drop_second", "ac"), ("keep_both", "abc")])
def test_the_next_import_carries_out_the_decisions(tmp_path: Path, decision: str, kept: str) -> None:
    report, _ = imported(tmp_path, PAIRS)
    decide(report, decision)
    report, written = imported(tmp_path, PAIRS)
    assert [question["question_id"] for question in written] == list(kept)
    assert (report.undecided, report.clean) == (0, True)
    assert report.read == len(written) + len(report.dropped)


def test_a_decision_survives_sorting_the_file(tmp_path: Path) -> None:
    report, _ = imported(tmp_path, PAIRS)
    decide(report, "drop_first")
    head, a, b, c = PAIRS.splitlines()
    _, written = imported(tmp_path, "\n".join([head, b, c, a]))
    assert [question["question_id"] for question in written] == ["b", "c"]


def test_a_decision_on_questions_reworded_since_is_reported_kept_and_ignored(tmp_path: Path) -> None:
    report, _ = imported(tmp_path, PAIRS)
    decide(report, "drop_first")
    report, written = imported(tmp_path, PAIRS.replace("may I  FLY", "May I hike?"))
    assert len(written) == 3
    assert [finding.code for finding in report.findings] == ["stray_decision"]
    assert "drop_first" in report.decisions.read_text(encoding="utf-8-sig")


def test_an_unknown_decision_is_reported_and_the_pair_stays_undecided(tmp_path: Path) -> None:
    report, _ = imported(tmp_path, PAIRS)
    decide(report, "drop second")
    report, _ = imported(tmp_path, PAIRS)
    assert "Did you mean 'drop_second'?" in report.findings[0].message
    assert report.undecided == 1


def test_decisions_never_leave_a_group_without_a_question(tmp_path: Path) -> None:
    table = "question_id,question,organ\na,May I fly?,lung\nb,may I fly,lung\nc,MAY I FLY,lung\n"
    report, _ = imported(tmp_path, table)
    assert [pair.key for pair in report.near_duplicates] == [("a", "b"), ("a", "c"), ("b", "c")]
    decide(report, "drop_first", "drop_second", "drop_first")  # a for b, c for a, b for c: a ring
    report, written = imported(tmp_path, table)
    assert [question["question_id"] for question in written] == ["b"]
    assert [finding.code for finding in report.findings] == ["ring_of_drops"]


def test_a_table_of_decisions_that_cannot_be_read_stops_the_import_and_stays_unchanged(tmp_path: Path) -> None:
    report, _ = imported(tmp_path, PAIRS)
    before = report.out.read_bytes()
    report.decisions.write_text("question_a;question_b;decision\na;b;drop_first\n")
    with pytest.raises(QuestionsError, match="needs the columns"):
        imported(tmp_path, PAIRS)
    assert report.out.read_bytes() == before
    assert "drop_first" in report.decisions.read_text()


def vectors_of(*rows: tuple[float, float]) -> Encoder:
    return Encoder("by hand", "0", lambda texts, _: np.array(rows[: len(texts)], dtype=np.float32))


def test_near_duplicates_are_above_the_threshold_and_the_most_similar_come_first(tmp_path: Path) -> None:
    # by hand: a-b 0.96, a-c 0.8, b-c 0.96 * 0.8 + 0.28 * 0.6 = 0.936
    encoder = vectors_of((1.0, 0.0), (0.96, 0.28), (0.8, 0.6))
    table = "question_id,question,organ\na,One?,lung\nb,Two?,lung\nc,Three?,lung\n"
    report, _ = imported(tmp_path, table, encoder_of=lambda _: encoder)
    assert [(pair.key, pair.cosine) for pair in report.near_duplicates] == [
        (("a", "b"), 0.96),
        (("b", "c"), 0.936),
    ]
    report, _ = imported(tmp_path, table, encoder_of=lambda _: encoder, threshold=0.95)
    assert [pair.key for pair in report.near_duplicates] == [("a", "b")]


def test_the_words_encoder_finds_a_question_repeated_with_a_small_change(tmp_path: Path) -> None:
    table = (
        "question_id,question,organ\na,When can I travel abroad after my transplant?,lung\n"
        "b,When can I travel abroad after the transplant?,lung\nc,Which foods should I avoid?,lung\nd,May I keep a cat?,lung\n"
    )
    report, _ = imported(tmp_path, table, encoder_of=words_encoder)
    assert [pair.key for pair in report.near_duplicates] == [("a", "b")]
    assert report.encoder == "words"


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / "questions.decisions.csv", tmp_path / "questions.jsonl"]
    imported(tmp_path, PAIRS)
    first = [file.read_bytes() for file in files]
    imported(tmp_path, PAIRS)
    assert [file.read_bytes() for file in files] == first


def test_a_question_that_a_spreadsheet_would_run_is_made_safe_and_still_matches_its_decision(tmp_path: Path) -> None:
    table = 'question_id,question,organ\na,"=HYPERLINK(""x"") may I fly?",lung\nb,"=hyperlink(""x"") may I fly",lung\n'
    report, _ = imported(tmp_path, table)
    assert "'=HYPERLINK" in report.decisions.read_text(encoding="utf-8-sig")
    decide(report, "drop_second")
    report, written = imported(tmp_path, table)
    assert [question["question"] for question in written] == ['=HYPERLINK("x") may I fly?']
    assert report.clean


@pytest.mark.parametrize(("delimiter", "above"), [(";", ""), ("\t", ""), (";", "sep=;\r\n"), (",", "sep=,\n")])
def test_a_table_from_a_spreadsheet_of_any_country_is_read_without_a_finding(tmp_path: Path, delimiter: str, above: str) -> None:
    table = 'question_id;question;organ\r\nq1;"May I fly, and\nhow far; ""Soon""?";heart\r\nq2;Когда?;heart\r\n;;\r\n'
    separated = table.replace(";", delimiter).replace(f"far{delimiter}", "far;")
    report, written = imported(tmp_path, f"\ufeff{above}{separated}")
    assert [question["question"] for question in written] == ['May I fly, and\nhow far; "Soon"?', "Когда?"]
    assert report.clean
