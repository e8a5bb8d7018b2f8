"""Each way back that the program lists yields the paper's setting; a row without one says why."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import audit.papers
from audit.cli.main import main
from audit.commands import COMMANDS
from audit.evaluation.criteria import CRITERIA, Incomplete, composites, parse_weights
from audit.evaluation.reference_metrics import ReferenceScorer
from audit.metrics.systems import system_measures
from audit.papers.departures import CITATIONS, Departure, Paper, departures
from audit.pipeline.generation.model_generator import load_answer_prompt
from audit.pipeline.generation.system_answers import FORMS
from audit.pipeline.judging.parse import CENTERS, PAIR_FIELDS, load_prompts
from audit.pipeline.llm.prompts import Prompt
from audit.pipeline.retrieval.across.entities import read_entity_terms
from audit.pipeline.retrieval.across.settings import PUBLISHED_FEATURES, CrossSourceSettings
from audit.pipeline.retrieval.hybrid import expansion_terms, term_statistics
from audit.pipeline.retrieval.index import build_index
from audit.pipeline.retrieval.passages import passages_of, with_parents
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.stages.config import Config
from audit.pipeline.stages.config_reader import read_config
from audit.pipeline.stress.building.model_facts import COUNTERFACTUAL, load_fact_prompts
from audit.pipeline.stress.building.questions import BuildReport, StressQuestion
from audit.pipeline.stress.building.signal_search import SearchSettings, library_search, read_library
from audit.pipeline.stress.building.topics import Topic
from audit.pipeline.stress.instances import StressDocument, StressInstance
from audit.pipeline.stress.running.prompts import load_stress_prompts, stress_call
from audit.release.taxonomy import read_taxonomy
from audit.release.write import write_release
from audit.text.documents import Document, Section
from audit.vocabulary import StressTest, SystemMode
from tests.papers.proofs import source_of
from tests.support.systems import answered, measured, system_tables, systems_store
from tests.support.tiny import release_from

ROWS = [row for paper in Paper for row in departures(paper)]
SOUND = '[corpus]\ndocuments = "texts"\n[questions]\nfile = "questions.csv"\n'
UNDELIMITED = "---\nname: {name}\nversion: 1\nmax_tokens: 99\ndelimiters: none\n---\n{text}\n"


# -- what a remedy is tried with ---------------------------------------------------------------------------------------


class Trial:
    """A folder with a small corpus, and what options make of it."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch = folder, patch
        patch.setenv("AUDIT_DATA_DIR", str(folder / "data"))
        (folder / "texts").mkdir()
        (folder / "questions.csv").touch()

    def config(self, preset: str = "", text: str = "") -> Config:
        path = self.folder / "own.toml"
        path.write_text(SOUND + text)
        return read_config(path, preset)

    def method(self, name: str = "graph_retrieval") -> CrossSourceSettings:
        """The settings of a system that `--preset s1` makes."""
        return next(system.across for system in self.config("s1").systems if system.id == name)

    def template(self, name: str, text: str) -> Path:
        (self.folder / f"{name}.md").write_text(UNDELIMITED.format(name=name, text=text))
        return self.folder


def options(command: str, *arguments: str) -> argparse.Namespace:
    """The options of a command, as its own parser reads them."""
    parser = argparse.ArgumentParser()
    _, add = next(one for one in COMMANDS if one.name == command).load()
    add(parser)
    return parser.parse_args(arguments)


def long_section() -> Document:
    words = " ".join(f"word{number}." for number in range(900))
    return Document("kidney_alder_post", "kidney", "alder", "post", (Section("s1", "Travel", words),))


def section_of_a_hit(trial: Trial) -> bool:
    settings = trial.config("paper").retrieval.options
    index = build_index(long_section(), settings)
    ours = build_index(long_section(), RetrievalSettings())
    ((whole,), (window,)) = (with_parents(one, passages_of(one, {1: 1.0}, {})) for one in (index, ours))
    return whole.text == long_section().sections[0].text and len(window.text) < len(whole.text)


def all_terms_above_the_thresholds(trial: Trial) -> bool:
    sections = tuple(
        Section(f"s{n}", "", f"Insulin dose alpha{n} beta{n} gamma{n} delta{n} epsilon{n}. " * (n + 1)) for n in range(8)
    )
    document = Document("d", "general", "c", "post", sections)
    hybrid = trial.config("s2").retrieval.options.hybrid
    index = build_index(document, RetrievalSettings(hybrid=hybrid))
    statistics = term_statistics(index, hybrid.pmi_window)
    added = expansion_terms("alpha7", statistics, hybrid)
    column = statistics.column_of[next(name for name in statistics.column_of if name.startswith("alpha7"))]
    row, least = statistics.pmi[[column]].tocoo(), np.percentile(statistics.weights, hybrid.weight_percentile)
    above = {c for c, pmi in zip(row.col, row.data, strict=True) if pmi > hybrid.pmi_threshold and statistics.weights[c] > least}
    return set(added) == above - {column} and hybrid.added_terms > len(statistics.column_of)


