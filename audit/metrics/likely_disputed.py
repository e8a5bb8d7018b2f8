"""On which questions handbooks really take several positions: the judge's labels with the judge's errors taken into account."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from audit.metrics import metric
from audit.metrics._cited import differing_amounts
from audit.metrics._shared import DISAGREEING, HANDBOOKS, PRESENT
from audit.queries.judge_errors import judge_errors
from audit.stats.intervals import Floats, Ints, Z
from audit.stats.latent_positions import JudgeErrors, Partitions, amounts_told, listed, partitions, share_disputed
from audit.stats.measured_errors import RATED, REPEATS, SECOND, MeasuredErrors
from audit.store.connection import Connection, arrays, frame, unchanged
from audit.tables import Column, IntervalNote, Population, TableSpec

FALSE_DISCOVERIES = 0.05
SUPPOSED, SUPPOSED_RATE = (0.02, 0.05, 0.1, 0.15), "supposed"
"""Rates of false alarms for which the share is computed too."""
PAIRS_SQL = """
select question, handbook_a, handbook_b, disagrees from judged_pairs where present order by question, handbook_a, handbook_b
"""
QUESTIONS_SQL = """
select question, question_id, text as question_text, organ, count(*) filter (present) as present,
       count(*) filter (disagrees) as disagreeing, count(*) filter (present is not null) as scored
