"""Make a corpus for `audit reproduce s1` of handbooks in groups and questions with the sections that answer them.

    python examples/cross_source/convert.py DATA --out cross_source
    audit reproduce s1 --corpus cross_source/config.toml

README.md beside this file says what DATA contains.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.text.documents import read_documents, write_document

CONFIG = """\
[corpus]
documents = "documents"
[questions]
file = "questions.jsonl"
references = "references.jsonl"
[retrieval]
encoder = "words"                   # leave it out, and retriever below, where a sentence model is installed
[generate]
generator = "none"
[release]
run_id = "cross-source"
title = "Questions to several sources"
[[systems]]
id = "sources"
mode = "multi_source"
generator = "passages"
group_by = "groups"
groups = {groups}
authority = {authority}
[systems.across]
retriever = "bm25"
"""


def inline(table: Mapping[str, Any]) -> str:
    """A table in one line of TOML."""
    return "{ " + ", ".join(f"{name} = {json.dumps(value)}" for name, value in table.items()) + " }"


def handbook_of(institute: str) -> str:
    """The data name a handbook by its institute: NIDDK is nih-niddk."""
    return f"nih-{institute.lower()}"


def gold_sections(by_institute: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """The gold sections, each with its handbook."""
    for institute, sections in by_institute.items():
        yield from (f"{handbook_of(institute)}/{section}" for section in sections)


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Records as JSON lines."""
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")


def convert(data: Path, out: Path) -> int:
    """Write the corpus; returns the number of questions."""
    (out / "documents").mkdir(parents=True, exist_ok=True)
    for document in read_documents(data / "retrieval" / "nih_handbooks"):
        # The headings repeat the questions
        plain = tuple(replace(section, heading="", above=()) for section in document.sections)
        path = out / "documents" / f"{document.handbook_id}.json.gz"
        write_document(replace(document, organ="general", sections=plain), path)
    declared = json.loads((data / "cross_source" / "sources.json").read_text(encoding="utf-8"))
    with gzip.open(data / "cross_source" / "questions.jsonl.gz", "rt", encoding="utf-8") as file:
        questions = [json.loads(line) for line in file]
    write_lines(
        out / "questions.jsonl",
        ({"question_id": one["question_id"], "question": one["question"], "organ": "general"} for one in questions),
    )
    write_lines(
        out / "references.jsonl",
        (
            {
                "question_id": one["question_id"], "answers": [], "primary_source": one["primary_source"],
                "required_sources": one["required_sources"],
                "gold_sections": list(gold_sections(one["gold_sections"])),
            }
            for one in questions
        ),
    )  # fmt: skip
    groups = {name: [handbook_of(institute) for institute in own] for name, own in declared["groups"].items()}
    (out / "config.toml").write_text(
        CONFIG.format(groups=inline(groups), authority=inline(declared["authority"])), encoding="utf-8"
    )
    return len(questions)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, metavar="DATA", help="the folder with retrieval/ and cross_source/")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to write")
    arguments = parser.parse_args()
    print(f"Wrote {arguments.out}: {convert(arguments.data, arguments.out):,} questions.")
    sys.exit(0)
