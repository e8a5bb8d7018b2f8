"""A small Chinese and a small Spanish corpus from texts to an export; the four kinds of question that Chen et al. ask."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audit.cli.main import main

NAMES = {"encyclopedia": "百科全书", "classics": "四部医典", "papers": "临床论文", "norte": "Clínica Ñandú"}
CHINESE = {
    "encyclopedia": {"佐太": "佐太是藏药中最重要的成分之一，又名仁青佐珠钦莫。", "沙棘": "沙棘是胡颓子科植物，果实可入药。"},
    "classics": {
        "三因": "《四部医典》说，人体有隆、赤巴、培根三因，三因平衡则无病。",
        "炮制": "《四部医典》说，佐太须经去毒炮制方可入药。",
    },
    "papers": {"临床": "临床试验中，佐太每天服30mg，中风患者的症状减轻。", "安全": "一项研究未见佐太损害肾功能。"},
}
SPANISH = {
    "norte": {"Fiebre": "Llame a la clínica si pasa de 38,5 °C.", "Medicinas": "Tome 30 mg de zuotai cada día. No beba alcohol."},
    "sur": {"Fiebre": "Llame a la clínica si pasa de 38 °C.", "Medicinas": "Tome 60 mg de zuotai cada día."},
    "este": {"Comida": "No coma pescado crudo durante los primeros 3 meses."},
}
# Definition, principle of the classics, clinical evidence, and what needs two sources: question -> where its answer is
KINDS = {
    "什么是沙棘？": ["encyclopedia/沙棘"],
    "《四部医典》的三因是什么？": ["classics/三因"],
    "佐太对中风患者有什么临床疗效？": ["papers/临床"],
    "佐太如何炮制，临床研究中是否损害肾功能？": ["classics/炮制", "papers/安全"],
}
ASKED = {"zh": list(KINDS), "es": ["¿Con cuánta fiebre llamo a la clínica?", "¿Puedo comer pescado crudo?"]}
CONFIG = """
[corpus]
documents = "texts"
[questions]
file = "questions.csv"
references = "references.jsonl"
[retrieval]
encoder = "words"
[generate]
generator = "{generator}"
[judge]
judge = "none"
[release]
run_id = "{language}"
[[systems]]
id = "sources"
mode = "multi_source"
generator = "passages"
[systems.across]
retriever = "bm25"
"""


def corpus(folder: Path, language: str, texts: dict[str, dict[str, str]], generator: str) -> Path:
    """A config of this language with its texts and questions."""
    (folder / "texts").mkdir()
    for center, sections in texts.items():
        record = {
            "handbook_id": center, "organ": "general", "center": NAMES.get(center, center), "phase": "combined",
            "language": language,
            "sections": [{"section_id": name, "heading": name, "above": [], "text": text} for name, text in sections.items()],
        }  # fmt: skip
        (folder / "texts" / f"{center}.json").write_text(json.dumps(record))
    rows = [f"q{number},{question},general" for number, question in enumerate(ASKED[language])]
    (folder / "questions.csv").write_text("\n".join(["question_id,question,organ", *rows]))
    gold = [KINDS.get(question, []) for question in ASKED[language]]
    references = [
        {
            "question_id": f"q{number}", "answers": [], "gold_sections": sections,
            "required_sources": (sources := [NAMES[section.partition("/")[0]] for section in sections]),
            "primary_source": sources[0],
        }
        for number, sections in enumerate(gold) if sections
    ]  # fmt: skip
    (folder / "references.jsonl").write_text("\n".join(map(json.dumps, references)))
    (config := folder / "own.toml").write_text(CONFIG.format(language=language, generator=generator))
    return config


def table(data: Path, language: str, name: str) -> list[dict[str, Any]]:
    path = data / "pipeline" / language / "release" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUDIT_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.mark.parametrize(("language", "texts"), [("zh", CHINESE), ("es", SPANISH)])
def test_what_a_score_means_was_measured_in_english_so_nothing_is_called_silent(tmp_path, data, capsys, language, texts):
    assert main(["run", str(corpus(tmp_path, language, texts, "passages"))]) == 0
    unstemmed = "Text: Chinese (classics, encyclopedia, papers): the search does not know how words of this language change"
    assert (unstemmed in capsys.readouterr().err) == (language == "zh")
    answers = table(data, language, "answers")
    assert len(answers) == len(ASKED[language]) * len(texts)
    assert {answer["found"] for answer in answers} == {"perhaps"}
    assert not any(answer["refused"] for answer in table(data, language, "system_answers"))
    manifest = json.loads((data / "pipeline" / language / "release" / "manifest.json").read_text())
    assert "generator_errors" not in manifest


@pytest.mark.parametrize(("language", "texts"), [("zh", CHINESE), ("es", SPANISH)])
def test_every_file_of_an_export_has_names_as_they_are_written(tmp_path, data, language, texts):
    assert main(["run", str(corpus(tmp_path, language, texts, "passages"))]) == 0
    out = tmp_path / "out"
    assert main(["export", "--run", language, "--out", str(out)]) == 0
    name = NAMES[next(iter(texts))]
    files = [path for kind in ("csv", "markdown", "latex", "json") for path in (out / "tables" / kind).iterdir()]
    for path in (out / "report.html", *(path for path in files if path.stem == "handbooks")):
        assert name in path.read_text("utf-8"), path.name


def test_each_kind_of_question_of_chen_et_al_is_routed_and_finds_what_answers_it(tmp_path, data, capsys):
    assert main(["reproduce", "s1", "--corpus", str(corpus(tmp_path, "zh", CHINESE, "none")), "--json"]) == 0
    rows = {row["title"]: row for one in json.loads(capsys.readouterr().out)["tables"] for row in one["rows"]}
    primary = rows["PrimaryAcc, routing (DAKS)"]
    assert primary["own"].endswith("4 questions"), primary
    routes = {(one["system_id"], one["question_id"]): one for one in table(data, "zh", "routes")}
    for number, sections in enumerate(KINDS.values()):
        evidence = routes["daks", f"q{number}"]["evidence"]
        assert set(sections) <= {f"{one['handbook_id']}/{one['section_id']}" for one in evidence}, number
