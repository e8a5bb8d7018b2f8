"""An adjudicator's session: the disputes of a study as items of the labelling board, and the decisions that come back."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.label_store.results import NewDecision, submit_decision
from annotation.label_store.studies import Study
from annotation.schemes import PAIRS, Scheme
from annotation.studies.adjudication import BlindRating, DisputedItem, list_disputes
from audit.errors import AuditError
from pages._blinded.access import label_store, now
from pages._blinded.labelling.widget import browser_ranges, marks_of

DONE = "All disputes are decided. The investigator can close the study. Until then you can go back to any of them with U."
BEHIND, AHEAD, RECENT = 6, 10, 5
"""Decided disputes kept in the browser to go back to, the next ones, and the ones decided last."""


@dataclass
class Adjudication:
    """One adjudicator's work on the disputes of a study, in the order of `list_disputes`.

    opened   id of a dispute that the adjudicator went back to
    handled  key of an event -> its error message, or an empty text
    recent   ids of the disputes decided last, the newest last
    """

    study: Study
    adjudicator: str
    opened: str | None = None
    handled: dict[str, str] = field(default_factory=dict)
    recent: list[str] = field(default_factory=list)

    def handle(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Handle the events in order, each once. One that fails is reported and changes nothing."""
        for event in events:
            key = str(event["key"])
            if key in self.handled:  # the browser sends an event again until it is confirmed
                continue
            try:
                self._handle_event(event)
                self.handled[key] = ""
            except AuditError as error:
                self.handled[key] = str(error)

    def _handle_event(self, event: Mapping[str, Any]) -> None:
        name = str(event["assignment"])
        if event["kind"] == "submit":
            submit_decision(label_store(), self.adjudicator, self._decision(name, event), now())
            self.recent = [*(other for other in self.recent if other != name), name][-RECENT:]
            self.opened = None
        elif event["kind"] == "open":
            self.opened = name

    def _decision(self, name: str, event: Mapping[str, Any]) -> NewDecision:
        disputes = list_disputes(label_store(), self.study.study_id, open_only=False)
        swapped = next((dispute.swapped for dispute in disputes if dispute.item_id == name), False)
        label = str(self.study.scheme.turned(event.get("label"), swapped))
        reason = str(event.get("comment") or "")
        return NewDecision(name, label, event.get("significance") or None, reason, str(event["key"]), int(event["revises"]))

    def view(self, events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What the browser gets: the disputes around the current one, the progress, and the outcome of its events."""
        disputes = list_disputes(label_store(), self.study.study_id, open_only=False)
        following = next((dispute.item_id for dispute in disputes if dispute.decision is None), None)
        keys = [str(event["key"]) for event in events]
        return {
            "study": f"{self.study.study_id} in adjudication", "title": self.study.title, "done": DONE,
            "tasks": self._window(disputes, self.opened or following), "current": self.opened or following,
            "next": following, "rated": sum(dispute.decision is not None for dispute in disputes), "total": len(disputes),
            "recent": self.recent[::-1], "pace": "", "pause": "",
            "handled": [key for key in keys if key in self.handled],
            "failed": {key: self.handled[key] for key in keys if self.handled.get(key)},
        }  # fmt: skip

    def _window(self, disputes: Sequence[DisputedItem], current: str | None) -> list[dict[str, Any]]:
        names = [dispute.item_id for dispute in disputes]
        at = names.index(current) if current in names else len(names)
        undecided = [index for index, dispute in enumerate(disputes) if dispute.decision is None]
        ahead = undecided[bisect_left(undecided, at) :][:AHEAD]
        recent = [names.index(name) for name in self.recent if name in names]
        shown = sorted({*range(max(0, at - BEHIND), min(at + 1, len(names))), *undecided[:1], *ahead, *recent})
        return [dispute_view(disputes[index], index + 1, self.study.scheme) for index in shown]


def dispute_view(dispute: DisputedItem, position: int, scheme: Scheme) -> dict[str, Any]:
    """A dispute as the browser gets it: an item of the labelling board, with the annotators' labels."""
    decision = dispute.decision
    answers = (dispute.first, dispute.second)
    return {
        "assignment": dispute.item_id, "position": position, "calibration": False, "question": dispute.question,
        "first": dispute.first, "second": dispute.second, "first_name": None, "second_name": None,
        "has_reference": dispute.reference is not None, "reference": dispute.reference,
        "sentences": [browser_ranges(text) for text in answers],
        "marks": marks_of([mark for rating in dispute.ratings for mark in rating.rationale], answers),
        "ratings": [_rating_view(who, rating, dispute, scheme)
                    for who, rating in zip(_whose(len(dispute.ratings)), dispute.ratings, strict=True)],
        "revision": decision.revision if decision else 0,
        "label": scheme.turned(decision.label, dispute.swapped) if decision else None,
        "significance": decision.significance if decision else None,
        "flagged": False, "comment": decision.reason if decision else "",
    }  # fmt: skip


def _whose(ratings: int) -> Sequence[str]:
    """What the annotators of a dispute are called, in an order that is random for each item."""
    return ("One annotator", "The other annotator") if ratings == 2 else ("One annotator", *["Another annotator"] * (ratings - 1))


def _rating_view(who: str, rating: BlindRating, dispute: DisputedItem, scheme: Scheme) -> dict[str, Any]:
    label = scheme.names[str(scheme.turned(rating.label, dispute.swapped))]
    side = f"answer {label}" if label in scheme.sides and scheme is not PAIRS else label
    more = [f"{rating.significance} significance" if rating.significance else "", "unsure" if rating.flagged else ""]
    return {"who": who, "label": side, "more": [text for text in (*more, rating.comment) if text]}
