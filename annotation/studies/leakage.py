"""What the style of answers gives away: whether a classifier tells whose answer it is, as a measured property of blinding.

    leakage_of_run(run, plan).sentence()

A linear classifier of words and letters is trained on answers to other questions, five times, and names the author of each
answer as raters read it. Raters who know the institutions may do better or worse; the figure is what the texts hold at least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.seals import LEAKAGE, last_event, record_study_event
from annotation.label_store.studies import Study, find_study, items_shown
from annotation.studies.exit_answers import exit_sentence
from annotation.studies.rewordings import REWORDED, rewording_words
from annotation.studies.sample_plan import Plan
from annotation.studies.sampling import DrawnSample, plan_of
from annotation.studies.shown_answers import Presenter, learned_from, presenter_of_run
from annotation.studies.verdict_store import find_origin, sample_digest
from audit.errors import AuditError
from audit.formatting import fixed
from audit.optional_imports import optional
from audit.stats.clustered import clustered_ratio_interval
from audit.store.connection import open_store, rows
from audit.store.runs import Run
from audit.tables import Column, TableSpec
from audit.vocabulary import NOTHING_SAID

FOLDS, SEED = 5, 1
MOST_ITEMS, MOST_TRAINING = 1_000, 2_000
LEAST_QUESTIONS = 10
TELLING_SHOWN = 5
NOT_MEASURED = "What the style of the answers gives away of whose they are was not measured."
WORDS = {"ngram_range": (1, 2), "sublinear_tf": True, "min_df": 2}
LETTERS = {"analyzer": "char_wb", "ngram_range": (3, 4), "sublinear_tf": True, "min_df": 2, "max_features": 30_000}
PAIRS = """
select q.question_id, q.text, a.handbook_id, b.handbook_id, x.answer, y.answer
from pairs p
join questions q using (question)
join handbooks a on a.handbook = p.handbook_a
join handbooks b on b.handbook = p.handbook_b
join answers x on x.question = p.question and x.handbook = p.handbook_a and not coalesce(x.absent, false)
join answers y on y.question = p.question and y.handbook = p.handbook_b and not coalesce(y.absent, false)
where x.answer is not null and y.answer is not null
order by md5(q.question_id || a.handbook_id || b.handbook_id)
"""
TABLE = TableSpec(
    "What the style of the answers gives away",
    (
        Column.text("whose", "Whose answers"),
        Column.count("n", "n", "answers"),
        Column.share("share", "Named right", "by a classifier"),
        Column.text("phrases", "Words that it goes by"),
    ),
    (
        "A linear classifier of words and letters, trained on answers to other questions as raters read them; intervals: 95 %, "
        "for other questions. The words are those that speak most for a handbook, learned from all answers.",
    ),
)
TABLE_COLUMNS = [*(column.name for column in TABLE.columns), "share_low", "share_high"]
Bools = npt.NDArray[np.bool_]


class Shown(NamedTuple):
    """An item as raters read it: its question, whose two answers, the answers."""

    question: str
    first: str
    second: str
    answer_a: str
    answer_b: str


@dataclass(frozen=True)
class Leakage:
    """How often the classifier is right, about answers as raters read them.

    answers, items     how many were tried; items have two answers that say something
    named              share of the answers whose author it names, with the ends of its 95 % interval; `chance` is the share that
                       the commonest author has
    told               share of the items in which it tells which of the two authors wrote which answer; by chance one half
    by_handbook        (author, answers, share right, low, high, telling phrases)
    shown              how the answers are shown, in words
    """

    answers: int
    items: int
    named: tuple[float, float, float]
    chance: float
    told: tuple[float, float, float]
    by_handbook: tuple[tuple[str, int, float, float, float, str], ...] = ()
    shown: str = ""

    def sentence(self) -> str:
        """The figures, and what they mean, in words."""
        named, told = (f"{fixed(value, 2)} ({fixed(low, 2)} to {fixed(high, 2)})" for value, low, high in (self.named, self.told))
        return (
            f"What style gives away ({self.shown}): a classifier trained on answers to other questions names the author of "
            f"{named} of {self.answers:,} answers, where always naming the commonest gives {fixed(self.chance, 2)}, and tells "
            f"which of an item's two answers is whose in {told} of {self.items:,} items, where guessing gives 0.50. "
            f"{self._meaning()}"
        )

    def _meaning(self) -> str:
        if self.told[1] <= 0.5:
            return "These answers do not tell more than guessing."
        return "So raters who know an institution's style are not blinded by masked names, and others may learn it."

    def frame(self) -> pd.DataFrame:
        """One row per author, and one for all answers, with the columns of TABLE."""
        every = ("all", self.answers, self.named[0], *self.named[1:], "")
        found = [(whose, n, share, phrases, low, high) for whose, n, share, low, high, phrases in (every, *self.by_handbook)]
        return pd.DataFrame(found, columns=TABLE_COLUMNS)


def leakage_of_run(run: Run, plan: Plan) -> Leakage:
    """The leakage of a run's pairs of answers as a plan shows them; MOST_ITEMS of them where there are more.

    Raises StudyError where the run has too few answers, MissingLibraryError without scikit-learn.
    """
    with open_store(run.path) as con:
        presenter = presenter_of_run(con, plan)
        pairs = rows(con, f"{PAIRS} limit {MOST_ITEMS}")
        shown = [
            Shown(question, a, b, *presenter.pair(text, (a, b), (first, second))) for question, text, a, b, first, second in pairs
        ]
        training = [(question, whose, presenter.whole(text)) for whose, question, text in learned_from(con, MOST_TRAINING)]
    return leakage(shown, shown_words(plan), training)


def leakage_of_sample(drawn: DrawnSample) -> Leakage:
    """The leakage of a sample that was drawn; the classifier learns from its own items."""
    items = [item for item in drawn.items if item.repeat_of is None]
    shown = [Shown(item.question_id, item.handbook_a, item.handbook_b, item.answer_a, item.answer_b) for item in items]
    return leakage(shown, shown_words(plan_of(drawn.origin), reworded=REWORDED in drawn.origin.plan))


def leakage_sentence(drawn: DrawnSample) -> str:
    """What the style of a drawn sample's answers gives away, or why it was not measured."""
    try:
        return leakage_of_sample(drawn).sentence()
    except AuditError as error:
        return str(error)


