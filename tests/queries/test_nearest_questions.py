"""The questions of a run by typed words: its own, typed back, and 300 in patients' words.

Of the 120 of parts `newest` and `later`, written last for words that mean the same, words alone find 87 among the first three.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.pipeline.asking.questions import RunQuestions
from audit.queries.nearest_questions import nearest_questions
from audit.queries.questions_like import questions_like
from audit.queries.search_index import more_words, question_entries, weighted_terms
from audit.store.connection import Connection, open_store
from audit.store.runs import list_runs
from audit.text.word_match import WordIndex
from tests.examples.tenancy import table
from tests.support.loading import load
from tests.support.tiny import handbook
from tests.support.tiny_store import store_from

PARAPHRASES = Path(__file__).with_name("paraphrases.csv")
RUNS = ("demo", "nih", "tenancy")


@pytest.fixture(scope="module")
def con(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """The store of the run of that name; of tenancy only the questions, whose answers the pipeline writes."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "demo":
        runs = list_runs(request.getfixturevalue("demo_folder") / "store")
        path = next(run.path for run in runs if run.run_id == "demo")
    else:
        release = request.getfixturevalue("nih") if request.param == "nih" else _tenancy(folder / "release")
        path = load(release, folder / "data").run.path
    with open_store(path) as opened:
        yield opened


def _tenancy(folder: Path) -> Path:
    questions = [
        {**row, "topics": row["topics"].split(";"), "subtopics": row["subtopics"].split(";")} for row in table("questions.csv")
    ]
    books = [handbook("a"), handbook("b")]
    pair = {"handbook_a": "a", "handbook_b": "b", "classification": "CONSISTENT"}
    (folder / "comparisons").mkdir(parents=True)
    for name, records in (("questions", questions), ("handbooks", books)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    compared = {"question_id": "general-01", "handbooks": ["a", "b"], "pairs": [pair]}
    (folder / "comparisons" / "general-01.json").write_text(json.dumps(compared), encoding="utf-8")
    return folder


@pytest.mark.parametrize("con", RUNS, indirect=True)
def test_every_question_of_the_run_is_first_when_it_is_typed_back(con):
    entries = question_entries(con)
    index = WordIndex([weighted_terms(entry) for entry in entries])
    first = [max(index.scores(entry.name.lower()).items(), key=lambda scored: scored[1])[0] for entry in entries]
    assert first == list(range(len(entries)))


@pytest.mark.parametrize("part", ["tuned", "fresh"])
@pytest.mark.parametrize(("con", "least"), [(name, 17) for name in RUNS], indirect=["con"])
def test_patients_words_find_the_question_among_the_first_three(con, least, part, request):
    run = request.node.callspec.params["con"]
    rows = [row for row in csv.DictReader(PARAPHRASES.open(encoding="utf-8")) if (row["part"], row["run"]) == (part, run)]
    found = [
        {near.question_id for near in nearest_questions(con, row["typed"], 3)} & set(row["questions"].split()) for row in rows
    ]
    assert len(rows) == 20
    assert sum(map(bool, found)) >= least


@pytest.mark.parametrize(("con", "least"), [("demo", 36), ("nih", 33)], indirect=["con"])
def test_their_answers_find_what_the_words_of_questions_do_not(con, least, request, tmp_path):
    """Of the 40 paraphrases that are for words that mean the same."""
    run = request.node.callspec.params["con"]
    ((path,),) = con.execute("select path from duckdb_databases() where database_name = current_database()").fetchall()
    questions = RunQuestions(Path(path), None, tmp_path)
    rows = [row for row in csv.DictReader(PARAPHRASES.open(encoding="utf-8")) if row["part"] in ("newest", "later")]
    found = [set(questions.near(row["typed"])[:3]) & set(row["questions"].split()) for row in rows if row["run"] == run]
    assert len(found) == 40
    assert sum(map(bool, found)) >= least


@pytest.mark.parametrize(
    ("con", "part", "least"),
    [
        ("demo", "last", 16), ("nih", "last", 15), ("tenancy", "last", 15),
        ("demo", "unseen", 13), ("nih", "unseen", 17), ("tenancy", "unseen", 12),
    ],
    indirect=["con"],
)  # fmt: skip
def test_of_paraphrases_that_nothing_was_changed_for_most_are_in_the_list_of_ask(con, part, least, request, tmp_path):
    """48 and 44 of 60 without a sentence model (benchmarks.find_questions); of tenancy this store has the questions alone."""
    run = request.node.callspec.params["con"]
    ((path,),) = con.execute("select path from duckdb_databases() where database_name = current_database()").fetchall()
    questions = RunQuestions(Path(path), None, tmp_path)
    rows = [row for row in csv.DictReader(PARAPHRASES.open(encoding="utf-8")) if (row["part"], row["run"]) == (part, run)]
    listed = [questions_like(con, row["typed"], tuple(questions.near(row["typed"]))) for row in rows]
    found = [{one.question_id for one in near} & set(row["questions"].split()) for near, row in zip(listed, rows, strict=True)]
    assert len(found) == 20
    assert sum(map(bool, found)) >= least


@pytest.mark.parametrize("con", ["demo"], indirect=True)
@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("drinking", "alcohol"), ("wine", "alcohol"), ("raw fish", "sushi"), ("sunscreen", "SPF"),
        ("can i drink alcohol", "alcohol"), ("vacine", "vaccine"), ("¿puedo beber alcohol?", "alcohol"),
    ],
)  # fmt: skip
def test_a_few_words_find_something_sensible(con, typed, word):
    assert word in nearest_questions(con, typed)[0].text


@pytest.mark.parametrize("con", ["demo"], indirect=True)
@pytest.mark.parametrize("typed", ["", " ", "?", "x", "x" * 2000, "什么时候可以开车"])
def test_what_no_question_has_finds_nothing(con, typed):
    assert nearest_questions(con, typed) == []


def test_a_question_is_found_by_a_word_that_only_its_answers_have(tmp_path):
    con = store_from(tmp_path, "q1 kidney ab=CONSISTENT\nq2 kidney ab=CONSISTENT", [handbook("a"), handbook("b")])
    con.execute(
        "insert into answers (question, handbook, answer, absent) values (0, 0, 'rest', false), (1, 0, 'grapefruits', false)"
    )
    (near,) = nearest_questions(con, "grapefruit")
    assert near.question_id == "q2"
    assert 0 < near.score < 0.5  # less than a word of the question itself


def test_words_behind_a_name_are_synonyms_initials_and_tags_each_with_its_weight():
    assert more_words("Who is at risk of Deep Vein Thrombosis?") == "8dvt"
    assert more_words("After CLASS--Is a programme realistic?") == "8aci"
    assert "7hypertension" in more_words("Is high blood pressure bad?").split()
    assert (
        more_words("When may I fly?", ["diet targets"], [("altitude", 1.0), ("fly", 1.0)])
        == "4altitud 5diet 5target 7travel 7trip"
    )
