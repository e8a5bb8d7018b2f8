"""Stress tests of a simulated model with known curves, and of two readers whose curves can be derived.

The model's replies are drawn at fixed rates, by the share of signal (in robustness: of right documents), so every measure of
it has a known expected value (`expected_measure`). All rates are our choice. Documents are sections of the demo's handbooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from audit.evaluation.stress_measures import StressMeasure
from audit.pipeline.stress.instances import StressDocument, StressInstance
from audit.pipeline.stress.running.forms import sub_questions_of
from audit.pipeline.stress.running.readers import READER_NAMES, readers
from audit.pipeline.stress.running.replies import StressReply
from audit.pipeline.stress.running.task import reply_record
from audit.vocabulary import DocumentCall, Parse, StressTest, SystemMode
from tests.simulator.policies import Policy, SimulatedQuestion, policies
from tests.simulator.retrieval import HandbookTexts, section_id

Record = dict[str, Any]
M = StressMeasure
MEASURES: Mapping[StressTest, tuple[StressMeasure, ...]] = {
    StressTest.STANDARD: (M.ACCURACY, M.UNREAD),
    StressTest.SUFFICIENCY: (M.ACCURACY, M.INSUFFICIENT, M.NOISE_DETECTION, M.NOISE_FOUND, M.SIGNAL_KEPT, M.UNREAD),
    StressTest.INTEGRATION: (M.ACCURACY, M.SUB_EXACT, M.UNREAD),
    StressTest.ROBUSTNESS: (M.ACCURACY, M.ERROR_DETECTION, M.ERRORS_FOUND, M.FACTS_KEPT, M.SUB_EXACT, M.UNREAD),
}
"""Test -> the measures of the simulated model that are known."""
MODEL_ID, MODEL_NAME = "demo-stressed", "Demo model under stress"
READERS = ("oracle", "copycat")
SIZE, N_QUESTIONS = 5, 40
LETTERS = "ABC"
UNREAD_SHARE = 0.02
SHARES: Mapping[StressTest, tuple[int, ...]] = {
    StressTest.STANDARD: (100,), StressTest.SUFFICIENCY: (0, 20, 60, 100), StressTest.INTEGRATION: (20, 60, 100),
    StressTest.ROBUSTNESS: (0, 20, 60, 100),
}  # fmt: skip


@dataclass(frozen=True)
class StressRates:
    """The rates at which the simulated model replies.

    insufficient         percent of signal -> share of replies that say that the documents do not suffice
    right                percent of signal -> share of right options among the others
    sound_recognised     share of sound documents (signal or factual) that it calls sound
    unsound_recognised   share of other documents (noise or wrong) that it calls so
    true_answers         share of sub-questions that it answers rightly from a sound document
    resists              share of sub-questions that it answers rightly although the document is wrong
    """

    right: Mapping[int, float]
    insufficient: Mapping[int, float] | None = None
    sound_recognised: float = 1.0
    unsound_recognised: float = 1.0
    true_answers: float = 1.0
    resists: float = 0.0


RATES: Mapping[StressTest, StressRates] = {
    StressTest.STANDARD: StressRates({0: 0.55, 100: 0.82}),
    StressTest.SUFFICIENCY: StressRates(
        {0: 0.35, 20: 0.62, 60: 0.76, 100: 0.84},
        {0: 0.9, 20: 0.35, 60: 0.12, 100: 0.06},
        sound_recognised=0.75,
        unsound_recognised=0.93,
    ),
    StressTest.INTEGRATION: StressRates({20: 0.64, 60: 0.78, 100: 0.86}, true_answers=0.85),
    StressTest.ROBUSTNESS: StressRates(
        {0: 0.3, 20: 0.38, 60: 0.62, 100: 0.82}, sound_recognised=0.96, unsound_recognised=0.28, true_answers=0.85, resists=0.1
    ),
}


def expected_measure(measure: StressMeasure, test: StressTest, share: int) -> float:
    """The expected value of a measure of the simulated model over all possible questions; `share` in percent, 0: no documents."""
    rates, p = RATES[test], share / 100
    declined = rates.insufficient[share] if rates.insufficient else 0.0
    # A sub-question is put to each signal document, and in robustness to wrong ones too
    sub = p * rates.true_answers + (1 - p) * rates.resists if test == StressTest.ROBUSTNESS else rates.true_answers
    detected = p * rates.sound_recognised + (1 - p) * rates.unsound_recognised
    values = {M.ACCURACY: (1 - declined) * rates.right[share], M.INSUFFICIENT: declined, M.SUB_EXACT: sub, M.UNREAD: UNREAD_SHARE}
    values |= dict.fromkeys((M.NOISE_DETECTION, M.ERROR_DETECTION), detected)
    values |= dict.fromkeys((M.NOISE_FOUND, M.ERRORS_FOUND), rates.unsound_recognised)
    return (values | dict.fromkeys((M.SIGNAL_KEPT, M.FACTS_KEPT), rates.sound_recognised))[measure]


@dataclass(frozen=True)
class SimulatedStressQuestion:
    """A question that turns on a value, with SIZE sections that state the value `gold` and SIZE of other policies."""

    asked: SimulatedQuestion
    gold: str
    signal: tuple[StressDocument, ...]
    noise: tuple[StressDocument, ...]

    @property
    def policy(self) -> Policy:
        """The subject of the question."""
        return policies()[self.asked.policy]


@dataclass(frozen=True)
class StressWorld:
    """The stress tests on the questions of a world whose commonest value enough handbooks state."""

    library: HandbookTexts
    max_questions: int = N_QUESTIONS

    @cached_property
    def questions(self) -> tuple[SimulatedStressQuestion, ...]:
        """The questions, each with its documents."""
        world, rng = self.library.world, self._random(17)
        contested = [number for number, question in enumerate(world.questions) if question.contested]
        known = ((number, self._books(number)) for number in contested)
        enough = [(number, books) for number, books in known if len(books) >= SIZE][: self.max_questions]
        return tuple(self._question(number, books, rng) for number, books in enough)

    def _random(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.library.world.config.seed, stream])

    def _books(self, number: int) -> list[int]:
        """The handbooks that state the commonest value of what a question asks for."""
        world = self.library.world
        states = np.flatnonzero(self.library.states[world.questions[number].policy])
        values = world.value[world.row[number], states]
        same: list[int] = states[values == np.bincount(values).argmax()].tolist() if len(states) else []
        return same

    def _question(self, number: int, books: list[int], rng: np.random.Generator) -> SimulatedStressQuestion:
        asked = self.library.world.questions[number]
        policy = policies()[asked.policy]
        gold = policy.values[int(self.library.world.value[self.library.world.row[number], books[0]])]
        sub = policy.asks[0].replace("{o}", "")
        texts = [self._section(asked.policy, book) for book in books[:SIZE]]
        signal = [StressDocument(*text, True, sub_question=sub, sub_answer=gold) for text in texts]
        others = np.argwhere(self.library.states & (np.arange(len(policies())) != asked.policy)[:, None])
        drawn = others[rng.choice(len(others), SIZE, replace=False)].tolist()
        return SimulatedStressQuestion(
            asked, gold, tuple(signal), tuple(StressDocument(*self._section(*at), False) for at in drawn)
        )

    def _section(self, policy: int, book: int) -> tuple[str, str]:
        """The name and the text of a section, without its last sentence, the contact."""
        name = section_id(int(self.library.position[policy, book]))
        return f"{self.library.world.handbooks[book].id}/{name}", " ".join(self.library.sentences(policy, book)[:-1])

    @cached_property
    def instances(self) -> tuple[StressInstance, ...]:
        """Every instance: the contexts test by test, and each question once without documents."""
        rng, seed = self._random(18), self.library.world.config.seed
        contexts = [(test, share) for test, shares in SHARES.items() for share in shares]
        shown = [
            _instance(question, test, share, context(question, test, share, rng), seed)
            for test, share in contexts for question in self.questions
        ]  # fmt: skip
        return (*shown, *(_instance(question, StressTest.STANDARD, 100, (), seed) for question in self.questions))


def context(
    question: SimulatedStressQuestion, test: StressTest, share: int, rng: np.random.Generator
) -> tuple[StressDocument, ...]:
    """SIZE documents in random order, of which `share` percent are sound."""
    sound = round(SIZE * share / 100)
    others = question.noise if test != StressTest.ROBUSTNESS else [altered(one, question.policy, rng) for one in question.signal]
    shown = [*question.signal[:sound], *others[sound:]]
    return tuple(shown[index] for index in rng.permutation(SIZE).tolist())


def altered(document: StressDocument, policy: Policy, rng: np.random.Generator) -> StressDocument:
    """The document with another value of its policy in place of the one that it states."""
    before = str(document.sub_answer)
    others = [value for value in policy.values if value != before]
    after = others[int(rng.integers(len(others)))]
    stated = next(way for way in policy.says[policy.values.index(before)] if way in document.text)
    start = document.text.index(stated) + stated.index(before)
    text = document.text[:start] + after + document.text[start + len(before) :]
    edit = {"kind": "amount", "before": before, "after": after, "start": start}
    name = f"{document.document_id}~"
    return replace(
        document, document_id=name, text=text, is_factual=False, edited_from=document.document_id, edit=edit, false_answer=after
    )


def _instance(
    question: SimulatedStressQuestion, test: StressTest, share: int, documents: tuple[StressDocument, ...], seed: int
) -> StressInstance:
    options = dict(zip(LETTERS, question.policy.values, strict=False))
    gold = next(letter for letter, value in options.items() if value == question.gold)
    name = f"{test}-{len(documents)}-{share}-{question.asked.id}"
    return StressInstance(
        name, test, question.asked.id, question.asked.text, gold, share, len(documents), options, documents, "demo", seed
    )


# -- replies -----------------------------------------------------------------------------------------------------------


def model_reply(instance: StressInstance, rng: np.random.Generator) -> StressReply:
    """The replies of the simulated model, drawn at the rates of `RATES`."""
    rates, robust = RATES[instance.test], instance.test == StressTest.ROBUSTNESS
    share = instance.signal_share if instance.documents else 0
    if rng.random() < UNREAD_SHARE:
        return StressReply(reason="no choice")
    choice, insufficient = _choice(instance, rates, share, rng)
    calls: dict[int, DocumentCall] = {}
    if instance.test in (StressTest.SUFFICIENCY, StressTest.ROBUSTNESS):
        for number, document in enumerate(instance.documents, 1):
            sound = document.is_factual if robust else document.is_signal
            believed = sound == (rng.random() < (rates.sound_recognised if sound else rates.unsound_recognised))
            calls[number] = BELIEVED[robust, believed]
    asked = sub_questions_of(instance) if instance.test in (StressTest.INTEGRATION, StressTest.ROBUSTNESS) else ()
    answers = {number: _sub_answer(document, rates, instance, rng) for number, document in enumerate(asked, 1)}
    reasoning = REASONING[insufficient].format(
        documents=len(instance.documents), choice=instance.options.get(choice or "", "none of the options")
    )
    return StressReply(choice, insufficient, reasoning, calls, answers, Parse.STRICT)


BELIEVED = {
    (False, True): DocumentCall.RELEVANT, (False, False): DocumentCall.NOISE, (True, True): DocumentCall.FACTUAL,
    (True, False): DocumentCall.WRONG,
}  # fmt: skip
REASONING = {
    False: "I read {documents} documents. What they say on this points to: {choice}.",
    True: "I read {documents} documents. None of them states what is asked.",
}


def _choice(instance: StressInstance, rates: StressRates, share: int, rng: np.random.Generator) -> tuple[str | None, bool]:
    if rates.insufficient and rng.random() < rates.insufficient[share]:
        return None, True
    others = [letter for letter in instance.options if letter != instance.gold]
    return (instance.gold if rng.random() < rates.right[share] else others[int(rng.integers(len(others)))]), False


def _sub_answer(document: StressDocument, rates: StressRates, instance: StressInstance, rng: np.random.Generator) -> str:
    is_right = rng.random() < (rates.true_answers if document.is_factual else rates.resists)
    if is_right:
        return str(document.sub_answer)
    wrong = [value for value in instance.options.values() if value != document.sub_answer]
    return str(document.false_answer or wrong[int(rng.integers(len(wrong)))])


def stress_systems() -> list[Record]:
    """The systems that take the tests, as records of systems.jsonl."""
    model = {"model": "demo-model", "description": "Simulated: replies to stress tests at known rates."}
    own = [{"system_id": MODEL_ID, "name": MODEL_NAME, "mode": SystemMode.OTHER, **model}]
    return own + [{"system_id": name, "name": READER_NAMES[name], "mode": SystemMode.OTHER} for name in READERS]


def with_stress(tables: Mapping[str, Iterable[Record]], world: StressWorld) -> dict[str, Iterable[Record]]:
    """Tables of systems with those of stress tests, by the names of their files."""
    own: dict[str, Iterable[Record]] = {
        "stress_instances": (instance.record() for instance in world.instances), "stress_replies": _replies(world),
    }  # fmt: skip
    return {**tables, "systems": chain(tables["systems"], stress_systems()), **own}


def stress_truth() -> Record:
    """The expected value of each measure of the simulated model: test -> percent of signal -> measure -> value in [0, 1]."""
    return {
        test.value: {
            share: {measure.value: expected_measure(measure, test, share) for measure in MEASURES[test]} for share in rates.right
        }
        for test, rates in RATES.items()
    }


def _replies(world: StressWorld) -> Iterator[Record]:
    rng = np.random.default_rng([world.library.world.config.seed, 19])
    for instance in world.instances:
        yield reply_record(instance, MODEL_ID, model_reply(instance, rng))
    for name, reader in readers(READERS, world.instances).items():
        for instance in world.instances:
            yield reply_record(instance, name, reader(instance))
