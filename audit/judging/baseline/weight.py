"""What a disagreement is about, and how much it matters: by words alone, each rule with its name."""

from __future__ import annotations

from audit.judging.baseline.conflict import Conflict
from audit.judging.baseline.question import GENERIC, Asked
from audit.text.tokens import content_words, plain_text, stem
from audit.vocabulary import Significance

MATTERS: dict[str, tuple[Significance, str]] = {
    "an emergency": (
        Significance.HIGH,
        "emergency urgent urgently 911 ambulance bleeding bleed breath chest seizure stroke fever",
    ),
    "medicines": (
        Significance.HIGH,
        "medicine medication drug dose dosage pill tablet antibiotic vaccine vaccination insulin immunosuppressant chemotherapy "
        "ibuprofen aspirin acetaminophen tacrolimus cyclosporine prednisone steroid",
    ),
    "the graft": (Significance.HIGH, "rejection reject graft infection infect virus"),
    "frequency": (Significance.LOW, "type types form kind people affect common occur estimated incidence prevalence"),
    "comfort": (
        Significance.LOW,
        "parking visitor pet tattoo piercing hair phone hotel class photo swim sauna garden gift letter",
    ),
}
"""Named rule -> the significance it gives, and the words of which one is enough; tried in this order."""
RULES = {name: (significance, frozenset(map(stem, some.split()))) for name, (significance, some) in MATTERS.items()}
OTHERWISE = "by default"
TOPIC_WORDS = 4


def significance(asked: Asked, found: Conflict) -> tuple[Significance, str]:
    """How much a conflict matters, and why: by the words of the question and those that both statements share."""
    about = asked.stems | found.shared
    return next(((degree, name) for name, (degree, stems) in RULES.items() if about & stems), (Significance.MEDIUM, OTHERWISE))


def topic(asked: Asked, found: Conflict, question: str) -> str:
    """What a conflict is about, in up to four words: those that both statements share, else those that the question asks with."""
    for text, known in ((found.first.text, found.shared - GENERIC), (question, asked.stems)):
        plain = plain_text(text)
        said = {word.stem: plain[word.start : word.end] for word in reversed(content_words(text)) if word.stem in known}
        if said:
            return " ".join([*reversed(said.values())][:TOPIC_WORDS])
    return found.one
