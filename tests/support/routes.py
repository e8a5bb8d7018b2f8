"""A small release of systems that search two sources: three handbooks, three questions, two systems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.release.write import write_release
from audit.store.connection import Connection, open_store
from tests.support.loading import load

Record = dict[str, Any]
Tables = dict[str, list[Record]]
HANDBOOKS = {"dense-1": "Dense", "long-1": "Long", "long-2": "Long"}
"""Handbook -> its source."""
SECTIONS = ("s1", "s2", "s3")
TEXT = "Call us before you travel. Keep your medicine with you."


def routed_source(source_id: str, share: float, budget: int, **others: Any) -> Record:
    """One entry of `routes`."""
    features = {"probed": 20, "peak": 1.0, "mean": 0.5, "margin": 0.2, "entropy": 0.9, "coverage": 4, "score": share}
    return {"source_id": source_id, "authority": 0.5, **features, "share": share, "budget": budget, **others}


def passage(name: str, **others: Any) -> Record:
    """One entry of `evidence` of a name such as "long-1/s2": its first sentence."""
    handbook_id, section_id = name.split("/")
    return {"handbook_id": handbook_id, "section_id": section_id, "start": 0, "end": 26, "base": 0.8, "final": 0.8, **others}


def routed(question_id: str, system_id: str, ranking: Sequence[str], evidence: Sequence[str], **others: Any) -> Record:
    """One record of routes.jsonl: the sources in this order with falling shares, and the passages of these names."""
    shares = (0.7, 0.3) if len(ranking) == 2 else (1.0,)
    routes = [routed_source(name, share, round(20 * share)) for name, share in zip(ranking, shares, strict=True)]
    return {
        "question_id": question_id, "system_id": system_id, "routes": routes, "evidence": [passage(name) for name in evidence],
        "trace": {"settings": {"probe": 20}, "notes": []}, **others,
    }  # fmt: skip


def reference(question_id: str, primary: str, required: Sequence[str], gold: Sequence[str]) -> Record:
    """One record of references.jsonl."""
    sources = {"primary_source": primary, "required_sources": list(required)}
    return {"question_id": question_id, "answers": ["Call us."], "gold_sections": list(gold), **sources}


def route_tables() -> Tables:
    """q1 needs one source, q2 both; `all` searches everything as one, `daks` routes; q3 was not routed by `all`."""
    return {
        "sources": [
            {"source_id": "Dense", "handbook_ids": ["dense-1"], "authority": 0.2, "description": "An encyclopedia"},
            {"source_id": "Long", "handbook_ids": ["long-1", "long-2"]},
        ],
        "systems": [{"system_id": "all", "mode": "retrieval"}, {"system_id": "daks", "mode": "multi_source"}],
        "references": [
            reference("q1", "Long", ["Long"], ["long-1/s1"]),
            reference("q2", "Long", ["Long", "Dense"], ["long-2/s2", "dense-1/s1"]),
            reference("q3", "Dense", ["Dense"], ["dense-1/s3"]),
        ],
        "routes": [
            routed("q1", "all", ["Dense", "Long"], ["dense-1/s1", "dense-1/s2", "long-1/s1"]),
            routed("q1", "daks", ["Long", "Dense"], ["long-1/s1", "dense-1/s1"]),
            routed("q2", "all", ["Dense", "Long"], ["dense-1/s1", "dense-1/s3"]),
            routed("q2", "daks", ["Long", "Dense"], ["long-2/s2", "dense-1/s1"]),
            routed("q3", "daks", ["Dense", "Long"], ["dense-1/s3", "long-2/s1"]),
        ],
    }  # fmt: skip


def routes_release(folder: Path, tables: Tables | None = None, questions: Sequence[str] = ("q1", "q2", "q3")) -> Path:
    """Write a release of these systems with its handbooks and their sections."""
    return write_release(
        folder,
        manifest={"run_id": "routes", "title": "Two systems over two sources"},
        questions=[{"question_id": name, "question": f"What about {name}?"} for name in questions],
        handbooks=[{"handbook_id": name, "organ": "kidney", "center": center} for name, center in HANDBOOKS.items()],
        sections=[
            {"handbook_id": name, "section_id": section, "heading": section, "text": TEXT}
            for name in HANDBOOKS
            for section in SECTIONS
        ],
        systems=tables or route_tables(),
    )


def routes_store(folder: Path, tables: Tables | None = None, questions: Sequence[str] = ("q1", "q2", "q3")) -> Connection:
    """The open store of such a release."""
    return open_store(load(routes_release(folder / "release", tables, questions), folder / "data").run.path)