def leakage_of_study(store: LabelStore, study: Study, run: Run | None) -> Leakage:
    """The leakage of a study's items as they are stored; where its run is loaded, its answers are learned from too."""
    origin = find_origin(store, study.study_id)
    plan, reworded = plan_of(origin), REWORDED in origin.plan
    shown = [Shown(*item) for item in items_shown(store, study.study_id)]
    training: list[tuple[str, str, str]] = []
    # What the run has is not in the words that raters read where a model reworded these
    if run is not None and not (plan.names_shown or reworded or "systems" in origin.plan):
        with open_store(run.path) as con:
            presenter: Presenter = presenter_of_run(con, plan)
            training = [(question, whose, presenter.whole(text)) for whose, question, text in learned_from(con, MOST_TRAINING)]
    return leakage(shown, shown_words(plan, reworded=reworded), training)


def shown_words(plan: Plan, *, reworded: bool = False) -> str:
    """How a plan shows answers, in words."""
    if plan.names_shown:
        return "names shown"
    what = f"{plan.statements} statements of each answer" if plan.statements > 1 else "1 statement of each answer"
    phrases = ", phrases of one handbook masked" if plan.phrases_masked else ""
    words = ", in a model's words" if reworded else ""
    return f"{what if plan.statements else 'whole answers'}, names masked{phrases}{words}"


def leakage(items: Sequence[Shown], shown: str, training: Sequence[tuple[str, str, str]] = ()) -> Leakage:
    """The leakage of these items.

    training  further texts to learn from: (question, author, text). Only those of other questions are used for an answer

    Raises StudyError where there are too few.
    """
    both = [item for item in items if NOTHING_SAID not in (item.answer_a, item.answer_b) and item.first != item.second]
    own = {(item.question, whose, text) for item in both for whose, text in zip(item[1:3], item[3:5], strict=True)}
    texts = sorted(own | set(training))
    questions = sorted({item.question for item in both})
    if len(questions) < LEAST_QUESTIONS:
        raise StudyError(
            f"What the style of the answers gives away was not measured: only {len(questions)} questions have two answers that "
            f"say something, and a classifier needs {LEAST_QUESTIONS}."
        )
    order = np.random.default_rng(SEED).permutation(sorted({question for question, _, _ in texts})).tolist()
    number = {question: n for n, question in enumerate(order)}
    named, told = np.zeros((len(both), 2), dtype=bool), np.full(len(both), 0.5)
    for fold in range(FOLDS):
        tried = [n for n, item in enumerate(both) if number[item.question] % FOLDS == fold]
        rest = [text for text in texts if number[text[0]] % FOLDS != fold]
        if tried and len({whose for _, whose, _ in rest}) > 1:
            named[tried], told[tried] = _tried(_Classifier(rest), [both[n] for n in tried])
    return _figures(both, named, told, texts, shown)


