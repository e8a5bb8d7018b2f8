"""How often the closest passages of a document hold the answer, and how often "not found" is wrong; chooses the thresholds.

    python -m benchmarks.closest [WAY ...] [--curve] [--list] [--many]

341 questions in patients' words on 19 documents of US institutes, all in benchmarks/gold (closest.md says how they were made).
Ways: words (static word vectors and BM25: what runs without a sentence model), minilm (MiniLM and BM25, with the extra `models`),
and for comparison bm25, static, sentences (one part alone). Without WAY: words, bm25, static, half a minute; minilm takes five.

Right: the two passages that an answer quotes hold half or more of a quote that answers the question, word for word in one run.
--many   from which score the first of several documents is stated wrongly as rarely as a single one ("more" in found.toml), and
         from which a document cut short is called silent as rarely as a whole one ("shorter"); half `tune`.

Documents are split: thresholds are chosen on half `tune` (the lines "rule"), and found.toml has what they do on half `held`.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from audit.pipeline.embedding.encoders import MINILM, Encoder, sentence_encoder
from audit.pipeline.retrieval import closest, found
from audit.text.documents import read_document
from audit.vocabulary import Found

GOLD = Path(__file__).with_name("gold")
CACHE = Path(__file__).parent.parent / "data" / "vectors"
TUNE, HELD = "tune", "held"
CURVES = Path(__file__).parent.parent / "audit" / "evaluation" / "search_curves.csv"
MEASURED = (found.MINILM, found.WORDS)
"""The ways that a run uses, so found.toml has their thresholds."""
QUOTED = 2
"""Passages that an answer quotes."""
WRONGLY_STATED, FALSELY_SILENT = 0.02, 0.05
"""The rule: at most this share of all questions is stated wrongly, at most this share of those with an answer is not found."""
RIGHT, PARTLY = 0.5, 0.2
DRAWS, SEED = 20, 1
WORD = re.compile(r"[^\W_]+")
NO_VECTORS = Encoder("none", "0" * 64, lambda texts, _progress: np.zeros((len(texts), 1), dtype=np.float32))
Row = dict[str, Any]
WAYS: dict[str, tuple[Callable[[], Encoder | None], float]] = {
    found.WORDS: (lambda: None, closest.BM25_WEIGHT),
    found.MINILM: (lambda: sentence_encoder(MINILM), closest.BM25_WEIGHT),
    "bm25": (lambda: NO_VECTORS, closest.BM25_WEIGHT),
    "static": (lambda: None, 0.0),
    "sentences": (lambda: sentence_encoder(MINILM), 0.0),
}
"""Way -> its encoder and what a unit of BM25 is worth."""


@dataclass(frozen=True)
class Asked:
    """A question with what was found: the score of the closest passage, and the share of an answering quote that is quoted."""

    half: str
    document: str
    question: str
    answered: bool
    score: float
    held: float
    passages: tuple[str, ...]


def main() -> None:
    """Read the command line, run, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ways", nargs="*", metavar="WAY", choices=[[], *WAYS], default=[])
    parser.add_argument("--curve", action="store_true", help=f"write the curves on half held, which *Trust* draws: {CURVES.name}")
    parser.add_argument("--many", action="store_true", help="several documents at once, and documents cut short")
    parser.add_argument("--list", action="store_true", help="print each question with what was quoted")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for way in arguments.ways or (found.WORDS, "bm25", "static"):
        if arguments.many:
            print_among(way)
            print_cut(way)
            continue
        results = ask(way)
        for half in (TUNE, HELD):
            of_half = [one for one in results if one.half == half]
            print(f"{way}, {half}: {len(of_half)} questions, AUC {auc(of_half):.3f} {curve_words(of_half)}")
            if way in MEASURED:
                print_states(of_half, found.thresholds(way))
        stated, perhaps = chosen([one for one in results if one.half == TUNE])
        print(f"{way}, rule: stated = {stated:.3f}, perhaps = {perhaps:.3f}\n", flush=True)
        held = [one for one in results if one.half == HELD]
        if way in MEASURED:
            print_errors(way, held, states := [found.thresholds(way).found(one.score) for one in held])
            rows += [{"way": way, **row} for row in curve(held, found.thresholds(way))]
        if way == found.MINILM:
            by_words = [one for one in ask(found.WORDS) if one.half == HELD]
            other = [found.thresholds(found.WORDS).found(one.score) for one in by_words]
            same = [one.passages[0] == two.passages[0] for one, two in zip(held, by_words, strict=True)]
            print_errors(found.BOTH, held, list(map(found.agreed, states, other, same)))
        if arguments.list:
            print_list(results)
    if arguments.curve:
        with CURVES.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            table.writeheader()
            table.writerows(rows)


