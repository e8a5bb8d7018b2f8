"""Handbook: chosen by the link, with its own figures."""

from __future__ import annotations

import json

from pages._shared.explore import listed_subjects
from tests.pages.conftest import lists, words_on


def test_a_link_opens_the_handbook_it_names(run, open_page):
    at = open_page("handbook", handbook="d")
    assert at.selectbox(key="handbook").value == "d"
    # d was asked q1 and q2 and addresses neither; q1 is about the kidney, so only q2 counts.
    assert "does not address **100.0 %** of the 1 question that it should answer" in words_on(at)


def test_the_choice_is_written_into_the_address(run, open_page):
    at = open_page("handbook")
    at.selectbox(key="handbook").select("b").run()
    assert at.query_params["handbook"] == "b"


def test_an_unknown_handbook_is_ignored_with_a_warning(run, open_page):
    at = open_page("handbook", handbook="zzz")
    assert not at.exception
    assert "handbook = zzz" in words_on(at)


def test_gaps_are_questions_that_most_peers_answer_and_this_handbook_does_not_address(run, open_page):
    at = open_page("handbook", handbook="d")
    gaps = next(table.value for table in lists(at) if "share" in table.value)
    # q1 is about the kidney and d is about the lung, so that one is no gap.
    assert list(gaps["text"]) == ["What about q2?"]
    assert list(gaps["share"]) == [100.0]


def test_the_handbooks_with_which_it_disagrees_are_ranked_without_those_that_share_no_answer(run, open_page):
    at = open_page("handbook", handbook="a")
    others = next(table.value for table in lists(at) if "disagreeing" in table.value)
    assert list(others["disagreeing"]) == [2, 0]  # b in q1 and q2 (q3 is unscored); c in none of q1 and q3


def test_what_it_disagrees_with_another_handbook_about_is_said_the_gravest_first(run, open_page):
    at = open_page("handbook", handbook="a")
    others = next(table.value for table in lists(at) if "about" in table.value)
    assert list(others["about"]) == ["topic of ab", ""]
    assert listed_subjects(["raw fish", "salt", "alcohol", "masks", "pets"]) == "raw fish; salt; alcohol; 2 more"


def test_a_run_without_answers_is_shown_as_unknown_not_as_zero(data_dir, tmp_path, open_page):
    from tests.support.loading import BASE, load
    from tests.support.tiny import release_from

    folder = release_from(tmp_path / "releases", BASE)
    (folder / "answers.jsonl").unlink()
    load(folder, data_dir)
    for page in ("handbook", "coverage"):
        at = open_page(page)
        assert not at.exception
        assert "unknown" in words_on(at)


def test_what_could_not_be_read_of_the_handbook_is_said(data_dir, tmp_path, open_page):
    from tests.support.loading import load
    from tests.support.tiny import handbook, release_from

    handbooks = [
        handbook("a") | {"pages": 37, "silent_pages": 23, "unreadable": 0.04, "language": "es"},
        handbook("b") | {"pages": 12, "silent_pages": 0, "unreadable": 0.001, "language": "en"},
        handbook("c") | {"language": "en"},
    ]
    load(release_from(tmp_path, "q1 general ab=CONSISTENT ac=CONSISTENT bc=CONSISTENT", handbooks), data_dir)
    words = words_on(open_page("handbook", handbook="a"))
    assert "23 of 37 pages of this handbook are pictures without text: what they say is missing here." in words
    assert "**4.0 %** of the words of this handbook are not readable text." in words.replace("\N{NO-BREAK SPACE}", " ")
    assert "This handbook is in Spanish, most others in English." in words
    for name in "bc":
        words = words_on(open_page("handbook", handbook=name))
        assert not any(phrase in words for phrase in ("without text", "not readable", "most others in"))


def compared_within(tmp_path, data_dir, counts=None):
    """A run in which b disagrees with itself, no pair of c has a verdict, and nobody compared a and d."""
    from audit.release.write import write_jsonl
    from tests.metrics.test_within_handbook import CHEESE, COUNTS, FEVER
    from tests.support.loading import BASE, load
    from tests.support.tiny import release_from

    folder = release_from(tmp_path / "releases", BASE)
    write_jsonl(folder / "within_handbook.jsonl", [FEVER, CHEESE | {"divergence_topic": "cheese <b>soft</b> $x$"}])
    write_jsonl(folder / "within_handbook_counts.jsonl", counts or COUNTS)
    load(folder, data_dir)


def test_where_a_handbook_contradicts_itself_each_place_is_quoted_with_its_page(data_dir, tmp_path, open_page):
    compared_within(tmp_path, data_dir)
    at = open_page("handbook", handbook="b")
    words = words_on(at)
    assert not at.exception
    assert all(text in words for text in ("Call for 100.4 °F.", "Page 18", "Call above 101.4 °F.", "Page 40"))
    (address,) = [link.proto.query_string for link in at.get("page_link") if "Page 5" in link.proto.label]
    assert all(part in address for part in ("handbook=b", "section=s1", "start=0", "end=18", "pdf_page=5"))
    assert "3 compared (3 of them disagree), 4 in the same words, not compared, 5 without a verdict, 0 not asked about" in words


def test_a_handbook_that_was_not_compared_is_not_said_to_have_no_contradiction(data_dir, tmp_path, open_page):
    compared_within(tmp_path, data_dir)
    # Nobody compared a; of c no pair has a verdict
    for name in "ac":
        words = words_on(open_page("handbook", handbook=name))
        assert "Not checked: no model has compared passages of this handbook" in words
        assert "none differs" not in words


def test_a_handbook_that_a_model_compared_without_a_disagreement_is_said_to_have_none(data_dir, tmp_path, open_page):
    from tests.metrics.test_within_handbook import COUNTS

    compared_within(tmp_path, data_dir, [COUNTS[1] | {"compared": 7}])
    assert "7 pairs of passages compared: none differs." in words_on(open_page("handbook", handbook="c"))


def test_questions_that_could_not_be_answered_are_counted_apart_with_their_reason(data_dir, tmp_path, open_page):
    from tests.support.loading import load
    from tests.support.tiny import release_from

    folder = release_from(
        tmp_path, "q1 general ab=CONSISTENT ac=UNSCORED bc=UNSCORED\nq2 general ab=CONSISTENT ac=UNSCORED bc=UNSCORED"
    )
    path, reason = folder / "answers.jsonl", "the handbook is in Spanish, the questions in English: rules cannot read it"
    answers = [json.loads(line) for line in path.read_text().splitlines()]
    unread = {"answer": None, "absent": None, "absence_method": None, "unread_reason": reason}
    path.write_text("".join(json.dumps(each | (unread if each["handbook_id"] == "c" else {})) + "\n" for each in answers))
    load(folder, data_dir)
    words = words_on(open_page("handbook", handbook="c"))
    assert f"2 questions have neither an answer nor an absence here: {reason}." in words
    assert "does not address **–** of the 0 questions that it should answer" in words
    assert "neither an answer" not in words_on(open_page("handbook", handbook="a"))
