"""What raters read in place of two answers: masked, without phrases of one handbook only, and on request statements only.

Nothing here depends on a verdict of the judge: what raters read must not say what the judge found.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import log

from annotation.studies.masking_preview import blind_answer, masker_of_run, organisations_in
from annotation.studies.sample_plan import Plan
from audit.formatting import MAX_TEXT_LENGTH, shortened
from audit.store.connection import Connection, rows
from audit.text.blinding import HIDDEN_PHRASE, Masker, with_parent_names
from audit.text.position_quotes import coverage, overlap, rarity_of, sentences_of
from audit.text.telling import INSIDE, WORD, TellingPhrases, telling_phrases
from audit.text.tokens import stems
from audit.vocabulary import NOT_ADDRESSED, NOTHING_SAID, without_absence

LEARNED_FROM = 6_000
"""Answers that phrases are learned from at most, those of whole questions, in the order of the questions' ids as hashes."""
ANSWERS = """
select h.handbook_id, q.question_id, a.answer
from answers a join questions q using (question) join handbooks h using (handbook)
where a.answer is not null and not coalesce(a.absent, false)
order by md5(q.question_id), q.question_id, h.handbook
"""
URLS = "select distinct url from answers where url is not null union select url from handbooks where url is not null"
SPEAKS_OF_IT = 0.3
"""A statement may be shown in place of another that bears this share of what the best one bears on question and other answer."""
LEAST_ANSWERS = 3
"""Answers of two handbooks that must have a word before the word counts as a habit of one of them."""


@dataclass(frozen=True)
class Habits:
    """How many answers of each handbook there are, and how many of them have each word and each two words."""

    answers: Mapping[str, int] = field(default_factory=Counter)
    having: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def telling(self, words: Iterable[str], handbook: str, other: str) -> float:
        """By how much these words fit one handbook's answers better than another's: a sum of log ratios; 0 where they do not."""
        total = 0.0
        for word in words:
            counts = self.having.get(word, {})
            own, their = counts.get(handbook, 0), counts.get(other, 0)
            if own + their >= LEAST_ANSWERS:
                total += log((own + 0.5) / (self.answers[handbook] + 1)) - log((their + 0.5) / (self.answers[other] + 1))
        return max(0.0, total)


@dataclass(frozen=True)
class Presenter:
    """How the two answers of an item are shown to raters.

    masker      masks names, contacts and credits; None where names are shown, and then nothing is changed
    phrases     phrases of one handbook only, which are left out at the ends of an answer and marked inside
    statements  how many sentences of each answer are shown in place of it; 0: the whole answer
    """

    masker: Masker | None
    phrases: TellingPhrases = field(default_factory=TellingPhrases)
    statements: int = 0
    rarity: Mapping[str, float] = field(default_factory=Counter)
    habits: Habits = field(default_factory=Habits)

    def pair(self, question: str, handbooks: tuple[str, str], answers: tuple[str | None, str | None]) -> tuple[str, str]:
        """The two answers as raters read them; a missing one as the words that mark absence."""
        if self.masker is None:
            first, second = (shortened(answer or f"{NOT_ADDRESSED}.") for answer in answers)
            return first, second
        first, second = (self.whole(answer) for answer in answers)
        if not self.statements:
            return first, second
        return self._statements(question, handbooks, first, second), self._statements(question, handbooks[::-1], second, first)

    def whole(self, answer: str | None) -> str:
        """One answer as a whole, masked."""
        assert self.masker is not None
        shown = blind_answer(answer, self.masker)
        return shown if shown == NOTHING_SAID else _without(shown, self.phrases)

    def left_out(self, answer: str | None) -> list[str]:
        """The phrases of one handbook only that are left out of an answer, or marked in it."""
        if self.masker is None or self.phrases == TellingPhrases():
            return []
        shown = blind_answer(answer, self.masker)
        return [] if shown == NOTHING_SAID else [" ".join(shown[a:b].split()) for a, b, _ in self.phrases.spans(shown)]

    def _statements(self, question: str, handbooks: Sequence[str], own: str, other: str) -> str:
        """The sentences of `own` that bear on the question and on `other`, of these the ones that tell least of the handbook."""
        found = sentences_of(own)
        if own == NOTHING_SAID or len(found) <= self.statements:
            return own
        asked, words = frozenset(stems(question)), [frozenset(stems(one.quoted)) for one in found]
        theirs = [] if other == NOTHING_SAID else [frozenset(stems(one.quoted)) for one in sentences_of(other)]
        bears = [
            max((overlap(one, their, self.rarity) for their in theirs), default=0.0) + coverage(one, asked, self.rarity)
            for one in words
        ]
        told = [self.habits.telling(_habit_words(one.quoted), handbooks[0], handbooks[1]) for one in found]
        marked = [HIDDEN_PHRASE in one.text for one in found]
        ranked = sorted(range(len(found)), key=lambda n: (marked[n], bears[n] < SPEAKS_OF_IT * max(bears), told[n], -bears[n]))
        return "\n".join(found[n].quoted for n in sorted(ranked[: self.statements]))