from questions left join judged_pairs using (question) group by all order by question
"""
HOW = (
    "{Handbooks} that share a position agree; the judge calls an agreement a disagreement, and the reverse, at the stated rates. "
    "What that says of positions is computed with all pairs of {a_question} together: one stray label among many is no dispute. "
    "Where the judge cites amounts, a disagreement counts for less if both answers state one, and for more if each states "
    "another; by how much is learned from the run."
)
ERRORS_NOTE = (
    f"Error rates: false alarms from {RATED}; without these from {SECOND}, as if the two err independently, so that an error "
    f"they share is not seen; without one from {REPEATS}, where it changes its mind more often than the assumed rate allows. All "
    "are drawn towards the assumed 5 %, which counts as 20 pairs; without any of them it is assumed. "
    "That two {handbooks} of different positions are not called a disagreement is assumed in 15 % of pairs: no reading shows it."
)
TABLE = TableSpec(
    "{Questions} by the probability that their {handbooks} take several positions",
    (
        Column.text("question_text", "{Question}"), Column.named("organ", "{Organ}"), HANDBOOKS, PRESENT, DISAGREEING,
        Column.share("probability", "Disputed", "probability"), Column.count("positions", "Positions", "most probable number"),
        Column.text("listed", "Listed", words={"yes": "yes", "no": ""}),
    ),
    (
        HOW, ERRORS_NOTE,
        f"Listed: the most probable ones, as many as keep the share of false ones at {FALSE_DISCOVERIES:.0%} on average.",
    ),
    printed_rows=40,
)  # fmt: skip
GLOSSARY = {
    "probably disputed {question}": "{A_question} on which the {handbooks} take several positions with high probability, the "
    "judge's errors taken into account."
}


class QuestionEvidence(NamedTuple):
    """What the labels of a run say of each question with a present pair; lists and arrays in the order of `questions`.

    members    the numbers of its handbooks
    disagrees  (handbooks, handbooks), 1 where the judge calls a disagreement, 0 an agreement, NaN without a present pair
    """

    questions: list[int]
    members: list[Ints]
    found: list[Partitions]
    disagrees: list[Floats]

    @property
    def log_odds(self) -> Floats:
        """(questions,), the evidence for several positions over one."""
        return np.array([one.log_odds for one in self.found])


@metric(sql=QUESTIONS_SQL, table=TABLE, glossary=GLOSSARY)
def likely_disputed(con: Connection) -> pd.DataFrame:
    """The probability that the handbooks that answer a question take several positions, from the judge's labels and its errors.

    One row per question, the most probable first; questions without a present pair last:
        question                      int, number; question_id, question_text, organ  str
        handbooks                     int, in a present pair of the question
        present, disagreeing          int, pairs
        probability                   float in [0, 1]; NaN without a present pair
        positions                     Int64, the most probable number of positions; <NA> without a present pair
        listed                        str, 'yes' or 'no': in the list with on average 5 % false ones

    Source: audit.stats.latent_positions; lists: Efron et al. (2001), J. Am. Stat. Assoc. 96.
    """
    evidence = evidence_of(con, judge_errors(con).errors)
    share = share_disputed(evidence.log_odds)
    probability = np.array([one.disputed(share) for one in evidence.found])
    numbers = [one.numbers(share) for one in evidence.found]
    known = pd.DataFrame(
        {
            "handbooks": list(map(len, evidence.members)), "probability": probability,
            "positions": [max(each, key=lambda number: each[number]) for each in numbers],
            "listed": np.where(listed(probability, FALSE_DISCOVERIES), "yes", "no"),
        },
        index=pd.Index(evidence.questions, name="question"),
    )  # fmt: skip
    table = frame(con, QUESTIONS_SQL).join(known, on="question")
    table = table.assign(
        handbooks=table["handbooks"].fillna(0).astype(int), listed=table["listed"].fillna("no"),
        positions=table["positions"].astype("Int64"),
    )  # fmt: skip
    ordered = table.sort_values(["probability", "disagreeing"], ascending=False, kind="stable", na_position="last")
    columns = ("handbooks", "present", "disagreeing", "probability", "positions", "listed")
    return ordered[["question", "question_id", "question_text", "organ", *columns]].reset_index(drop=True)


SHARE_TABLE = TableSpec(
    "Share of disputed {questions}, the judge's errors taken into account",
    (
        Column.count("questions", "{Questions}", "with a verdict"), Column.count("called", "Called disputed", "by the judge"),
        Column.share("judged", "As the judge labels"), Column.share("share", "Corrected"),
        Column.count("listed", "Listed", "{questions}"), Column.share("false", "False alarms", "of agreements"),
        Column.share("missed", "Missed", "of disagreements"), Column.text("errors", "Error rates from"),
        Column.count("rated", "From pairs", "rated or read twice"),
    ),
    (
        HOW, ERRORS_NOTE,
        IntervalNote(
            Population.QUESTIONS_TO_THESE, "information of the likelihood, with the error of the judge's rates (logit scale)",
            "It takes the judge's errors on two pairs as independent.",
        ),
        "Supposed: what the share would be if the judge saw a disagreement in this share of the pairs that agree.",
    ),
)  # fmt: skip
SHARE_GLOSSARY = {
    "corrected share of disputed {questions}": "The share of {questions} on which {handbooks} take several positions, with the "
    "judge's errors taken into account: one wrong label among hundreds of pairs makes no dispute."
}


@metric(sql=QUESTIONS_SQL, table=SHARE_TABLE, glossary=SHARE_GLOSSARY)
def disputed_share_corrected(con: Connection) -> pd.DataFrame:
    """The share of questions on which the handbooks that answer take several positions, corrected for the judge's errors.

    One row, and one for each of SUPPOSED, with the share if this were the rate of false alarms:
        questions, called        int, questions with a verdict; those of them with a disagreeing pair
        judged                   float in [0, 1], called / questions
        share, share_low, ..._high  float in [0, 1], corrected, of the questions with a verdict; 95 % interval for other questions
                                 put to these handbooks; NaN without questions, or where no question tells
        listed                   int, questions in the list of `likely_disputed`
        false, missed            float in [0, 1], the judge's error rates
        errors                   str, where false alarms are from: a source of audit.stats.measured_errors, or 'supposed'
        rated                    int, pairs rated or read twice

    Source: audit.stats.latent_positions.
    """
    counts, measured = frame(con, QUESTIONS_SQL), judge_errors(con)
    evidence = evidence_of(con, measured.errors)
    scored = int((counts["scored"] > 0).sum())
    called = int((counts["disagreeing"] > 0).sum())
    share = share_disputed(evidence.log_odds)
    # A question on which fewer than two handbooks answer is not disputed
    answered = len(evidence.questions) / scored if scored else np.nan
    slopes = _slopes(evidence, measured)
    low, high = _interval(share, _sampling_se(evidence.log_odds, share), *slopes)
    probability = np.array([one.disputed(share) for one in evidence.found])
    row = {
        "questions": scored, "called": called, "judged": called / scored if scored else np.nan,
        "share": share * answered, "share_low": low * answered, "share_high": high * answered,
        "listed": int(listed(probability, FALSE_DISCOVERIES).sum()), "false": measured.errors.false,
        "missed": measured.errors.missed, "errors": measured.source, "rated": measured.rated,
    }  # fmt: skip
    return pd.DataFrame([row, *(row | other for other in _supposed(evidence, measured.errors, answered, slopes[1]))])


def _supposed(evidence: QuestionEvidence, errors: JudgeErrors, answered: float, missed: float) -> Iterator[dict[str, object]]:
    """The row of each supposed rate of false alarms; its interval takes that rate as known. `missed`: the slope of the other."""
    for false in SUPPOSED:
        log_odds = _log_odds(evidence, errors, replace(errors, false=false))
        share = share_disputed(log_odds)
        low, high = _interval(share, _sampling_se(log_odds, share), missed)
        probability = expit(log_odds + logit(share)) if len(log_odds) else log_odds
        yield {
            "share": share * answered, "share_low": low * answered, "share_high": high * answered,
            "listed": int(listed(probability, FALSE_DISCOVERIES).sum()), "false": false, "errors": SUPPOSED_RATE, "rated": 0,
        }  # fmt: skip


def share_with(table: pd.DataFrame, measured: MeasuredErrors) -> tuple[float, float, float]:
    """The corrected share with its interval, if false alarms are as other ratings of the run measure them.

    table  of `disputed_share_corrected`, between whose supposed rates it interpolates on the scale of logits
    """
    supposed = table[table["errors"] == SUPPOSED_RATE]
    rates, columns = logit(supposed["false"].to_numpy(dtype=float)), ("share", "share_low", "share_high")
    curves = [logit(supposed[name].to_numpy(dtype=float).clip(1e-6, 1 - 1e-6)) for name in columns]
    at = logit(np.clip(measured.errors.false, SUPPOSED[0], SUPPOSED[-1]))
    value, low, high = (float(np.interp(at, rates, curve)) for curve in curves)
    step = measured.se_false / (measured.errors.false * (1 - measured.errors.false))
    moved = np.interp([at - step, at + step], rates, curves[0])
    of_rate = Z * float(np.abs(np.diff(moved)).item()) / 2
    ends = value - np.hypot(value - low, of_rate), value + np.hypot(high - value, of_rate)
    return float(expit(value)), float(expit(ends[0])), float(expit(ends[1]))


_last: dict[tuple[object, ...], QuestionEvidence] = {}
"""The evidence of the store that was read last: three metrics need it, and a large run takes most of a minute."""


def evidence_of(con: Connection, errors: JudgeErrors) -> QuestionEvidence:
    """What labels, and the amounts that the judge cites for them, say of each question with a present pair."""
    store = unchanged(con)
    if store is None:
        return _evidence(con, errors)
    key = (*store, errors)
    kept = _last.get(key)
    if kept is None:
        kept = _evidence(con, errors)
        _last.clear()
        _last[key] = kept
    return kept


def _evidence(con: Connection, errors: JudgeErrors) -> QuestionEvidence:
    columns = arrays(con, PAIRS_SQL)
    question, starts = np.unique(columns["question"], return_index=True)
    ends = [*starts[1:], len(columns["question"])][: len(starts)]
    called = [_called(columns, start, end) for start, end in zip(starts, ends, strict=True)]
    disagrees, evidence = [one for _, one in called], [errors.evidence(one) for _, one in called]
    found = [partitions(one) for one in evidence]
    differing = differing_amounts(con, dict(zip(question.tolist(), (handbooks for handbooks, _ in called), strict=True)))
    amounts = amounts_told(found, share_disputed(np.array([one.log_odds for one in found])), differing)
    for place, cited in enumerate(differing):
        if not np.isnan(cited).all():
            found[place] = partitions(evidence[place] + amounts.evidence(cited))
    return QuestionEvidence(question.tolist(), [handbooks for handbooks, _ in called], found, disagrees)


def _called(columns: dict[str, np.ndarray], start: int, end: int) -> tuple[Ints, Floats]:
    """The handbooks of one question, and every two: 1 where the judge calls it a disagreement, 0 an agreement, NaN no pair."""
    a, b = columns["handbook_a"][start:end], columns["handbook_b"][start:end]
    handbooks, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    first, second = places[: end - start], places[end - start :]
    matrix = np.full((len(handbooks), len(handbooks)), np.nan)
    matrix[first, second] = matrix[second, first] = columns["disagrees"][start:end].astype(float)
    return handbooks, matrix


def _sampling_se(log_odds: Floats, share: float) -> float:
    """The standard error of the share, questions being a sample."""
    odds = np.exp(np.clip(log_odds, -50, 50))
    information = float((((odds - 1) / (1 - share + share * odds)) ** 2).sum())
    return float(1 / np.sqrt(information)) if information > 0 else np.inf


def _slopes(evidence: QuestionEvidence, measured: MeasuredErrors) -> list[float]:
    """How far the share moves with one standard error of each of the judge's error rates."""
    slopes = []
    for name, se in (("false", measured.se_false), ("missed", measured.se_missed)):
        ends = (float(np.clip(getattr(measured.errors, name) + step * se, 0.002, 0.45)) for step in (-1, 1))
        others = [replace(measured.errors, **{name: end}) for end in ends]
        below, above = (share_disputed(_log_odds(evidence, measured.errors, other)) for other in others)
        slopes.append(abs(above - below) / 2)
    return slopes


