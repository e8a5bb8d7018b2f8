"""The page Ask: results with their counts, bad questions, hostile texts, the scope in the address, and keeping a question."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from audit.jobs import asking as worker
from audit.jobs.asking import MAX_CHARACTERS, Asked, AskScope, Step
from audit.pipeline.asking.engine import RunLibrary
from audit.release.write import write_jsonl
from audit.settings import Settings
from audit.store.runs import Run, list_runs
from pages._shared.doors import BROWSING
from pages._shared.loaders import recent_answers
from pages._shared.navigation import is_listed
from pages.ask import form, way
from tests.pages.conftest import Open, words_on
from tests.pages.test_system_answers import html_on
from tests.support.loading import load
from tests.support.tiny import handbook, release_from

LIFT = "How long should I avoid lifting after surgery?"
SIX, TWELVE = (f"Avoid lifting anything over 10 pounds for {weeks} weeks after surgery." for weeks in (6, 12))
TEXTS = {"a": SIX, "b": SIX, "c": TWELVE, "d": "Eat fresh vegetables every day."}
HANDBOOKS = [
    handbook("a", "kidney", "Alder"), handbook("b", "kidney", "Birch"), handbook("c", "liver", "Cedar_Hill"),
    handbook("d", "liver", "Alder"),
]  # fmt: skip

LoadTexts = Callable[..., Run]


def text_on(at: AppTest) -> str:
    """The words of a page without the marks of bold."""
    return words_on(at).replace("**", "")


def button(at: AppTest, label: str) -> Any:
    return next(shown for shown in at.button if shown.label == label)


@pytest.fixture
def load_texts(data_dir: Path, tmp_path: Path) -> LoadTexts:
    """Load a run with the texts of its handbooks: handbook id -> text of its only section."""

    def loader(texts: dict[str, str] = TEXTS, **manifest: Any) -> Run:
        folder = release_from(tmp_path / "releases", "q1 kidney a=absent b=absent c=absent d=absent", HANDBOOKS, **manifest)
        sections = [
            {"handbook_id": name, "section_id": "s1", "heading": "Living with it", "above": [], "text": text, "pages": [3]}
            for name, text in texts.items()
        ]
        write_jsonl(folder / "sections.jsonl", sections)
        return load(folder, data_dir).run

    return loader


@pytest.fixture(autouse=True)
def asked_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Answer in this process, which is quicker than starting another; the questions that were asked."""
    libraries: dict[str, RunLibrary] = {}
    questions: list[str] = []

    def ask_run(run: Run, question: str, scope: AskScope, _data_dir: Path, step: Step) -> Asked:
        questions.append(question)
        if run.digest not in libraries:
            libraries[run.digest] = RunLibrary.of_store(run.path, tmp_path / "indexes", step)
        return libraries[run.digest].ask(question, scope, step)

    recent_answers().clear()
    monkeypatch.setattr(form, "ask_run", ask_run)
    monkeypatch.setattr("audit.jobs.asking.prepare", lambda *_: None)
    return questions


def test_the_counts_the_answer_and_the_groups(load_texts: LoadTexts, open_page: Open) -> None:
    load_texts()
    at = open_page("ask", ask=LIFT)
    assert not at.exception
    assert not at.error
    words, html = text_on(at), html_on(at)
    assert "4 handbooks were asked. Rules find an answer in 3 and none in 1; 0 could not be read." in words
    assert "No answer found (1): liver · Alder." in words
    assert html.count("Said by 2 sources") == 1
    assert html.count("Said by 1 source<") == 1
    assert html.count("Another source says otherwise") == html.count("2 other sources say otherwise") == 1
    assert '<span class="value">6 weeks</span> <span class="count">2 handbooks</span>' in html
    assert '<span class="value">12 weeks</span> <span class="count">1 handbook</span>' in html
    assert len(at.get("plotly_chart")) == 1


