"""The page Ask: questions like it, states and passages, bad questions, hostile texts, the scope in the address, keeping it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from audit.errors import AuditError
from audit.jobs import asking as worker
from audit.jobs.asking import MAX_CHARACTERS, PREPARING, WAITING, Asked, AskScope, Step
from audit.pipeline.asking.engine import RunHandbooks
from audit.release.sourced_answers import SourceCitation, SourcedAnswer, SourcedStatement
from audit.release.write import write_jsonl
from audit.settings import Settings
from audit.store.runs import Run, list_runs
from pages._shared.doors import BROWSING
from pages._shared.loaders import recent_answers
from pages._shared.navigation import is_listed
from pages.ask import form
from tests.pages.conftest import Open, component, words_on
from tests.pages.test_system_answers import html_on
from tests.support.loading import load
from tests.support.other_subjects import OTHER_SUBJECTS
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
    """Load a run with the texts of its handbooks: handbook id -> text of the first section. The run asks about driving."""

    def loader(texts: dict[str, str] = TEXTS, table: str = "q1 kidney ab=DIVERGENT c=absent d=absent", **manifest: Any) -> Run:
        folder = release_from(tmp_path / "releases", table, HANDBOOKS, **manifest)
        sections = [
            {"handbook_id": name, "section_id": f"s{n}", "heading": heading, "above": [], "text": section, "pages": [n]}
            for name, text in texts.items()
            for n, (heading, section) in enumerate([("Living with it", text), *OTHER_SUBJECTS.items()], 3)
        ]
        write_jsonl(folder / "sections.jsonl", sections)
        return load(folder, data_dir).run

    return loader


@pytest.fixture(autouse=True)
def asked_here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Answer in this process, which is quicker than starting another; the questions that were asked."""
    handbooks: dict[str, RunHandbooks] = {}
    questions: list[str] = []

    def ask_run(run: Run, question: str, scope: AskScope, _data_dir: Path, step: Step) -> Asked:
        questions.append(question)
        step(WAITING, 0, 0)
        if run.digest not in handbooks:
            handbooks[run.digest] = RunHandbooks.of_store(run.path, None, None, step)
        return handbooks[run.digest].ask(question, scope, step)

    recent_answers().clear()
    monkeypatch.setattr(form, "ask_run", ask_run)
    return questions


def test_start_and_the_empty_page_get_a_run_with_texts_ready_and_no_other(
    run: Run, load_texts: LoadTexts, open_page: Open, prepared: list[str]
) -> None:
    for name in ("start", "ask"):
        assert not open_page(name, run=run.key).exception
    assert prepared == []
    texts = load_texts()
    for name in ("start", "ask"):
        assert not open_page(name, run=texts.key).exception
    assert prepared == [texts.run_id] * 2


def test_each_handbook_stands_under_how_surely_it_answers_with_its_passages(load_texts: LoadTexts, open_page: Open) -> None:
    load_texts()
    at = open_page("ask", ask="Should I avoid lifting anything over 10 pounds after surgery?")
    assert not at.exception
    assert not at.error
    words, html = text_on(at), html_on(at)
    assert "4 handbooks searched. No model has read the passages: their words were compared" in words
    assert "<h3>Stated (3)</h3>" in html
    assert "<h3>Not found (1)</h3>" in html
    assert html.count(f"<mark>{SIX}</mark>") == 2
    assert "Perhaps" not in html
    assert "Its nearest 3 passages" in html


def test_the_runs_own_questions_come_first_with_how_disputed_they_are(load_texts: LoadTexts, open_page: Open) -> None:
    run = load_texts()
    at = open_page("ask", ask="What about q1?")
    (alike, *_) = [block.proto.body for block in at.get("html") if 'class="alike"' in block.proto.body]
    assert f'href="question?run={run.key}&amp;question=q1"'.replace("@", "%40") in alike
    assert "2 handbooks answer it. Their answers disagree." in " ".join(alike.split())


def test_a_handbook_that_answers_such_a_question_in_the_run_is_not_called_silent(load_texts: LoadTexts, open_page: Open) -> None:
    load_texts()
    html = html_on(open_page("ask", ask="What about q1?"))
    assert "<h3>Cannot be told (4)</h3>" in html
    assert html.count("no text of this run has “q1”") == 4
    assert html.count("It answers a question like this in the run") == 2, "a and b do, c and d do not"