def mean_over_refusals(trial: Trial) -> bool:
    tables: dict[str, Any] = system_tables()
    tables["system_answers"] = [answered("q1", "rag", "Yes."), answered("q2", "rag", "I cannot say.", refused=True)]
    tables["measures"] = [measured("q1", "rag", "bleu_1", 0.5), measured("q2", "rag", "bleu_1", 0.1)]
    con = systems_store(trial.folder / "store", tables)
    (row,) = system_measures(con, refusals="count").query("measure == 'bleu_1'").to_dict("records")
    return bool((row["answers"], round(row["mean"], 9)) == (2, 0.3))


def zero_points(_: Trial) -> bool:
    scores = np.array([[1, 0, 0, 0, 0, 0, 2, 1], [np.nan] * len(CRITERIA)])
    return composites(scores, Incomplete.ZERO, parse_weights("")).tolist() == [10, pytest.approx(10 / 14 * 10)]


def prompt_with_type(trial: Trial) -> bool:
    own = trial.template("closed_book", "A question on {question_type}: {question}")
    text = trial.config("", f'[[systems]]\nid = "a"\nmode = "closed_book"\ntemplates = "{own}"\n').systems[0]
    prompt = text.system("m", "").prompt(text.templates)
    body = prompt.call("m", "q", {"question": "May I?", "question_type": "treatment"}).body
    return (
        body["messages"][0]["content"] == "A question on treatment: May I?"
        and "question_type" in FORMS[SystemMode.RETRIEVAL].optional
    )


def judges_prompt(trial: Trial) -> bool:
    folder = trial.template("label_first", "{question}\n{center_a}: {answer_a}\n{center_b}: {answer_b}")
    asked = trial.config("paper", f'[judge]\ntemplates = "{folder}"\n').judge
    prompt = load_prompts(asked.templates)[asked.protocol]
    answer = load_answer_prompt(trial.template("answer", "{question}\n{passages}"))
    (trial.folder / "label_first.md").write_text((folder / "label_first.md").read_text().replace("none", "none\nreply: text"))
    free = load_prompts(folder)["label_first"].call("m", "q", dict.fromkeys((*PAIR_FIELDS, *CENTERS), "x"))
    return prompt.names("center_a") and not prompt.delimited and not answer.delimited and free.in_text


def own_vocabulary(trial: Trial) -> bool:
    path = trial.folder / "terms.toml"
    path.write_text('[drug]\nzuotai = ["zuotai", "tsotel"]\n')
    text = f'[[systems]]\nid = "a"\nmode = "multi_source"\ngenerator = "passages"\nentities = "{path}"\n'
    (system,) = trial.config("", text).systems
    assert system.entities
    return bool(read_entity_terms(system.entities))


def own_sufficiency_prompt(trial: Trial) -> bool:
    folder = trial.template("stress_sufficiency", "{documents}\n{question}\n{options}\nIf certain, answer from what you know.")
    prompt = load_stress_prompts(folder)[StressTest.SUFFICIENCY]
    return not prompt.delimited and "from what you know" in prompt.user


def medrgb_prompts() -> Mapping[StressTest, Prompt]:
    return load_stress_prompts(None, options("stress run", "x", "--preset", "medrgb").preset)


def calls_before_the_reasoning(_: Trial) -> bool:
    document = StressDocument("d", "Wait 3 days.", True, sub_question="How long?", sub_answer="3 days")
    instance = StressInstance("i", StressTest.ROBUSTNESS, "q", "Is it so?", "A", 100, 1, {"A": "yes", "B": "no"}, (document,))
    call = stress_call(medrgb_prompts()[StressTest.ROBUSTNESS], "m", instance)
    schema = call.body["response_format"]["json_schema"]["schema"]
    return list(schema["properties"]) == ["documents", "sub_answers", "reasoning", "choice"]


def a_passage_of_a_library(trial: Trial) -> bool:
    path = options("stress build", "x", "--out", "y", "--library", str(trial.folder / "library.jsonl")).library
    path.write_text('{"id": "d", "contents": "Fever for 3 days."}\n')
    search = library_search(read_library(path, 1_000, BuildReport()), SearchSettings(), None, trial.folder)
    found = search.with_signal(StressQuestion("q", "How long is fever?", "A"), [Topic("fever", "how long")])
    return [document.text for document in found.documents] == ["Fever for 3 days."]


