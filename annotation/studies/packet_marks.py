"""The sentences that a label rests on, in a packet: copied from the answers, one a line, and found there again."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.label_store.engine import StudyError
from annotation.label_store.rationales import MarkedSentence
from audit.text.sentences import SentenceSpan, sentence_spans

MAX_QUOTED = 40


def marked_lines(rationale: Sequence[MarkedSentence], answers: Sequence[str]) -> list[str]:
    """For each of the two answers as shown, its marked sentences, one a line."""
    return [
        "\n".join(" ".join(text[one.start : one.end].split()) for one in sorted(rationale) if one.side == side)
        for side, text in enumerate(answers)
    ]


def sentences_of_lines(lines: str, answer: str, side: int) -> list[MarkedSentence]:
    """The sentences of an answer that were copied into a cell; a line may have several that follow each other.

    side  of the answer, as in MarkedSentence

    Raises StudyError for a line that is not made of whole sentences of the answer. Spaces do not matter.
    """
    spans = list(sentence_spans(answer))
    texts = [" ".join(answer[start:end].split()) for start, end in spans]
    taken: set[int] = set()
    for line in filter(None, (" ".join(line.split()) for line in lines.splitlines())):
        match = next((run for run in _runs(spans, texts, line) if not taken & set(run)), None)
        if match is None:
            raise StudyError(f"'{line[:MAX_QUOTED]}' is not a sentence of this answer. Copy whole sentences, one a line.")
        taken |= set(match)
    return [MarkedSentence(side, *spans[index]) for index in sorted(taken)]


def _runs(spans: Sequence[SentenceSpan], texts: Sequence[str], line: str) -> list[range]:
    """Sentences in a row whose texts together are the line."""
    runs = []
    for first in range(len(spans)):
        last, joined = first, texts[first]
        while len(joined) < len(line) and last + 1 < len(spans):
            last += 1
            joined = f"{joined} {texts[last]}"
        if joined == line:
            runs.append(range(first, last + 1))
    return runs