def _log_odds(evidence: QuestionEvidence, errors: JudgeErrors, other: JudgeErrors) -> Floats:
    """(questions,), with other error rates than those of the evidence."""
    both = zip(evidence.found, evidence.disagrees, strict=True)
    return np.array([found.log_odds_with(other.evidence(one) - errors.evidence(one)) for found, one in both])


def _interval(share: float, *errors: float) -> tuple[float, float]:
    """The 95 % interval of the share with standard errors that add up as squares; NaN where it is none between 0 and 1."""
    if not 0 < share < 1:
        return np.nan, np.nan
    half = Z * float(np.hypot.reduce(errors)) / (share * (1 - share))
    return float(expit(logit(share) - half)), float(expit(logit(share) + half))


THRESHOLDS = (0.05, *(step / 10 for step in range(1, 10)), 0.95)
PER_100 = "per 100 {questions}"
DECISIONS_TABLE = TableSpec(
    "What showing {questions} as disputed costs and gains, by the probability from which they are shown",
    (
        Column.share("threshold", "From probability"), Column.count("shown", "Shown", "{questions}"),
        Column.decimal("shown_per_100", "Shown", PER_100), Column.decimal("found", "Disputed", f"shown, {PER_100}"),
        Column.decimal("false", "Not disputed", f"shown, {PER_100}"),
        Column.decimal("missed", "Disputed", f"not shown, {PER_100}"),
        Column.decimal("net_benefit", "Net benefit", PER_100),
    ),
    (
        HOW,
        "Expected numbers, from the probability of each {question}. The net benefit takes a false one as p / (1 - p) times as "
        "bad as a found one is good, p being the probability from which they are shown: from one half on, both count alike "
        "(Vickers and Elkin 2006).",
    ),
)  # fmt: skip
DECISIONS_GLOSSARY = {
    "net benefit": "How many disputed {questions} a list finds, less the ones on it that are not disputed, weighed by what a "
    "reader thinks them worth (Vickers and Elkin 2006, Med. Decis. Making 26)."
}


