"""What stands behind answers: sections, trials, passages that point into sections, and answers that could not be read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.metrics.coverage import coverage, gaps, profile
from audit.metrics.handbooks import handbooks
from audit.metrics.position_groups import position_groups
from audit.queries.pair_view import pair
from audit.release.write import write_jsonl
from audit.store.connection import open_store
from tests.release.test_formats import write_csv, write_gz, write_json, write_parquet, write_wrapped
from tests.support.loading import ask, load, messages, quarantined
from tests.support.tiny import release_from

Records = list[dict[str, Any]]
SECTIONS = [
    {"handbook_id": "a", "section_id": "s1", "heading": "Eating", "above": [], "text": "Wash fruit.", "pages": [4, 5]},
    {"handbook_id": "a", "section_id": "s2", "heading": "Salt", "above": ["Eating"], "text": "", "pages": [], "url": "https://x"},
    {"handbook_id": "b", "section_id": "s1", "heading": "", "above": [], "text": "Peel fruit.", "pages": [9]},
]
TRIALS = [
    {"question_id": "q1", "handbook_id": "a", "strategy": "bm25", "mode": "passages", "ranked": ["s2", "s1"], "gold": ["s1"],
     "reason": None, "seconds": 0.25},
    {"question_id": "q1", "handbook_id": "a", "strategy": "hero", "mode": "full_document_fallback", "ranked": [], "gold": [],
     "reason": "too little was found", "seconds": None},
]  # fmt: skip


def with_sources(release: Path, sections: Records = SECTIONS, trials: Records = TRIALS) -> Path:
    write_jsonl(release / "sections.jsonl", sections)
    write_jsonl(release / "trials.jsonl", trials)
    return release


def change_answer(release: Path, question_id: str, handbook_id: str, **fields: Any) -> None:
    records = [json.loads(line) for line in (release / "answers.jsonl").read_text().splitlines()]
    for record in records:
        if (record["question_id"], record["handbook_id"]) == (question_id, handbook_id):
            record.update(fields)
    write_jsonl(release / "answers.jsonl", records)


def test_sections_and_trials_are_kept_in_their_order(release: Path, tmp_path: Path) -> None:
    loaded = load(with_sources(release), tmp_path)
    assert ask(loaded, "select handbook, place, section_id, heading, above, text, pages, url from sections") == [
        (0, 0, "s1", "Eating", [], "Wash fruit.", [4, 5], None),
        (0, 1, "s2", "Salt", ["Eating"], "", [], "https://x"),
        (1, 2, "s1", "", [], "Peel fruit.", [9], None),
    ]
    assert ask(loaded, "select * from trials") == [
        (0, 0, "bm25", "passages", ["s2", "s1"], ["s1"], None, 0.25),
        (0, 0, "hero", "full_document_fallback", [], [], "too little was found", None),
    ]
    assert loaded.report
    assert (loaded.report.totals()["section"]["loaded"], loaded.report.totals()["trial"]["loaded"]) == (3, 2)


@pytest.mark.parametrize(
    ("written", "loaded_as"),
    [
        ([[4, 0], [5, 6]], [[4, 0], [5, 6]]),
        ("[[4, 0], [5, 6]]", [[4, 0], [5, 6]]),
        (None, []),
        ([4, 0], []),
        ([[4], [5, 6]], []),
        ("page 4", []),
    ],
)
def test_where_pages_begin_is_kept_and_a_section_is_not_lost_for_it(release: Path, tmp_path: Path, written, loaded_as) -> None:
    loaded = load(with_sources(release, [{**SECTIONS[0], "page_starts": written}], []), tmp_path)
    assert ask(loaded, "select section_id, page_starts from sections") == [("s1", loaded_as)]
    assert len(messages(loaded, "repaired")) == (not loaded_as and written is not None)


def test_a_handbook_keeps_the_digest_and_the_licence_of_its_file(release: Path, tmp_path: Path) -> None:
    books = [json.loads(line) for line in (release / "handbooks.jsonl").read_text().splitlines()]
    books[0] |= {"sha256": "ab12", "license": "CC BY 4.0", "may_be_downloaded": "yes"}
    write_jsonl(release / "handbooks.jsonl", books)
    loaded = load(release, tmp_path)
    files = "select digest, licence, may_be_downloaded from handbooks order by handbook limit 2"
    assert ask(loaded, files) == [("ab12", "CC BY 4.0", True), (None, None, False)]


def test_a_release_without_them_is_the_run_it_was_before(release: Path, tmp_path: Path) -> None:
    loaded = load(release, tmp_path)
    assert (ask(loaded, "select * from sections"), ask(loaded, "select * from trials")) == ([], [])
    assert loaded.report
    assert {line.kind for line in loaded.report.files} == {"handbook", "question", "answer", "pair"}


@pytest.mark.parametrize("write", [write_json, write_wrapped, write_gz, write_csv, write_parquet])
@pytest.mark.parametrize(("part", "records"), [("sections", SECTIONS), ("trials", TRIALS)])
def test_both_may_come_in_every_format(
    release: Path, tmp_path: Path, part: str, records: Records, write: Callable[[Path, Records], None]
) -> None:
    plain = load(with_sources(release), tmp_path / "plain")
    (release / f"{part}.jsonl").unlink()
    everywhere = {name: None for record in records for name in record}
    pages = [{"pages": list(map(str, record["pages"]))} if "pages" in record else {} for record in records]
    write(release / part, [everywhere | record | more for record, more in zip(records, pages, strict=True)])
    other = load(release, tmp_path / "other")
    assert not quarantined(other)
    assert ask(other, f"select * from {part}") == ask(plain, f"select * from {part}")


def test_what_belongs_to_no_handbook_or_question_and_what_stands_twice_is_quarantined(release: Path, tmp_path: Path) -> None:
    stray = {**SECTIONS[0], "handbook_id": "zz"}
    lost = {**TRIALS[0], "question_id": "q9"}
    loaded = load(with_sources(release, [*SECTIONS, stray, SECTIONS[0]], [*TRIALS, lost, TRIALS[0]]), tmp_path)
    assert quarantined(loaded) == [
        ("sections.jsonl", "line 4", "unknown_handbook"),
        ("sections.jsonl", "line 5", "duplicate_section"),
        ("trials.jsonl", "line 3", "unknown_question"),
        ("trials.jsonl", "line 4", "duplicate_trial"),
    ]


def test_a_section_without_a_text_field_is_quarantined_and_an_empty_text_is_not(release: Path, tmp_path: Path) -> None:
    loaded = load(with_sources(release, [{"handbook_id": "a", "section_id": "s1"}, SECTIONS[1]], []), tmp_path)
    assert quarantined(loaded) == [("sections.jsonl", "line 1", "missing_field")]


@pytest.mark.parametrize(
    ("passage", "code"),
    [
        ({"section_id": "s1", "start": 0, "end": 11}, None),
        ({"section_id": "s1", "start": 0, "end": 12}, "passage_outside"),
        ({"section_id": "s1", "start": 5, "end": 5}, "passage_outside"),
        ({"section_id": "s1", "start": "0", "end": 3}, "passage_outside"),
        ({"section_id": "s9", "start": 0, "end": 3}, "unknown_section"),
        ({"section_id": ["s1"], "start": 0, "end": 3}, "unknown_section"),
        ("s1", "unknown_section"),
    ],
)
def test_a_passage_that_points_nowhere_is_noted_and_its_answer_kept(
    release: Path, tmp_path: Path, passage: Any, code: str | None
) -> None:
    change_answer(release, "q1", "a", retrieval={"mode": "passages", "passages": [passage]})
    loaded = load(with_sources(release), tmp_path)
    assert loaded.report
    assert [finding.code for finding in loaded.report.findings if finding.file == "answers.jsonl"] == ([code] if code else [])
    assert not quarantined(loaded)


def test_passages_are_not_held_against_sections_that_nobody_brought(release: Path, tmp_path: Path) -> None:
    change_answer(release, "q1", "a", retrieval={"passages": [{"section_id": "s9", "start": 0, "end": 3}]})
    assert messages(load(release, tmp_path), "noted") == []


def test_a_trial_that_names_an_unknown_section_is_kept_and_noted(release: Path, tmp_path: Path) -> None:
    loaded = load(with_sources(release, trials=[{**TRIALS[0], "gold": ["s7"]}]), tmp_path)
    assert messages(loaded, "noted") == [
        "1 of its sections are not in sections, for example 's7'. The trial was loaded unchanged."
    ]


UNREAD = """
    q1 kidney  ab=UNSCORED!none:unread  ac=UNSCORED!none:unread  bc=CONSISTENT  d=absent
    q2 kidney  a=absent  b=absent  cd=CONSISTENT