class _Classifier:
    """A linear classifier of authors, and where each author's score stands."""

    def __init__(self, texts: Sequence[tuple[str, str, str]]) -> None:
        features = optional("sklearn.feature_extraction.text", "Measuring what style gives away", "models")
        self.words = features.TfidfVectorizer(**WORDS)
        self.letters = features.TfidfVectorizer(**LETTERS)
        written = [text for _, _, text in texts]
        stacked = _beside(self.words.fit_transform(written), self.letters.fit_transform(written))
        model = optional("sklearn.svm", "Measuring what style gives away", "models").LinearSVC(random_state=SEED)
        self.model = model.fit(stacked, [whose for _, whose, _ in texts])
        self.column = {str(whose): n for n, whose in enumerate(self.model.classes_)}

    def scores(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """(texts, authors); with two authors there is one score, which counts for the second and against the first."""
        found = self.model.decision_function(_beside(self.words.transform(texts), self.letters.transform(texts)))
        return np.asarray(found if found.ndim > 1 else np.stack([-found, found], axis=1))

    def telling(self) -> dict[str, str]:
        """Author -> the words that speak most for it."""
        names, weights = self.words.get_feature_names_out(), self.model.coef_
        weights = (weights if len(weights) > 1 else np.concatenate([-weights, weights]))[:, : len(names)]
        best = np.argsort(-weights, axis=1)[:, :TELLING_SHOWN]
        return {whose: "; ".join(names[n] for n in best[row] if weights[row, n] > 0) for whose, row in self.column.items()}


def _beside(*parts: Any) -> Any:
    return optional("scipy.sparse", "Measuring what style gives away", "models").hstack(parts).tocsr()


def _tried(classifier: _Classifier, items: Sequence[Shown]) -> tuple[Bools, npt.NDArray[np.float64]]:
    """Per item: whether each of its two authors was named (items, 2), and whether it was told which answer is whose.

    A half where both orders fit alike. An author that the classifier has never read is not named, and tells nothing.
    """
    scores = [classifier.scores([item[3 + side] for item in items]) for side in (0, 1)]
    known = np.array([[classifier.column.get(whose, -1) for whose in item[1:3]] for item in items])
    named = np.stack([own.argmax(axis=1) == known[:, side] for side, own in enumerate(scores)], axis=1)
    row = np.arange(len(items))
    first, second = (own[row, known[:, 0]] - own[row, known[:, 1]] for own in scores)
    told = np.where((known < 0).any(axis=1), 0.5, 0.5 + 0.5 * np.sign(np.round(first - second, 9)))
    return named, told


def _figures(
    items: Sequence[Shown], named: Bools, told: npt.NDArray[np.float64], texts: Sequence[tuple[str, str, str]], shown: str
) -> Leakage:
    question = np.unique([item.question for item in items], return_inverse=True)[1]
    whose = np.array([item[1:3] for item in items])
    every, ones = np.repeat(question, 2), np.ones(named.size)
    telling = _Classifier(texts).telling()
    by_handbook = []
    for handbook, n in sorted(Counter(whose.ravel().tolist()).items()):
        own = (whose == handbook).ravel()
        by_handbook.append((handbook, n, *_share(named.ravel()[own], ones[own], every[own]), telling.get(handbook, "")))
    commonest = max(n for _, n, *_ in by_handbook) / named.size
    return Leakage(
        named.size, len(items), _share(named.ravel(), ones, every), commonest, _share(told, np.ones(len(items)), question),
        tuple(by_handbook), shown,
    )  # fmt: skip


def _share(hits: npt.NDArray[Any], tries: npt.NDArray[np.float64], question: npt.NDArray[np.intp]) -> tuple[float, float, float]:
    """Share of the tries that hit, with its 95 % interval; tries of one question are related."""
    summed = [np.bincount(question, weights).astype(float)[None, :] for weights in (hits.astype(float), tries)]
    (low,), (high,) = clustered_ratio_interval(summed[0], summed[1])
    return float(hits.mean()), float(low), float(high)


# -- kept with the study --------------------------------------------------------------------------------------------------


def record_leakage(store: LabelStore, study_id: str, measured: Leakage, now: datetime) -> None:
    """Keep what was measured in the study's ledger; the last measurement counts."""
    with store.begin() as tx:
        record_study_event(tx, study_id, LEAKAGE, asdict(measured), now)


def recorded_leakage(store: LabelStore, study_id: str) -> Leakage | None:
    """What was measured last of a study; None where nothing was."""
    body: Mapping[str, Any] | None = last_event(store, study_id, LEAKAGE)
    if body is None:
        return None
    values = {one.name: _tuples(body[one.name]) for one in fields(Leakage)}
    return Leakage(**values)


def blinding_words(store: LabelStore, study_id: str) -> str:
    """How well a study is blinded, in words: what style gives away, and the answers to the exit question."""
    if find_study(store, study_id).names_shown:
        return "Raters saw whose the answers are."
    measured = recorded_leakage(store, study_id)
    parts = (
        rewording_words(find_origin(store, study_id).plan) if sample_digest(store, study_id) else "",
        measured.sentence() if measured else NOT_MEASURED,
        exit_sentence(store, study_id),
    )
    return " ".join(filter(None, parts))


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
