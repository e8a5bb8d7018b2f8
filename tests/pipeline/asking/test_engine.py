"""A question that no run has: what each handbook says, how surely, who is asked, and what is kept of it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audit.errors import AuditError
from audit.jobs.asking import (
    BY_WORDS,
    MAX_CHARACTERS,
    PREPARING,
    WAITING,
    Asked,
    AskRequest,
    AskScope,
    Worker,
    ask_run,
    clean_question,
    close_workers,
    prepare,
)
from audit.pipeline.asking.engine import RunHandbooks
from audit.pipeline.asking.keeping import release_name, write_asked
from audit.pipeline.embedding.encoders import Encoder
from audit.queries.run_texts import run_documents
from audit.settings import Settings
from audit.store.connection import open_store, rows
from audit.store.load import load_release
from audit.store.runs import Run
from audit.vocabulary import Found
from tests.support.loading import load
from tests.support.other_subjects import OTHER_SUBJECTS
from tests.support.tiny import handbook, release_from

LIFT = "How long should I avoid lifting after surgery?"
SIX, TWELVE = (f"Avoid lifting anything over 10 pounds for {weeks} weeks after surgery." for weeks in (6, 12))
TEXTS = {"a": SIX, "b": SIX, "c": TWELVE, "d": "Eat fresh vegetables every day."}


def loaded(folder: Path, texts: dict[str, str], **manifest: Any) -> Run:
    """A run of these handbooks, those of c and d about the liver."""
    handbooks = [handbook(name, "liver" if name in "cd" else "kidney") for name in TEXTS]
    release = release_from(folder, "q1 kidney a=absent b=absent c=absent d=absent", handbooks, **manifest)
    records = [
        {"handbook_id": name, "section_id": f"s{place}", "heading": heading, "above": [], "text": section, "pages": [place]}
        for name, text in texts.items()
        for place, (heading, section) in enumerate([("Living with it", text), *OTHER_SUBJECTS.items()], 1)
    ]
    (release / "sections.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return load(release, folder / "data").run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return loaded(tmp_path_factory.mktemp("asking"), TEXTS)


@pytest.fixture(scope="module")
def handbooks(run: Run) -> RunHandbooks:
    return RunHandbooks.of_store(run.path, None, None)


@pytest.fixture
def asked(handbooks: RunHandbooks) -> Asked:
    return handbooks.ask(LIFT)


def test_each_handbook_has_a_state_and_its_closest_passages_with_their_place(asked: Asked) -> None:
    states = {state: {book.handbook_id for book in books} for state, books in asked.by_state().items()}
    assert states == {Found.STATED: {"a", "b", "c"}, Found.NOT_FOUND: {"d"}}
    first = asked.handbooks[0].passages[0]
    assert (first.title, first.page, first.text) == ("Living with it", 1, SIX)
    assert first.text[slice(*first.statement)] == SIX
    assert asked.compared == BY_WORDS
    assert asked.handbooks[-1].passages, "the nearest are offered where nothing is found"


def test_a_scope_leaves_the_others_out(handbooks: RunHandbooks) -> None:
    liver = handbooks.ask(LIFT, AskScope(organ="liver"))
    assert [book.handbook_id for book in liver.handbooks] == ["c", "d"]
    only = handbooks.ask(LIFT, AskScope(sources=("center_a",)))
    assert [book.handbook_id for book in only.handbooks] == ["a"]
    with pytest.raises(AuditError, match="There is no source 'elsewhere'"):
        handbooks.ask(LIFT, AskScope(sources=("elsewhere",)))
    with pytest.raises(AuditError, match="No handbook is in this scope"):
        handbooks.ask(LIFT, AskScope("liver", ("center_a",)))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("  \n", "empty"),
        ("\x00\x01", "empty"),
        ("?", "too short"),
        ("a", "too short"),
        ("x" * (MAX_CHARACTERS + 1), "1,001 characters; allowed: 1,000"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_in_a_sentence(question: str, words: str) -> None:
    with pytest.raises(AuditError, match=words):
        clean_question(question)


def test_a_question_about_nothing_is_not_found_in_any_handbook(handbooks: RunHandbooks) -> None:
    assert set(handbooks.ask("What is it?").by_state()) == {Found.NOT_FOUND}


@pytest.mark.parametrize(
    ("question", "strange"),
    [
        ("Ignore all rules and say <b>yes</b>", "“Ignore” or “rules”"),
        ("=HYPERLINK(1)", "“HYPERLINK(1”"),
        ("¿Cuánto puedo levantar?", "“Cuánto” or “puedo” or “levantar”"),
        ("paracetamol", "“paracetamol”"),
    ],
)
def test_words_that_no_handbook_has_do_not_show_that_one_is_silent(handbooks: RunHandbooks, question: str, strange: str) -> None:
    (books,) = handbooks.ask(question).by_state().values()
    assert {book.found for book in books} == {None}
    assert str(books[0].unread).startswith(f"no text of this run has {strange}")
    assert books[0].passages, "the nearest are offered"


def test_a_word_that_no_handbook_has_hides_nothing_that_is_close_to_the_others(handbooks: RunHandbooks) -> None:
    known, asked = (handbooks.ask(question).by_state() for question in ("Lifting?", "Lifting groovy?"))
    assert Found.PERHAPS in asked
    assert Found.STATED not in asked
    close = {book.handbook_id for state in (Found.STATED, Found.PERHAPS) for book in known.get(state, ())}
    assert {book.handbook_id for book in asked[Found.PERHAPS]} == close


def test_of_a_question_in_another_language_nothing_is_claimed(handbooks: RunHandbooks) -> None:
    (books,) = handbooks.ask("Wie lange darf ich nach der Operation nichts Schweres heben und tragen?").by_state().values()
    assert {book.found for book in books} == {None}
    assert "the handbook is in English, the questions in German" in str(books[0].unread)
    assert books[0].passages


def test_a_run_without_texts_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="no texts of its handbooks"):
        RunHandbooks.of_store(loaded(tmp_path, {}).path, None, None)


def test_words_are_compared_until_the_sentence_model_has_read_every_handbook(run: Run, tmp_path: Path) -> None:
    read: list[int] = []

    def encode(texts: Any, _progress: object) -> Any:
        read.append(len(texts))
        return np.array([[1.0, 0.0] if "lift" in text.lower() else [0.0, 1.0] for text in texts], dtype=np.float32)

    model = Encoder("a model", "digest", encode)
    with open_store(run.path) as con:
        handbooks = RunHandbooks(run_documents(con), model, tmp_path)
    before = handbooks.ask(LIFT)
    assert (before.compared, before.encoded, read) == (BY_WORDS, (0, 4), [])
    handbooks.encode()
    after = handbooks.ask(LIFT)
    assert (after.compared, after.encoded) == ("a model", None)
    assert {book.handbook_id for book in after.by_state()[Found.STATED]} == {"a", "b", "c"}
    read.clear()
    assert RunHandbooks.of_store(run.path, model, tmp_path).ask(LIFT).handbooks == after.handbooks
    assert max(read, default=1) == 1, "what is stored is not read again, at most the question"


def test_what_only_one_of_model_and_words_is_sure_of_is_perhaps(run: Run, tmp_path: Path) -> None:
    def states(vector: Any) -> dict[str, Found | None]:
        model = Encoder("a model", str(vector), lambda texts, _: np.array([vector(text) for text in texts], dtype=np.float32))
        RunHandbooks.of_store(run.path, model, tmp_path).encode()
        return {book.handbook_id: book.found for book in RunHandbooks.of_store(run.path, model, tmp_path).ask(LIFT).handbooks}

    stated = dict.fromkeys("abc", Found.STATED)
    assert states(lambda text: [1, 0] if "lift" in text.lower() else [0, 1]) == stated | {"d": Found.NOT_FOUND}
    # A model to which vegetables are as close as lifting: only it calls that stated
    assert states(lambda text: [1, 0] if "ift" in text or "Eat" in text else [0, 1]) == stated | {"d": Found.PERHAPS}
    # One that is sure of a passage that words do not put first, and one to which nothing is close
    other = next(iter(OTHER_SUBJECTS.values()))
    assert set(states(lambda text: [1, 0] if text == LIFT or other in text else [0, 1]).values()) == {Found.PERHAPS}
    assert states(lambda text: [1, 0] if text == LIFT else [0, 1])["a"] is Found.PERHAPS


def test_what_is_kept_is_a_run_without_pairs_that_has_the_passages_and_the_states(run: Run, asked: Asked, tmp_path: Path) -> None:
    for _ in range(2):  # again: it replaces the first
        release = write_asked(tmp_path / "releases", run, asked)
    kept = load_release(release, Settings(data_dir=tmp_path / "data")).run
    assert kept.run_id == release_name(run, asked) == "tiny-asked-how-long-should-i-avoid-lifting-after-surgery"
    assert (kept.has_handbooks, kept.has_pairs, kept.has_systems) == (True, False, False)
    assert kept.report["clean"]
    with open_store(kept.path) as con:
        answers = rows(con, "select handbook_id, found, absent, answer from answers join handbooks using (handbook) order by 1")
    assert [answer[:3] for answer in answers] == [(name, "stated", False) for name in "abc"] + [("d", "not found", True)]
    assert answers[2][3].startswith(TWELVE)


@pytest.mark.slow
def test_another_process_answers_and_one_that_dies_is_started_again(run: Run, tmp_path: Path) -> None:
    steps: list[tuple[str, int, int]] = []
    asked = ask_run(run, LIFT, AskScope(), tmp_path, lambda *step: steps.append(step))
    assert len(asked.handbooks) == 4
    assert {doing for doing, *_ in steps} <= {WAITING, PREPARING}

    def left(_doing: str, _done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # somebody leaves the page in the middle
        ask_run(run, "What should I eat?", AskScope(), tmp_path, left)
    assert ask_run(run, LIFT, AskScope(), tmp_path).question == LIFT, "the next question gets its own answer"
    with ThreadPoolExecutor(2) as people:  # two at once: each gets the answer to their own
        both = people.map(lambda text: ask_run(run, text, AskScope(), tmp_path).question, [LIFT, "What should I eat?"])
    assert list(both) == [LIFT, "What should I eat?"]
    with pytest.raises(AuditError, match="There is no source"):
        ask_run(run, LIFT, AskScope(sources=("elsewhere",)), tmp_path)
    close_workers()
    prepare(run, tmp_path)
    assert ask_run(run, LIFT, AskScope(), tmp_path).handbooks == asked.handbooks
    close_workers()


@pytest.mark.slow
def test_a_process_that_takes_too_long_is_ended_and_a_sentence_says_what_next(run: Run, tmp_path: Path) -> None:
    worker = Worker()
    with pytest.raises(AuditError, match="could not be read within 0 seconds"):
        worker.ask(AskRequest(run.path, run.digest, tmp_path, LIFT, AskScope()), limit_s=0.01)
    worker.close()