"""


@pytest.fixture
def unread(tmp_path: Path) -> Path:
    """Handbook a gave an unreadable reply to q1, so its pairs are unscored."""
    release = release_from(tmp_path / "releases", UNREAD)
    change_answer(release, "q1", "a", answer=None, absent=None, absence_method=None, unread_reason="cut")
    return release


def test_an_answer_that_could_not_be_read_is_neither_absent_nor_present_nor_not_asked(unread: Path, tmp_path: Path) -> None:
    loaded = load(unread, tmp_path)
    assert not quarantined(loaded)
    with open_store(loaded.run.path) as con:
        told = pair(con, "q1", "a", "b")
        assert (told.a.state, told.a.unread_reason, told.a.answer, told.a.absence_method) == ("unread", "cut", None, None)
        assert (told.judgement.status, told.judgement.label) == ("unscored", None)
        states = position_groups(con, "q1").set_index("handbook_id")["state"]
        assert states.to_dict() == {"b": "answers", "c": "answers", "d": "not addressed", "a": "unread"}
        by_handbook = handbooks(con).set_index("handbook_id")
        assert by_handbook.loc["a", ["asked", "absent", "absence"]].tolist() == [1, 1, 1.0]
        assert coverage(con).set_index("handbook_id").loc["a", ["asked", "absent"]].tolist() == [1, 1]
        assert profile(con, "a")[["asked", "answered"]].to_numpy().tolist() == [[1, 0]]
        assert gaps(con, "d")["peers_asked"].tolist() == [2]


def test_false_for_absent_beside_a_reason_means_unread_too(unread: Path, tmp_path: Path) -> None:
    change_answer(unread, "q1", "a", absent=False)
    assert ask(load(unread, tmp_path), "select absent, unread_reason from answers where unread_reason is not null") == [
        (None, "cut")
    ]


def test_a_reason_beside_an_answer_that_was_read_is_dropped_and_said(unread: Path, tmp_path: Path) -> None:
    change_answer(unread, "q1", "a", answer="Wash it.")
    loaded = load(unread, tmp_path)
    assert messages(loaded, "repaired") == ["unread_reason 'cut' on an answer that was parsed. The answer was loaded without it."]
    assert ask(loaded, "select count(*) from answers where absent is null") == [(0,)]


def test_a_pair_called_prescreened_beside_an_unread_answer_counts_as_judged_and_is_noted(tmp_path: Path) -> None:
    release = release_from(tmp_path / "releases", "q1 kidney ab=ABSENT bc=CONSISTENT ac=CONSISTENT")
    change_answer(release, "q1", "a", answer=None, absent=None, unread_reason="cut")
    path = release / "comparisons" / "q1.json"
    record = json.loads(path.read_text())
    for told in record["pairs"][:1]:
        told.update(reasoning=None, judge_metadata=None)
    path.write_text(json.dumps(record))
    loaded = load(release, tmp_path)
    assert ask(loaded, "select prescreened from pairs where label = 'ABSENT'") == [(False,)]
    assert messages(loaded, "noted") == ["2 pairs have a label although an answer could not be parsed."]
