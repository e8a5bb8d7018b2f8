"""A release's own words in texts of ours: `{handbooks}` becomes the run's term."""

from __future__ import annotations

from audit.charts.style import shown
from audit.store.runs import Run

TERMS = ("handbook", "organ", "question", "topic", "subtopic", "center", "phase", "patient")


def terms(run: Run) -> dict[str, str]:
    """The display words of a run by the names a template uses: `handbook`, `handbooks`, `Handbook`, `Handbooks`, ..."""
    words = {word: shown(run.term(word)) for word in TERMS}
    words |= {f"a_{word}": f"{'an' if own[:1].lower() in 'aeiou' else 'a'} {own}" for word, own in words.items()}
    words |= {f"{word}s": shown(run.term(word, 2)) for word in TERMS}
    words["run"] = run.title
    return words | {name.capitalize(): word[:1].upper() + word[1:] for name, word in words.items()}


def fill(run: Run, template: str) -> str:
    """Plain text from a template of ours, for a place that escapes it or interprets nothing."""
    return template.format(**terms(run))