def topics_of_complementary_pairs(trial: Trial) -> bool:
    table = "q1 kidney ab=DIVERGENT/high ac=COMPLEMENTARY bc=CONSISTENT\nq2 kidney ab=COMPLEMENTARY ac=CONSISTENT bc=CONSISTENT"
    main(["load", str(release_from(trial.folder, table))])
    pairs, topics, out = (trial.folder / name for name in ("pairs.csv", "topics.txt", "themes.json"))
    main(["pairs", "--label", "any", "--out", str(pairs)])
    column = pd.read_csv(pairs)["divergence_topic"].dropna()
    topics.write_text("\n".join(column))
    main(["themes", "build", "--topics", str(topics), "--out", str(out), "--model", "words", "--layout", "principal"])
    return set(column) <= set(read_taxonomy(out).theme_of()) and len(set(column)) > 1


def bertscore_of_roberta(trial: Trial) -> bool:
    asked: list[str] = []

    def stand_in(model: str) -> ReferenceScorer:
        asked.append(model)
        return ReferenceScorer(("bertscore",), model, lambda answers, _: np.full((len(answers), 1), 0.8))

    # The weights are a download
    trial.patch.setattr("audit.pipeline.cli.systems.bertscore_scorer", stand_in)
    tables: dict[str, Any] = system_tables()
    write_release(trial.folder / "release", manifest={"run_id": "tiny"}, questions=[], systems=tables)
    main(["systems", "score", str(trial.folder / "release"), "--bertscore"])
    values = map(json.loads, (trial.folder / "release" / "measures.jsonl").read_text().splitlines())
    return asked == ["roberta-large"] and any(value["measure"] == "bertscore" and value["value"] == 0.8 for value in values)


def carried_out_in(test: str, *words: str) -> Callable[[Trial], bool]:
    """A test elsewhere carries out the command with the option, and looks at what comes of it."""
    return lambda _: all(f'"{word}"' in source_of(test) for word in words)


def paper_setting(*path: str, value: Any) -> Callable[[Trial], bool]:
    def check(trial: Trial) -> bool:
        own: Any = trial.config("paper")
        for name in path:
            own = getattr(own, name)
        return bool(own == value)

    return check


ENGINES, GRADE = "pipeline/corpus/extraction/test_engines.py", "pipeline/cli/test_stress_grade.py"
BUILD = "pipeline/cli/test_stress_build"
RETRIEVAL, OPTIONS = ("retrieval",), ("retrieval", "options")
CHECKS: Mapping[str, Callable[[Trial], bool]] = {
    "s0.extraction": carried_out_in(f"{ENGINES}::test_the_command_has_the_service_read_a_file", "--engine", "llamaparse"),
    "s0.retrieval": lambda trial: trial.config("paper").strategy == "hero",
    "s0.fusion": paper_setting(*OPTIONS, "fusion", value="ranks"),
    "s0.expansion": paper_setting(*OPTIONS, "expand_dense", value=True),
    "s0.parent_sections": section_of_a_hit,
    "s0.neighbour_sections": paper_setting(*OPTIONS, "neighbour_sections", value=1),
    "s0.reranking": paper_setting(*RETRIEVAL, "reranker", value="cross-encoder/ms-marco-MiniLM-L6-v2"),
    "s0.sentence_model": paper_setting(*RETRIEVAL, "encoder", value="BAAI/bge-large-en-v1.5"),
    "s0.contents_pages": lambda trial: not trial.config("paper").retrieval.options.uses("navigation"),
    "s0.prompts": judges_prompt,
    "s0.absence_sentence": lambda trial: trial.config("paper").generate.fixed_absence
    and "exactly this sentence" in (text := load_answer_prompt(fixed_absence=True).system) and "at most" not in text,
    "s0.answer_length": paper_setting("generate", "max_tokens", value=512),
    "s0.absence_check": paper_setting("judge", "absence", value="check"),
    "s0.center_names": paper_setting("judge", "name_centers", value=True),
    "s0.label_first": lambda trial: next(
        iter(load_prompts()[trial.config("paper").judge.protocol].form.schema["properties"])) == "classification",
    "s0.themes_of": topics_of_complementary_pairs,
    "s1.retriever": lambda trial: trial.method().retriever == "dense",
    "s1.features": lambda trial: set(trial.method().daks.weights) == set(PUBLISHED_FEATURES)
    and trial.method().daks.weights["coverage"] > 0 > trial.method().daks.weights["entropy"],
    "s1.entropy": lambda trial: (trial.method().daks.raw_entropy, trial.method().daks.entropy_temperature) == (True, 1.0),
    "s1.base_score": lambda trial: (own := trial.method().consolidation).ranker == "semantic"
    and (own.opening_share, own.route_share) == (0, 0) and 0 < own.retrieval_share < 1,
    "s1.graph": lambda trial: (own := trial.method().graph) is not None and own.seeds > 0 and own.hops > 1
    and min(own.overlap_weight, own.proximity_weight, own.other_source_weight) > 0,
    "s1.packing": lambda trial: (trial.method().packing.as_picked, trial.method().packing.expected_share) == (True, None),
    "s1.entities": own_vocabulary,
    "s2.retrieval": lambda trial: trial.config("s2").strategy == "hybrid",
    "s2.sentence_model": lambda trial: trial.config("s2").retrieval.encoder == "BAAI/bge-large-en-v1.5",
    "s2.expansion": all_terms_above_the_thresholds,
    "s2.corpus": lambda trial: [system.searches_corpus for system in trial.config("s2").systems] == [False, True],
    "s2.refusals": mean_over_refusals,
    "s2.unreadable": zero_points,
    "s2.bertscore": bertscore_of_roberta,
    "s2.question_type": prompt_with_type,
    "s3.facts": carried_out_in(
        f"{BUILD}.py::test_a_model_writes_sub_questions_and_errors_and_what_cannot_be_used_is_counted", "--facts", "model"
    ),
    "s3.documents": a_passage_of_a_library,
    "s3.topics": carried_out_in(
        f"{BUILD}_from_library.py::test_topics_facts_and_rewritten_documents_are_one_run_that_asks_nothing_twice",
        "--library", "--topics", "model",
    ),
    "s3.retriever": carried_out_in(
        "pipeline/embedding/test_medcpt.py::test_a_build_searches_its_library_by_medcpt", "--library", "--retriever", "medcpt"
    ),
    "s3.own_knowledge": lambda trial: own_sufficiency_prompt(trial)
    and "certain" in medrgb_prompts()[StressTest.SUFFICIENCY].system,
    "s3.order": calls_before_the_reasoning,
    "s3.counterfactual": lambda _: "document" in load_fact_prompts(
        None, options("stress build", "x", "--out", "y", "--facts", "model", "--counterfactual", "rewritten").counterfactual
    )[COUNTERFACTUAL].form.schema["properties"],
    "s3.scores": carried_out_in(f"{GRADE}::test_short_answers_are_graded_once_and_exact_ones_without_a_call", "stress", "grade"),
}  # fmt: skip