def test_each_passage_links_to_its_place_in_the_source(load_texts: LoadTexts, open_page: Open) -> None:
    run = load_texts()
    html = html_on(open_page("ask", ask=LIFT))
    address = f"source?run={run.key}&handbook=c&section=s3&start=0&end={len(TWELVE)}&pdf_page=3".replace("@", "%40")
    assert html.count(address.replace("&", "&amp;")) == 1
    assert "Living with it, page 3" in html


def test_no_medical_advice_is_stated(load_texts: LoadTexts, open_page: Open) -> None:
    load_texts()
    words = text_on(open_page("ask", ask=LIFT))
    assert "This is not medical advice." in words


def test_the_scope_is_in_the_address(load_texts: LoadTexts, open_page: Open) -> None:
    load_texts()
    assert "2 handbooks searched" in text_on(open_page("ask", ask=LIFT, organ="liver"))
    at = open_page("ask", ask=LIFT, source=["Birch", "Cedar_Hill"])
    assert "2 handbooks searched" in text_on(at)
    assert at.multiselect(key="source").value == ["Birch", "Cedar_Hill"]
    assert at.text_input(key="ask").value == LIFT
    ignored = open_page("ask", ask=LIFT, organ="spleen", source="Gone")
    assert "organ = spleen" in text_on(ignored)
    assert "source = Gone" in text_on(ignored)
    assert "4 handbooks searched" in text_on(ignored)


def test_the_button_writes_question_and_scope_into_the_address(load_texts: LoadTexts, open_page: Open) -> None:
    load_texts()
    at = open_page("ask")
    assert "searched" not in text_on(at)
    at.text_input(key="ask").set_value(LIFT)
    at.selectbox(key="organ").set_value("kidney")
    at.multiselect(key="source").set_value(["Birch"])
    button(at, "Ask").click().run()
    assert not at.exception
    assert "1 handbook searched" in text_on(at)
    assert [at.query_params[name] for name in ("ask", "organ", "source")] == [LIFT, "kidney", "Birch"]


def test_a_click_on_the_page_does_not_ask_again(load_texts: LoadTexts, open_page: Open, asked_here: list[str]) -> None:
    load_texts()
    at = open_page("ask", ask=LIFT)
    at.run()
    open_page("ask", ask=f"  {LIFT}\n")
    assert asked_here == [LIFT]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("\x00\x07 \t", "The question is empty. Nothing was asked."),
        ("a", "'a' is too short to search for. Nothing was asked."),
        ("x" * 2_000, f"The question has 2,000 characters; allowed: {MAX_CHARACTERS:,}. Nothing was asked."),
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
    "question",
    [
        "what is the of and",
        "=cmd|' /C calc'!A0 <script>alert(1)</script> **b** [x](http://evil.test) $a$",
        "Who won the football match on Saturday?",
    ],
)
def test_a_question_about_nothing_is_said_to_be_so_and_the_nearest_passages_are_offered(
    load_texts: LoadTexts, open_page: Open, question: str
) -> None:
    load_texts()
    at = open_page("ask", ask=question)
    assert not at.exception
    assert not at.error
    assert "Nothing near this question was found in 4 handbooks: no passage has enough of its words." in text_on(at)
    assert html_on(at).count("Next 2 passages") == 3, "the nearest passage of three handbooks is in sight"
    raw = "\n".join(str(element.value) for kind in ("header", "markdown", "caption", "info") for element in at.get(kind))
    assert "[x](http" not in raw
    assert "<script>" not in raw + "".join(block.proto.body for block in at.get("html"))


def test_of_a_question_in_another_language_nothing_is_claimed(load_texts: LoadTexts, open_page: Open) -> None:
    load_texts()
    html = html_on(open_page("ask", ask="Wie lange darf ich nach der Operation nichts Schweres heben und tragen?"))
    assert "<h3>Cannot be told (4)</h3>" in html
    assert "the handbook is in English, the questions in German" in html
    assert "Not found" not in html


def test_no_text_of_a_handbook_is_interpreted(load_texts: LoadTexts, open_page: Open) -> None:
    hostile = "Avoid lifting <script>alert(1)</script> **anything** over 10 pounds for 6 weeks after surgery."
    load_texts(TEXTS | {"a": hostile})
    at = open_page("ask", ask=LIFT)
    assert not at.exception
    html = "".join(block.proto.body for block in at.get("html"))
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_while_a_run_is_prepared_the_page_says_which_handbook_is_next(
    load_texts: LoadTexts, open_page: Open, monkeypatch
) -> None:
    load_texts()

    def killed(_run: Run, _question: str, _scope: AskScope, _data_dir: Path, step: Step) -> Asked:
        step(PREPARING, 40, 102)
        raise AuditError("The process ended.")

    monkeypatch.setattr(form, "ask_run", killed)
    at = open_page("ask", ask=LIFT)
    assert [bar.proto.text for bar in at.get("progress")] == ["Preparing the handbooks of this run: 40 of 102"]
    assert "The process ended." in text_on(at)