def test_where_only_the_whole_texts_answer_the_page_does_not_say_that_no_source_does(
    load_texts: LoadTexts, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_texts()
    open_page("ask", ask=LIFT)
    (key, asked), *_ = recent_answers().items()
    # As if none of the best passages had an answer
    recent_answers()[key] = replace(asked, sourced=replace(asked.sourced, statements=()))
    words = text_on(open_page("ask", ask=LIFT))
    assert "In the full text of 3 handbooks, an answer was found" in words
    assert "No source has a sentence" not in words


def test_handbooks_outside_the_evidence_that_say_the_same_are_counted(
    load_texts: LoadTexts, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_texts()
    page = html_on(open_page("ask", ask=LIFT))
    (key, asked), sourced = next(iter(recent_answers().items())), next(iter(recent_answers().values())).sourced
    # As if the passage of b had not been among the best
    narrowed = tuple(
        replace(
            one,
            **{name: tuple(c for c in getattr(one, name) if c.handbook_id != "b") for name in ("citations", "contradicted_by")},
        )
        for one in sourced.statements
    )
    recent_answers()[key] = replace(asked, sourced=replace(sourced, statements=narrowed))
    assert html_on(open_page("ask", ask=LIFT)) == page


def test_rules_and_no_medical_advice_are_stated(load_texts: LoadTexts, open_page: Open) -> None:
    load_texts()
    words = text_on(open_page("ask", ask=LIFT))
    assert "This is not medical advice." in words
    assert "Answers extracted by rules, pairs labelled by rules: a preview, not a finding." in words
    assert "Not for ranking" in words
    assert "The marks are set by rules" in words


def test_each_sentence_links_to_its_place_in_the_source(load_texts: LoadTexts, open_page: Open) -> None:
    run = load_texts()
    html = html_on(open_page("ask", ask=LIFT))
    address = f"source?run={run.key}&handbook=c&section=s1&start=0&end={len(TWELVE)}&pdf_page=3".replace("@", "%40")
    # In the answer of all sources as its own and against the other, and under the handbook's own answer
    assert html.count(address.replace("&", "&amp;")) == 3
    assert "question=" not in html


def test_the_scope_is_in_the_address(load_texts: LoadTexts, open_page: Open) -> None:
    load_texts()
    assert "2 handbooks were asked. Rules find an answer in 1" in text_on(open_page("ask", ask=LIFT, organ="liver"))
    at = open_page("ask", ask=LIFT, source=["Birch", "Cedar_Hill"])
    assert "2 handbooks were asked. Rules find an answer in 2" in text_on(at)
    assert at.multiselect(key="source").value == ["Birch", "Cedar_Hill"]
    assert at.text_input(key="ask").value == LIFT
    ignored = open_page("ask", ask=LIFT, organ="spleen", source="Gone")
    assert "organ = spleen" in text_on(ignored)
    assert "source = Gone" in text_on(ignored)
    assert "4 handbooks were asked" in text_on(ignored)


def test_the_button_writes_question_and_scope_into_the_address(load_texts: LoadTexts, open_page: Open) -> None:
    load_texts()
    at = open_page("ask")
    assert "were asked" not in text_on(at)
    at.text_input(key="ask").set_value(LIFT)
    at.selectbox(key="organ").set_value("kidney")
    at.multiselect(key="source").set_value(["Birch"])
    button(at, "Ask").click().run()
    assert not at.exception
    assert "1 handbook was asked. Rules find an answer in 1" in text_on(at)
    assert [at.query_params[name] for name in ("ask", "organ", "source")] == [LIFT, "kidney", "Birch"]


def test_a_click_on_the_page_does_not_ask_again(load_texts: LoadTexts, open_page: Open, asked_here: list[str]) -> None:
    load_texts()
    at = open_page("ask", ask=LIFT, a="a", b="c")
    assert "divergent" in html_on(at)
    at.query_params["b"] = "b"
    at.run()
    open_page("ask", ask=f"  {LIFT}\n")
    assert asked_here == [LIFT]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("\x00\x07 \t", "The question is empty. Nothing was asked."),
        ("x" * 10_000, f"The question has 10,000 characters; allowed: {MAX_CHARACTERS}. Nothing was asked."),
    ],
)
def test_a_question_that_cannot_be_asked_gets_a_sentence(
    load_texts: LoadTexts, open_page: Open, asked_here: list[str], question: str, words: str
) -> None:
    load_texts()
    at = open_page("ask", ask=question)
    assert not at.exception
    assert words in text_on(at)
    assert asked_here == []


