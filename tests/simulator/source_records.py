"""The simulated systems that search several sources as records of a release, and the truth that they were made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import numpy as np

from audit.evaluation.gold import ndcg_at
from audit.evaluation.retrieval_measures import QUOTE_CHECK
from audit.pipeline.retrieval.across.budgets import budgets, softmax
from tests.simulator.policies import ASK, phrases, policies
from tests.simulator.retrieval import GIVEN
from tests.simulator.sources import AUTHORITIES, MERGED, ROUTED, ROUTING_SYSTEMS, GivenPassage, SourceWorld
from tests.simulator.system_answers import Record

BUDGET, MINIMUM, TEMPERATURE, PROBE = 20, 1, 0.3, 20
# Share of citations whose quote is not what the section says
MISQUOTED = 0.04
MISQUOTE = "As a rule, "
Tables = Mapping[str, Iterator[Record]]


def with_sources(tables: Tables, sources: SourceWorld) -> dict[str, Iterator[Record]]:
    """The tables of answering systems with the systems that search several sources, the sources, and their routes."""
    added = {
        "systems": _systems(), "system_answers": _answers(sources), "measures": _measures(sources),
    }  # fmt: skip
    return {
        **{name: chain(records, added.get(name, ())) for name, records in tables.items() if name != "references"},
        "references": _references(tables["references"], sources), "sources": _sources(sources), "routes": _routes(sources),
    }  # fmt: skip


def source_truth(sources: SourceWorld) -> Record:
    """The true values of the routing systems.

    rates      system_id -> expected PrimaryAcc, Top2Hit and CrossEv@5
    questions  question_id -> required sources, the primary one first
    misquoted  citations of an answer whose quote is not in the section, as [question_id, system_id, number from 1]
    """
    rates = {
        one.id: {"PrimaryAcc": one.first, "Top2Hit": round(one.first + one.second, 4), "CrossEv@5": one.covers}
        for one in ROUTING_SYSTEMS
    }
    questions = sources.systems.world.questions
    misquoted = [
        [question.id, system.id, index]
        for number, question in enumerate(questions)
        for row, system in enumerate(ROUTING_SYSTEMS)
        for index, wrong in enumerate(_misquotes(sources, row, number), 1)
        if wrong
    ]
    needed = {question.id: _required(sources, number) for number, question in enumerate(questions)}
    return {"rates": rates, "questions": needed, "misquoted": misquoted}


def _sources(sources: SourceWorld) -> Iterator[Record]:
    books = sources.systems.world.handbooks
    for number, center in enumerate(sources.centers):
        yield {
            "source_id": sources.source_ids[center], "handbook_ids": [book.id for book in books if book.center == center],
            "authority": _authority(number), "description": "The handbooks of one fictional center.",
        }  # fmt: skip


def _authority(number: int) -> float:
    return AUTHORITIES[number % len(AUTHORITIES)]


def _systems() -> Iterator[Record]:
    for system in ROUTING_SYSTEMS:
        yield {
            "system_id": system.id, "name": system.name, "model": "demo-model", "mode": system.mode,
            "retriever": system.retriever, "settings": {"budget": BUDGET, "passages": GIVEN},
            "description": "Simulated: ranks the right source first, and covers all of them, at known rates.",
        }  # fmt: skip


def _required(sources: SourceWorld, number: int) -> list[str]:
    return [sources.source_ids[sources.center_of[book]] for book in sources.systems.required(number)]


def _references(references: Iterator[Record], sources: SourceWorld) -> Iterator[Record]:
    for number, record in enumerate(references):
        needed = _required(sources, number)
        yield record | ({"primary_source": needed[0], "required_sources": needed} if needed else {})


def _answers(sources: SourceWorld) -> Iterator[Record]:
    """One statement of each section that was found, with the center that says so; a refusal where none was."""
    world = sources.systems.world
    for number, question in enumerate(world.questions):
        for row, system in enumerate(ROUTING_SYSTEMS):
            passages = sources.evidence[row][number]
            text, citations = _statements(sources, row, number)
            refusal = phrases()["systems"]["refusal"][0].format(theme=policies()[question.policy].theme)
            output = len(text or refusal) // 4
            yield {
                "question_id": question.id, "system_id": system.id, "answer": text or refusal, "refused": not text,
                "evidence": [
                    {"handbook_id": world.handbooks[one.handbook].id, "section_id": one.section_id, "score": _base(rank)}
                    for rank, one in enumerate(passages, 1)
                ],
                "citations": citations,
                "usage": {"input_tokens": 60 + 110 * GIVEN, "output_tokens": output, "latency_s": round(0.3 + 0.012 * output, 2)},
            }  # fmt: skip


def _statements(sources: SourceWorld, row: int, number: int) -> tuple[str, list[Record]]:
    """The answer, and what each of its statements cites, with the place of the statement in the answer."""
    world, text = sources.systems.world, ""
    citations: list[Record] = []
    cited = [(index, one) for index, one in enumerate(sources.evidence[row][number], 1) if one.is_gold]
    for (index, one), wrong in zip(cited, _misquotes(sources, row, number), strict=True):
        says, start = _stated_sentence(sources, number, one.handbook)
        statement = f"{sources.source_ids[sources.center_of[one.handbook]]}: {says}"
        text += " " * bool(text)
        citations.append(
            {
                "passage": index, "handbook_id": world.handbooks[one.handbook].id, "section_id": one.section_id, "known": True,
                "quote": MISQUOTE + says if wrong else says, "quote_start": start, "quote_end": start + len(says),
                "start": len(text), "end": len(text) + len(statement),
            }
        )  # fmt: skip
        text += statement
    return text, citations


def _stated_sentence(sources: SourceWorld, number: int, book: int) -> tuple[str, int]:
    """The sentence with which a handbook answers a question, and its first character in the section."""
    asked, texts = sources.systems.world.questions[number], sources.systems.searches.library
    sentences = texts.sentences(asked.policy, book)
    # The advice that all share comes before the value, where a section has both
    index = int(asked.aspect == ASK and bool(texts.advises[asked.policy, book]))
    return sentences[index], len(" ".join([*sentences[:index], ""]))


def _misquotes(sources: SourceWorld, row: int, number: int) -> list[bool]:
    """Whether the quote of each citation of an answer is not what its section says."""
    cited = sum(one.is_gold for one in sources.evidence[row][number])
    drawn: list[bool] = (
        np.random.default_rng([sources.systems.world.config.seed, 17, row, number]).random(cited) < MISQUOTED
    ).tolist()
    return drawn


def _measures(sources: SourceWorld) -> Iterator[Record]:
    """The measures of retrieval, from the evidence, and the share of quotes that are in their sections."""
    world = sources.systems.world
    for number, question in enumerate(world.questions):
        for row, system in enumerate(ROUTING_SYSTEMS):
            if wrong := _misquotes(sources, row, number):
                value = round(1 - sum(wrong) / len(wrong), 6)
                yield {"question_id": question.id, "system_id": system.id, "measure": QUOTE_CHECK, "value": value}
        if gold := sources.systems.gold(number):
            for row, system in enumerate(ROUTING_SYSTEMS):
                ranked = [f"{world.handbooks[one.handbook].id}/{one.section_id}" for one in sources.evidence[row][number]]
                hits = [rank for rank, name in enumerate(ranked, 1) if name in gold]
                values = {
                    "p_at_5": len(hits) / GIVEN, "recall_at_5": len(hits) / len(gold),
                    "ndcg": ndcg_at(ranked, gold, GIVEN) or 0.0, "mrr": 1 / hits[0] if hits else 0.0,
                }  # fmt: skip
                for measure, value in values.items():
                    ids = {"question_id": question.id, "system_id": system.id}
                    yield ids | {"measure": measure, "value": round(value, 6)}


def _routes(sources: SourceWorld) -> Iterator[Record]:
    """The routes of the system that scores sources; of the other, which does not, the evidence alone."""
    for number, question in enumerate(sources.systems.world.questions):
        for row, system in enumerate(ROUTING_SYSTEMS):
            passages = sources.evidence[row][number]
            evidence = [_passage(sources, number, rank, one, bridges=system is ROUTED) for rank, one in enumerate(passages, 1)]
            ids = {"question_id": question.id, "system_id": system.id}
            if system is MERGED:
                yield ids | {
                    "evidence": evidence,
                    "trace": {"settings": {"retriever": MERGED.retriever, "passages": GIVEN}, "notes": []},
                }
            else:
                yield ids | {
                    "routes": _source_routes(sources, row, number), "evidence": evidence,
                    "trace": _trace(sources, number, passages),
                }  # fmt: skip


def _source_routes(sources: SourceWorld, row: int, number: int) -> list[Record]:
    """The routing decision about each center, best first: scores that fall with the rank, and budgets by their softmax."""
    centers = sources.ranking(row, number)
    rng = np.random.default_rng([sources.systems.world.config.seed, 18, row, number])
    chance = np.sort(rng.random(len(centers)))[::-1]
    scores = np.round(2.0 - 1.5 * np.arange(len(centers)) / len(centers) + 0.4 * chance, 4)
    shares = softmax(scores, TEMPERATURE)
    taken = budgets(shares.tolist(), BUDGET, MINIMUM)
    routes = []
    for rank, (center, score, share) in enumerate(zip(centers, scores.tolist(), shares.tolist(), strict=True)):
        peak = score / float(scores[0])
        routes.append(
            {
                "source_id": sources.source_ids[center], "authority": _authority(sources.centers.index(center)),
                "probed": PROBE, "peak": round(peak, 4), "mean": round(0.7 * peak, 4), "margin": round(0.4 * peak, 4),
                "entropy": round(1 - 0.3 * peak, 4), "coverage": round(0.5 + 0.4 * peak, 4), "score": score,
                "share": round(share, 6), "budget": taken[rank],
            }
        )  # fmt: skip
    return routes


def _passage(sources: SourceWorld, number: int, rank: int, one: GivenPassage, *, bridges: bool) -> Record:
    """A passage of the evidence: its whole section. A further position is found over the graph, by the words that all share."""
    world, needed = sources.systems.world, sources.systems.required(number)
    base, support = _base(rank), 0.9 if one.is_gold else 0.4
    scores = {"base": base, "support": support, "final": round(0.6 * base + 0.4 * support, 4)} if bridges else {"base": base}
    return {
        "handbook_id": world.handbooks[one.handbook].id, "section_id": one.section_id,
        "source_id": sources.source_ids[sources.center_of[one.handbook]], "rank": rank, **scores,
        "bridged": bridges and one.is_gold and one.handbook in needed[1:],
    }  # fmt: skip


def _base(rank: int) -> float:
    return round(0.9 / (1 + 0.2 * rank), 4)


def _trace(sources: SourceWorld, number: int, passages: list[GivenPassage]) -> Record:
    """How the evidence came about: settings, the policy as the entity that links its passages, and the packing."""
    books = sources.systems.world.handbooks
    entity = {"kind": "topic", "name": policies()[sources.systems.world.questions[number].policy].theme}
    chunks = [f"{books[one.handbook].id}/{one.section_id}#0" for one in passages]
    return {
        "settings": {
            "retriever": ROUTED.retriever, "budget": BUDGET, "minimum": MINIMUM, "temperature": TEMPERATURE, "passages": GIVEN,
        },
        "entities": [entity], "seeds": [entity],
        "edges": [{"chunk": chunk, **entity} for chunk, one in zip(chunks, passages, strict=True) if one.is_gold],
        "packing": [
            {"chunk": chunk, "source_id": sources.source_ids[sources.center_of[one.handbook]], "decision": "packed"}
            for chunk, one in zip(chunks, passages, strict=True)
        ],
        "notes": [] if sources.systems.required(number) else ["No handbook answers this question."],
    }  # fmt: skip