def ask(way: str) -> list[Asked]:
    """Every question of the gold set, put to its document. Checks that each quote occurs there."""
    encoder_of, closest.BM25_WEIGHT = WAYS[way]
    encoder, results = encoder_of(), list[Asked]()
    passages: dict[str, closest.ClosestPassages] = {}
    for line in (GOLD / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        name = record["document"]
        if name not in passages:
            document = read_document(GOLD / "documents" / f"{name}.json")
            passages[name] = closest.ClosestPassages(document, encoder, CACHE)
        document, quotes = passages[name].document, [words(quote) for quote in record["answer"]]
        whole = f" {' '.join(words(document.full_text))} "
        if lost := [" ".join(quote) for quote in quotes if f" {' '.join(quote)} " not in whole]:
            raise SystemExit(f"{name} does not say: {lost[0]}")
        near = passages[name].closest(record["question"], QUOTED)
        texts = tuple(" ".join((*passage.place.leads, *passage.text.split())) for passage in near)
        share = max((longest_run(quote, words(text)) / len(quote) for quote in quotes for text in texts), default=0.0)
        results.append(Asked(record["half"], name, record["question"], bool(quotes), near[0].score, share, texts))
    return results


def _tuned(way: str) -> tuple[list[Row], dict[str, closest.ClosestPassages]]:
    """The questions of half `tune`, and its documents."""
    encoder_of, closest.BM25_WEIGHT = WAYS[way]
    records = [json.loads(line) for line in (GOLD / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    records, encoder = [record for record in records if record["half"] == TUNE], encoder_of()
    documents = (read_document(GOLD / "documents" / f"{name}.json") for name in sorted({one["document"] for one in records}))
    return records, {one.handbook_id: closest.ClosestPassages(one, encoder, CACHE) for one in documents}


def print_among(way: str) -> None:
    """Each question is put to several documents; of them the one whose passage is closest is right or wrong.

    A document on another subject answers it only where the gold set says so (`also`).
    """
    records, passages = _tuned(way)
    scored = [(record, {name: _closest(record, one) for name, one in passages.items()}) for record in records]
    luck = np.random.default_rng(SEED)
    for count in (1, 2, 3, 5, len(passages)):
        limits, right = [], []
        for _ in range(DRAWS):
            firsts = []
            for record, by_document in scored:
                others = [name for name in passages if name != record["document"]]
                chosen = [record["document"], *luck.choice(others, count - 1, replace=False)]
                firsts.append(max(by_document[name] for name in chosen))
            stated = _stated_rule(firsts)
            limits.append(stated)
            right.append(sum(is_right for score, is_right in firsts if score >= stated))
        print(
            f"{way}, first of {count}: stated = {np.mean(limits):.3f}, right {np.mean(right):.0f} of {len(records)}", flush=True
        )


def _closest(record: Row, document: closest.ClosestPassages) -> tuple[float, bool]:
    """The score of the closest passage, and whether one of two quotes the answer."""
    near = document.closest(record["question"], QUOTED)
    is_right = document.document.handbook_id in record.get("also", ())
    if document.document.handbook_id == record["document"]:
        is_right = any(_quotes(record, " ".join((*one.place.leads, one.text))) for one in near)
    return near[0].score, is_right


def _quotes(record: Row, text: str) -> bool:
    return any(longest_run(words(quote), words(text)) >= RIGHT * len(words(quote)) for quote in record["answer"])


def _stated_rule(firsts: Sequence[tuple[float, bool]]) -> float:
    """The lowest score from which at most the share WRONGLY_STATED is wrong."""
    wrong, lowest = 0, float("inf")
    for score, is_right in sorted(firsts, reverse=True):
        wrong += not is_right
        if wrong > WRONGLY_STATED * len(firsts):
            break
        lowest = score
    return lowest


def print_cut(way: str) -> None:
    """Documents cut to a few passages around the answer: how many answers are not found there.

    BM25 counts words in the whole document, so that no cut has to be read again.
    """
    records, passages = _tuned(way)
    luck = np.random.default_rng(SEED)
    limit = found.thresholds(way if way in MEASURED else found.WORDS).perhaps
    for length in (6, 9, 12, 16, 24):
        scores = []
        for record in records:
            document = passages[record["document"]]
            texts = [" ".join((*place.leads, document._text(place.section, place.start, place.end))) for place in document.places]
            places = [number for number, text in enumerate(texts) if _quotes(record, text)]
            if not places or len(texts) <= length:
                continue
            start = int(np.clip(places[0] - luck.integers(0, length), 0, len(texts) - length))
            scores.append(document.relative(document.similarities(record["question"])[0][start : start + length]).max())
        missed, at = np.mean(np.array(scores) < limit), np.quantile(scores, FALSELY_SILENT)
        print(f"{way}, {length} passages: {missed:.0%} of {len(scores)} not found, 5 % below {at:.3f}", flush=True)


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return WORD.findall(text.lower())


def longest_run(quote: Sequence[str], text: Sequence[str]) -> int:
    """How many words of the quote follow each other in the text, at most."""
    longest, before = 0, [0] * (len(text) + 1)
    for word in quote:
        now = [0, *(before[place] + 1 if word == other else 0 for place, other in enumerate(text))]
        longest, before = max(longest, *now), now
    return longest


def auc(results: Sequence[Asked]) -> float:
    """The probability that a question whose answer is quoted scores above one whose answer is not."""
    right = np.array([one.score for one in results if one.held >= RIGHT])
    wrong = np.array([one.score for one in results if one.held < RIGHT])
    return float(((right[:, None] > wrong) + 0.5 * (right[:, None] == wrong)).mean())


def curve(results: Sequence[Asked], thresholds: found.Thresholds | None = None) -> Iterator[Row]:
    """For each score: with how many questions at or above it the answer is quoted, with how many not, and how many are missed.

    missed  questions with an answer below it. state  that whose lowest score this is, by `thresholds`; "" for all others
    """
    scores = sorted({one.score for one in results}, reverse=True)
    for score, lower in zip(scores, [*scores[1:], None], strict=True):
        above = [one for one in results if one.score >= score]
        state = thresholds.found(score) if thresholds else None
        yield {
            "threshold": score,
            "right": sum(one.held >= RIGHT for one in above),
            "wrong": sum(one.held < RIGHT for one in above),
            "missed": sum(one.answered and one.score < score for one in results),
            "answered": sum(one.answered for one in results),
            "questions": len(results),
            "state": state.value if thresholds and state and state is not thresholds.found(lower) else "",
        }


def print_errors(way: str, results: Sequence[Asked], of_results: Sequence[Found]) -> None:
    """The counts of found.toml, of results with these states."""
    states = list(zip(of_results, results, strict=True))
    counts = {
        "missed": sum(one.answered and state is Found.NOT_FOUND for state, one in states),
        "answered": sum(one.answered for one in results),
        "found": sum(not one.answered and state is not Found.NOT_FOUND for state, one in states),
        "unanswered": sum(not one.answered for one in results),
        "stated_right": sum(state is Found.STATED and one.held >= RIGHT for state, one in states),
        "stated_wrong": sum(state is Found.STATED and one.held < RIGHT for state, one in states),
    }
    print(f"[{way}]", *(f"{name} = {count}" for name, count in counts.items()), sep="\n")


def curve_words(results: Sequence[Asked]) -> str:
    """The curve at four shares of wrong answers, in percent of all questions: right / falsely not found."""
    parts, of = [], len(results) / 100
    for wrong in (5, 8, 10, 15):
        best = max((row for row in curve(results) if row["wrong"] <= wrong * of), key=lambda row: row["right"], default=None)
        parts.append(f"{wrong} wrong: " + (f"{best['right'] / of:.0f} / {best['missed'] / of:.0f}" if best else "-"))
    return "; ".join(parts)


def chosen(results: Sequence[Asked]) -> tuple[float, float]:
    """The thresholds by the rule, in whole hundredths: stated rounded up, perhaps rounded down."""
    stated = min(row["threshold"] for row in curve(results) if row["wrong"] <= WRONGLY_STATED * len(results))
    answered = sorted(one.score for one in results if one.answered)
    return float(np.ceil(stated * 100) / 100), float(np.floor(answered[int(FALSELY_SILENT * len(answered))] * 100) / 100)


def outcome(one: Asked) -> str:
    """Right, partly or wrong where the document answers; nothing to find where it does not."""
    if not one.answered:
        return "no answer there"
    return "right" if one.held >= RIGHT else "partly" if one.held >= PARTLY else "wrong"


def print_states(results: Sequence[Asked], thresholds: found.Thresholds) -> None:
    """A row for each state, a column for each outcome."""
    counts = Counter((thresholds.found(one.score), outcome(one)) for one in results)
    names = ("right", "partly", "wrong", "no answer there")
    print(f"    {'':10}" + "".join(f"{name:>16}" for name in names))
    for state in Found:
        print(f"    {state.value:10}" + "".join(f"{counts[state, name]:16}" for name in names))


def print_list(results: Sequence[Asked]) -> None:
    """Every question with its outcome and what was quoted, the closest first."""
    for one in sorted(results, key=lambda one: -one.score):
        print(f"\n{one.score:.2f} {outcome(one)} ({one.half}, {one.document}): {one.question}")
        print(*(f"    > {text}" for text in one.passages), sep="\n")


if __name__ == "__main__":
    main()