def presenter_of_run(con: Connection, plan: Plan) -> Presenter:
    """How the answers of a run are shown by a plan; what is learned is learned from the run's own answers."""
    if plan.names_shown:
        return Presenter(None)
    plain = Presenter(masker_of_run(con, plan.masked_words))
    if not plan.phrases_masked and not plan.statements:
        return plain
    learned = learned_from(con)
    if plan.phrases_masked:
        masker = with_parent_names(
            masker_of_run(con, [*plan.masked_words, *_organisations_of_one(learned)]), [url for (url,) in rows(con, URLS)],
            [handbook for handbook, _, _ in learned], [text for _, _, text in learned],
        )  # fmt: skip
        shown = [(handbook, question, blind_answer(text, masker)) for handbook, question, text in learned]
        plain = replace(plain, masker=masker, phrases=telling_phrases(shown))
    if not plan.statements:
        return plain
    whole = [(handbook, question, plain.whole(text)) for handbook, question, text in learned]
    rarity = rarity_of([text for _, _, text in whole])
    return replace(plain, statements=plan.statements, rarity=rarity, habits=habits_of(whole))


def learned_from(con: Connection, most: int = LEARNED_FROM) -> list[tuple[str, str, str]]:
    """(handbook, question, answer) of answers that say something: all of the run's, or those of about `most`."""
    found: list[tuple[str, str, str]] = []
    for handbook, question, text in rows(con, ANSWERS):
        if len(found) >= most and question != found[-1][1]:
            break
        if without_absence(text) is None:
            found.append((handbook, question, text[:MAX_TEXT_LENGTH]))
    return found


def _organisations_of_one(answers: Iterable[tuple[str, str, str]]) -> list[str]:
    """Names of organisations that only one handbook's answers have."""
    owners: dict[str, set[str]] = defaultdict(set)
    for handbook, _, text in answers:
        for name in organisations_in(text):
            owners[name].add(handbook)
    return sorted(name for name, own in owners.items() if len(own) == 1 and " " in name)


def habits_of(answers: Iterable[tuple[str, str, str]]) -> Habits:
    """The habits of each handbook; `answers`: (handbook, question, text as shown)."""
    counts: Counter[str] = Counter()
    having: dict[str, Counter[str]] = defaultdict(Counter)
    for handbook, _, text in answers:
        counts[handbook] += 1
        for word in _habit_words(text):
            having[word][handbook] += 1
    return Habits(counts, having)


def _habit_words(text: str) -> set[str]:
    """The words of a text and each two that follow each other: small words are habits as well."""
    words = [word.casefold() for word in WORD.findall(text)]
    return {*words, *map(" ".join, pairwise(words))}


def _without(text: str, phrases: TellingPhrases) -> str:
    spans = phrases.spans(text)
    if not spans:
        return text
    pieces, end = [], 0
    for start, stop, kind in spans:
        pieces += [text[end:start], HIDDEN_PHRASE if kind == INSIDE else ""]
        end = stop
    kept = "".join([*pieces, text[end:]]).strip()
    return kept[:1].upper() + kept[1:]