def name_of(row: Departure) -> str:
    return f"{row.paper}.{row.name}"


@pytest.mark.parametrize("row", [row for row in ROWS if row.remedy], ids=name_of)
def test_the_way_back_that_is_listed_yields_the_papers_setting(row, tmp_path, monkeypatch):
    assert CHECKS[name_of(row)](Trial(tmp_path, monkeypatch)), row.remedy


def test_every_row_has_one_way_back_that_is_proved_or_says_why_there_is_none():
    assert {name_of(row) for row in ROWS if row.remedy} == CHECKS.keys()
    assert all(bool(row.remedy) != bool(row.cannot) for row in ROWS)
    assert len({(row.paper, row.step, row.theirs) for row in ROWS}) == len(ROWS)
    assert {row.paper for row in ROWS} == set(Paper) == set(CITATIONS)


def test_without_the_way_back_the_setting_is_another(tmp_path, monkeypatch):
    # A check that holds by default would prove nothing of its remedy
    trial = Trial(tmp_path, monkeypatch)
    ours = trial.config().retrieval
    assert (ours.options.fusion, ours.options.expand_dense, ours.options.neighbour_sections) == ("scores", False, 0)
    assert CrossSourceSettings().consolidation.ranker != trial.method().consolidation.ranker
    assert replace(trial.method(), graph=None) == trial.method("daks")


def test_every_option_that_a_row_names_is_an_option_of_a_command():
    known = set()
    for command in COMMANDS:
        if command.listed:
            parser = argparse.ArgumentParser()
            command.load()[1](parser)
            known |= {option for action in parser._actions for option in action.option_strings}
    named = {option for row in ROWS for option in re.findall(r"--[a-z][a-z-]+", row.remedy)}
    assert named <= known


def markdown() -> Iterator[str]:
    """The tables of all papers, line by line, as the README has them."""
    for paper in Paper:
        yield from (
            "",
            f"## {CITATIONS[paper]}",
            "",
            "| step | the paper | here | why | to follow the paper |",
            "|---|---|---|---|---|",
        )
        for row in departures(paper):
            yield f"| {row.step} | {row.theirs} | {row.ours} | {row.why} | {row.way_back} |"


def test_the_readme_has_these_rows():
    readme = (Path(audit.papers.__file__).parent / "README.md").read_text()
    assert readme.partition("\n## ")[2] == "\n".join(markdown()).partition("\n## ")[2] + "\n"