@pytest.mark.parametrize("again", [False, True], ids=["another run", "the same run again"])
def test_while_a_run_is_being_loaded_the_runs_that_are_there_answer(
    load_texts: LoadTexts, open_page: Open, data_dir: Path, tmp_path: Path, again: bool
) -> None:
    run = load_texts()
    coming = release_from(tmp_path / "coming", "q1 kidney ab=CONSISTENT", run_id="coming")
    release = tmp_path / "releases" / "tiny" if again else coming
    opened: list[AppTest] = []
    load(release, data_dir, again=again, progress=lambda _: opened.append(open_page("ask", ask=LIFT, run=run.key)))
    assert len(opened) > 1
    for at in opened:
        assert not at.exception
        assert not at.error
        assert "4 handbooks searched" in text_on(at)
        assert [one["key"] for one in component(at, "top_bar")["runs"]] == [run.key]
    assert len(component(open_page("ask"), "top_bar")["runs"]) == (1 if again else 2)


def test_while_the_first_run_is_being_loaded_the_page_says_that_there_is_none(
    open_page: Open, data_dir: Path, tmp_path: Path
) -> None:
    opened: list[AppTest] = []
    release = release_from(tmp_path / "releases", "q1 kidney ab=CONSISTENT")
    load(release, data_dir, progress=lambda _: opened.append(open_page("ask", ask=LIFT)))
    assert len(opened) > 1
    for at in opened:
        assert not at.exception
        assert "No run is loaded" in text_on(at)


def test_without_an_endpoint_no_model_is_spoken_of_and_with_one_its_answer_has_sources(
    load_texts: LoadTexts, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_texts()
    assert "An answer by a model" not in text_on(open_page("ask", ask=LIFT))
    cited = SourceCitation(1, "Cedar_Hill", "c", "s3", 0, len(TWELVE), TWELVE, TWELVE)
    statements = (SourcedStatement("Lift nothing for 12 weeks.", (cited,)), SourcedStatement("Rest."))
    written = SourcedAnswer(LIFT, statements, None, (), "small model")  # type: ignore[arg-type]  # the evidence is not shown
    monkeypatch.setattr("pages.ask.written_answer.load_object", lambda _: lambda *_: written)
    monkeypatch.setenv("AUDIT_JUDGE_URL", "http://127.0.0.1:1/v1")
    at = open_page("ask", ask=LIFT)
    assert "The question and the passages go to 127.0.0.1:1." in text_on(at)
    button(at, "Write an answer").click().run()
    assert not at.exception
    html = html_on(at)
    assert "Lift nothing for 12 weeks." in html
    assert "Not checked: no quote for it" in html
    assert "Written by small model." in text_on(at)


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
    assert not new.has_pairs


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
    at = open_page("ask", run=run.key, ask="q1")
    assert "This run does not have the texts of its handbooks" in text_on(at)
    assert "What about q1?" in html_on(at)  # its own questions are offered instead
    assert not is_listed(BROWSING["ask"], run)
    assert is_listed(BROWSING["ask"], load_texts(run_id="texts"))


@pytest.mark.slow
def test_the_process_that_searches_the_texts_answers_the_page(
    load_texts: LoadTexts, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(form, "ask_run", worker.ask_run)
    load_texts()
    try:
        at = open_page("ask", ask=LIFT)
    finally:
        worker.close_workers()
    assert not at.exception
    assert "4 handbooks searched" in text_on(at)


def test_a_question_of_the_run_that_some_do_not_address_leads_to_a_search_of_their_texts(load_texts, open_page):
    run = load_texts(generator="source text, cut after 190 words")
    at = open_page("question", question="q1")
    addresses = [link.proto.query_string for link in at.get("page_link") if "An answer may miss" in link.proto.label]
    assert [parse_qs(address)["run"] + parse_qs(address)["ask"] for address in addresses] == [[run.key, "What about q1?"]]
    assert "Answers: source text, cut after 190 words." in text_on(at)
