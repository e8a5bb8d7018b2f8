"""The tenancy example: its files agree with each other, its truth stands in its texts, and the stand-in judge reads it."""

import re
from collections import Counter
from pathlib import Path

import pytest

from audit.cli.main import main
from audit.pipeline.corpus.questions.checks import make_screen, read_tag_taxonomy
from audit.pipeline.corpus.questions.importing import import_questions
from audit.pipeline.embedding.encoders import words_encoder
from audit.pipeline.judging.parse import load_prompts
from audit.pipeline.judging.stand_in import read_truth
from audit.pipeline.themes.naming import naming_prompt
from tests.examples.tenancy import FOLDER, asked, codes, gold, table, true_pairs, truth

LABELS = {"absent": "ABSENT", "agree": "CONSISTENT", "differ": "DIVERGENT", "opposite": "CONTRADICTORY"}


def gold_sections() -> dict[tuple[str, str], str]:
    """(question, code) -> the section that answers it."""
    return {
        (record["question_id"], code): section
        for record in gold()
        for code, (section,) in record["gold_sections"].items()
    }  # fmt: skip


def test_it_has_the_shape_that_its_readme_says() -> None:
    books = codes().values()
    assert Counter(book.organ for book in books) == {"residential": 5, "lodging": 3}
    assert len({book.center for book in books}) == 5
    assert all(8 <= len(book.sections) <= 16 for book in books)
    assert Counter(q["organ"] for q in table("questions.csv")) == {"general": 8, "residential": 15, "lodging": 7}
    taxonomy = read_tag_taxonomy(FOLDER / "taxonomy.toml")
    assert (len(taxonomy.topics), len(taxonomy.subtopics), len(taxonomy.organs)) == (6, 16, 2)


def test_every_gold_section_exists_in_a_code_that_the_question_is_put_to() -> None:
    questions, books = {q["question_id"]: q for q in table("questions.csv")}, codes()
    for (question_id, code), section in gold_sections().items():
        assert code in asked(questions[question_id]["organ"])
        assert section in books[code].by_id


def test_gold_knows_a_section_exactly_where_the_truth_has_a_value() -> None:
    rules, known = truth(), gold_sections()
    for question in table("questions.csv"):
        for code in asked(question["organ"]):
            speaks = bool(rules.get(question["rule"], {}).get(code))
            assert speaks == ((question["question_id"], code) in known), (question["question"], code)


def test_gold_names_the_codes_that_are_silent() -> None:
    organs = {q["question_id"]: q["organ"] for q in table("questions.csv")}
    for record in gold():
        everybody = {*record["gold_sections"], *record["institutions_without"]}
        assert everybody == set(asked(organs[record["question_id"]]))


def test_every_figure_of_the_truth_stands_in_its_section() -> None:
    questions, books, rules = {q["question_id"]: q for q in table("questions.csv")}, codes(), truth()
    for (question_id, code), section in gold_sections().items():
        value, text = rules[questions[question_id]["rule"]][code], books[code].by_id[section].text
        if value == "no":
            assert re.search(r"\bnot\b", text)
        elif value == "yes":
            assert not re.search(r"\bnot\b", text.split(".")[0])
        else:
            assert value in text


def test_every_section_but_the_first_states_one_rule() -> None:
    known = {(code, section) for (_, code), section in gold_sections().items()}
    for code, book in codes().items():
        assert [section.section_id for section in book.sections if (code, section.section_id) not in known] == ["s01"]


def test_it_agrees_differs_contradicts_itself_and_is_silent() -> None:
    counts = Counter(relation for *_, relation in true_pairs())
    assert counts.total() == 8 * 28 + 15 * 10 + 7 * 3
    # Yes by no, counted in the table: pets 2 * 6 and 2 * 3, subletting 2 * 2, interest 2 * 1, locks 1 * 1, guests 2 * 1.
    assert counts["opposite"] == 12 + 6 + 4 + 2 + 1 + 2
    assert counts == {"agree": 86, "differ": 164, "opposite": 27, "absent": 118}


def test_the_stand_in_judge_gives_every_pair_its_true_relation() -> None:
    table_of_truths = read_truth(FOLDER / "truth.csv", FOLDER / "questions.csv")
    for question, one, other, relation in true_pairs():
        label = table_of_truths.verdict(question["question_id"], (one, other)).label
        assert label == (LABELS[relation] if question["rule"] else None), (question["question"], one, other)


def test_its_questions_are_imported_without_a_finding(tmp_path: Path) -> None:
    report = import_questions(
        FOLDER / "questions.csv",
        tmp_path / "questions.jsonl",
        taxonomy=read_tag_taxonomy(FOLDER / "taxonomy.toml"),
        screen=make_screen(),
    )
    assert report.clean, report.as_text()
    assert len(report.questions) == len(table("questions.csv"))


def test_the_readme_shows_the_truth_as_it_is() -> None:
    told = (FOLDER / "README.md").read_text(encoding="utf-8")
    for rule, values in truth().items():
        row = " | ".join(value or "–" for value in values.values())
        assert f"| {rule} | {row} |" in told


def test_no_two_of_its_questions_are_nearly_the_same(tmp_path: Path) -> None:
    report = import_questions(FOLDER / "questions.csv", tmp_path / "questions.jsonl", encoder_of=words_encoder)
    assert not report.near_duplicates


def test_the_command_takes_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    options = ["--out", str(tmp_path / "q.jsonl"), "--taxonomy", str(FOLDER / "taxonomy.toml"), "--encoder", "none"]
    assert main(["questions", str(FOLDER / "questions.csv"), *options]) == 0


def test_its_templates_ask_the_judge_in_its_own_words() -> None:
    own = load_prompts(FOLDER / "templates") | {"theme_name": naming_prompt(FOLDER / "templates")}
    ours = load_prompts() | {"theme_name": naming_prompt()}
    for name, prompt in own.items():
        # Words of the schema, which is the same for every corpus
        told = f"{prompt.system}\n{prompt.user}".replace("clinical_significance", "").replace('"other patients"', "")
        assert not re.search(r"patient|handbook|clinic|organ\b|health|medicine|graft|institution", told, re.IGNORECASE), name
        assert prompt.digest != ours[name].digest


def test_the_prompts_in_the_words_of_tenancy_law_are_those_of_today():
    # A reply is bound to the schema of ours: a template that asks for less, or in another order, would be an older one
    ours, theirs = load_prompts(), load_prompts(FOLDER / "templates")
    for name, prompt in theirs.items():
        assert prompt.system != ours[name].system, name
        assert (prompt.version, prompt.max_tokens) == (ours[name].version, ours[name].max_tokens), name
        reply = prompt.system.partition("Reply with one JSON")[2]
        assert re.findall(r"^- (\w+):", reply, re.MULTILINE) == list(prompt.form.schema["properties"]), name
        assert ("COMPLEMENTARY" in prompt.system) == ("COMPLEMENTARY" in ours[name].system), name