def test_the_button_without_a_question_gets_a_sentence(load_texts: LoadTexts, open_page: Open) -> None:
    load_texts()
    at = button(open_page("ask"), "Ask").click().run()
    assert not at.exception
    assert "The question is empty. Nothing was asked." in text_on(at)


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("what is the of and", "no words to search for"),
        ("Wie lange darf ich nach der Operation nicht schwer heben?", "The question seems to be German"),
        ("=cmd|' /C calc'!A0 <script>alert(1)</script> **b** [x](http://evil.test) $a$", ""),
        ("How do I water a cactus?", ""),
    ],
)
def test_a_question_that_finds_nothing_is_not_an_error(load_texts: LoadTexts, open_page: Open, question: str, note: str) -> None:
    load_texts()
    at = open_page("ask", ask=question)
    assert not at.exception
    assert not at.error
    words = text_on(at)
    assert "4 handbooks were asked. Rules find an answer in 0" in words
    assert "No source has a sentence that covers enough of the question." in words
    assert note in words
    raw = "\n".join(str(element.value) for kind in ("header", "markdown", "caption", "info") for element in at.get(kind))
    assert "[x](http" not in raw
    assert "<script>" not in raw + "".join(block.proto.body for block in at.get("html"))


def test_no_text_of_a_handbook_is_interpreted(load_texts: LoadTexts, open_page: Open) -> None:
    hostile = "Avoid lifting <script>alert(1)</script> **anything** over 10 pounds for 6 weeks after surgery."
    load_texts(TEXTS | {"a": hostile})
    at = open_page("ask", ask=LIFT)
    assert not at.exception
    html = "".join(block.proto.body for block in at.get("html"))
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_how_it_was_found_can_be_downloaded(load_texts: LoadTexts, open_page: Open, tmp_path: Path) -> None:
    run = load_texts()
    at = open_page("ask", ask=LIFT, source=["Birch", "Cedar_Hill"])
    assert not at.exception
    asked = next(iter(recent_answers().values()))
    trace = json.loads(way.trace_json(run, asked))
    assert (trace["question"], trace["sources"]) == (LIFT, ["Birch", "Cedar_Hill"])
    assert {answer["handbook_id"] for answer in trace["answers"]} == {"b", "c"}
    assert [pair["label"] for pair in trace["pairs"]] == ["DIVERGENT"]
    assert len(trace["route"]["routes"]) == 2
    assert trace["route"]["trace"]["statements"]


def test_how_it_was_found_lists_the_passages_under_their_headings(load_texts: LoadTexts, open_page: Open) -> None:
    load_texts()
    at = open_page("ask", ask=LIFT)
    assert "Living with it" not in "".join(block.proto.body for block in at.get("html") if "evidence" in block.proto.body)
    at.session_state["way"] = True
    at.run()
    assert not at.exception
    assert len(at.get("plotly_chart")) == 2
    assert html_on(at).count("Living with it</summary>") == 2  # a and b say the same, so that one of the two is enough


def test_a_kept_question_becomes_a_run_and_changes_no_other(load_texts: LoadTexts, open_page: Open) -> None:
    run = load_texts()
    at = open_page("ask", ask=LIFT)
    before = run.path.read_bytes()
    assert len(list_runs(Settings().store_dir)) == 1
    button(at, "Add to a run").click().run()
    assert not at.exception
    assert not at.error
    (new,) = (loaded for loaded in list_runs(Settings().store_dir) if loaded.digest != run.digest)
    assert "Added as the run" in at.success[0].value
    assert run.path.read_bytes() == before
    shown = open_page("question", run=new.key, question=new.run_id)
    assert not shown.exception
    assert "4 handbooks were asked: 3 answered, 1 did not address the question." in text_on(shown)


def test_only_those_who_may_have_pairs_judged_can_keep_a_question(
    load_texts: LoadTexts, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_texts()
    monkeypatch.setattr("pages.ask.keep_question.may_rejudge", lambda _: False)
    at = open_page("ask", ask=LIFT)
    assert "Add to a run" not in [shown.label for shown in at.button]
    assert "No question is stored." in text_on(at)


def test_a_run_without_texts_says_what_it_lacks_and_the_menu_leaves_the_page_out(
    run: Run, load_texts: LoadTexts, open_page: Open
) -> None:
    assert "This run does not have the texts of its handbooks" in text_on(open_page("ask", run=run.key))
    assert not is_listed(BROWSING["ask"], run)
    assert is_listed(BROWSING["ask"], load_texts(run_id="texts"))


@pytest.mark.slow
def test_the_process_that_reads_the_texts_answers_the_page(
    load_texts: LoadTexts, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(form, "ask_run", worker.ask_run)
    load_texts()
    try:
        at = open_page("ask", ask=LIFT)
    finally:
        worker.close_workers()
    assert not at.exception
    assert "4 handbooks were asked. Rules find an answer in 3" in text_on(at)