@metric(sql=QUESTIONS_SQL, table=DECISIONS_TABLE, glossary=DECISIONS_GLOSSARY)
def dispute_decisions(con: Connection) -> pd.DataFrame:
    """What showing the questions whose probability of a dispute is at least a threshold finds, and what it costs.

    One row per threshold; no row where no question has a verdict:
        threshold   float in (0, 1)
        shown       int, questions with at least this probability
        shown_per_100, found, false, missed  float in [0, 100], per 100 questions with a verdict: questions that are shown; of
                    them disputed and not; disputed ones that are not shown. Expected, from the probabilities
        net_benefit float, found - false * threshold / (1 - threshold)

    Source: audit.stats.latent_positions; Vickers and Elkin (2006), Med. Decis. Making 26.
    """
    scored = int((frame(con, QUESTIONS_SQL)["scored"] > 0).sum())
    return decisions(likely_disputed(con)["probability"].dropna().to_numpy(), scored)


def decisions(probability: Floats, questions: int) -> pd.DataFrame:
    """The rows of `dispute_decisions`: `probability` of each question that has one, of so many with a verdict."""
    listings = []
    for threshold in THRESHOLDS if questions else ():
        shown = probability >= threshold
        found, missed = probability[shown].sum(), probability[~shown].sum()
        listings.append(
            (threshold, int(shown.sum()), *(100 * np.array([shown.sum(), found, shown.sum() - found, missed]) / questions))
        )
    table = pd.DataFrame(listings, columns=["threshold", "shown", "shown_per_100", "found", "false", "missed"])
    return table.assign(net_benefit=table["found"] - table["false"] * table["threshold"] / (1 - table["threshold"]))
