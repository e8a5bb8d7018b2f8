"""Readers without a model, whose curves are known: baselines on the page, and test cases for the measures.

| reader        | choice                                                          | calls            | sub-answers            |
|---------------|-----------------------------------------------------------------|------------------|------------------------|
| oracle        | the gold, or insufficient where no document is signal            | all right        | all right              |
| copycat       | what a document drawn from the context supports                  | all believed     | what the documents say |
| closed_book   | the commonest gold of the data set, whatever it is shown          | none             | none                   |
| insufficient  | always insufficient                                             | none believed    | none                   |
| coin          | any option with equal chance                                    | either, by coin  | either, by coin        |

Over questions, oracle has accuracy 1 from the first signal document on and says insufficient at p = 0; copycat has accuracy
and detection p, sub-answers exact 1 in integration and p in robustness; closed_book is flat; insufficient has accuracy 0 and
detection 1 - p; coin has accuracy 1/k over k options, and detection 1/2. Oracle and copycat name the right document of each
sub-answer, coin any of the m that are shown (1/m).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from audit.pipeline.stress.instances import StressDocument, StressInstance
from audit.pipeline.stress.running.forms import StressReplyForm, sub_questions_of
from audit.pipeline.stress.running.replies import StressReply
from audit.vocabulary import DocumentCall, Parse, StressTest

Reader = Callable[[StressInstance], StressReply]
READER_NAMES = {
    "oracle": "Oracle (knows what is true)",
    "copycat": "Copycat (believes any document)",
    "closed_book": "Closed book (ignores the documents)",
    "insufficient": "Always insufficient",
    "coin": "Coin",
}
"""Reader -> what a page calls it. The keys are the ids of their systems."""


def readers(names: Iterable[str], instances: Iterable[StressInstance], seed: int = 0) -> dict[str, Reader]:
    """The readers of these names. `instances` give closed_book the commonest golds; `seed` is for all draws."""
    commonest = _commonest_gold(instances)
    known: dict[str, Reader] = {
        "oracle": _oracle,
        "copycat": lambda instance: _copycat(instance, _random(seed, "copycat", instance)),
        "closed_book": lambda instance: _reply(instance, commonest.get(_kind(instance))),
        "insufficient": _insufficient,
        "coin": lambda instance: _coin(instance, _random(seed, "coin", instance)),
    }
    return {name: known[name] for name in names}


def _random(seed: int, name: str, instance: StressInstance) -> random.Random:
    # A text as seed does not depend on the process, as hash() would
    return random.Random(f"{seed} {name} {instance.instance_id}")  # noqa: S311 - draws of a simulation


def _reply(
    instance: StressInstance,
    choice: str | None,
    call: Callable[[StressDocument], DocumentCall] | None = None,
    sub_answer: Callable[[StressDocument], str | None] | None = None,
    read_from: Callable[[StressDocument], StressDocument] = lambda asked: asked,
) -> StressReply:
    """A reply with a choice (None: insufficient), the calls on documents that the test requires, and sub-answers with sources."""
    form = StressReplyForm.of(instance)
    called = {number: call(one) for number, one in enumerate(instance.documents, 1)} if call and form.documents else {}
    asked = dict(enumerate(sub_questions_of(instance), 1)) if sub_answer else {}
    answers = {number: text for number, one in asked.items() if sub_answer and (text := sub_answer(one))}
    places = {number: instance.documents.index(read_from(asked[number])) + 1 for number in answers}
    return StressReply(choice, choice is None, None, called, answers, Parse.RULES, read_from=places)


def _called(instance: StressInstance, sound: bool) -> DocumentCall:
    """The call on a document that is believed, or not believed."""
    if instance.test == StressTest.ROBUSTNESS:
        return DocumentCall.FACTUAL if sound else DocumentCall.WRONG
    return DocumentCall.RELEVANT if sound else DocumentCall.NOISE


def _is_sound(instance: StressInstance, document: StressDocument) -> bool:
    return document.is_factual if instance.test == StressTest.ROBUSTNESS else document.is_signal


def _oracle(instance: StressInstance) -> StressReply:
    has_signal = any(document.is_signal for document in instance.documents)
    return _reply(
        instance,
        instance.gold if has_signal else None,
        lambda one: _called(instance, _is_sound(instance, one)),
        lambda one: one.sub_answer,
    )


def _copycat(instance: StressInstance, drawn: random.Random) -> StressReply:
    """Believes one document drawn from the context: the right option if it is signal and correct, else another one."""
    if not instance.documents:
        return _reply(instance, None)
    others = [letter for letter in instance.options if letter != instance.gold]
    document = drawn.choice(instance.documents)
    supports_gold = document.is_signal and document.is_factual
    choice = instance.gold if supports_gold else drawn.choice(others) if others else document.text
    return _reply(instance, choice, lambda _: _called(instance, True), _as_it_says)


def _as_it_says(document: StressDocument) -> str | None:
    return document.sub_answer if document.is_factual else document.false_answer


def _insufficient(instance: StressInstance) -> StressReply:
    return _reply(instance, None, lambda _: _called(instance, False))


def _coin(instance: StressInstance, drawn: random.Random) -> StressReply:
    letters = list(instance.options)
    return _reply(
        instance,
        drawn.choice(letters) if letters else None,
        lambda _: _called(instance, drawn.random() < 0.5),
        lambda one: drawn.choice([one.sub_answer, one.false_answer or "unknown"]),
        lambda _: drawn.choice(instance.documents),
    )


def _kind(instance: StressInstance) -> tuple[str | None, tuple[str, ...]]:
    return instance.dataset, tuple(instance.options)


def _commonest_gold(instances: Iterable[StressInstance]) -> Mapping[tuple[str | None, tuple[str, ...]], str]:
    """The commonest gold over questions of each data set and set of letters; none for open questions."""
    golds: dict[tuple[str | None, tuple[str, ...]], dict[str, str]] = {}
    for instance in instances:
        if instance.options:
            golds.setdefault(_kind(instance), {})[instance.question_id] = instance.gold
    # Sorted, so ties are broken independently of the order of the input
    return {kind: Counter(sorted(by_question.values())).most_common(1)[0][0] for kind, by_question in golds.items()}
