"""What an import of questions has to say, for people and for machines."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from audit.corpus.questions.likeness import Near
from audit.corpus.questions.reading import Question
from audit.release.report import QUARANTINED, Finding


@dataclass
class Report:
    """One import: records read = questions written + dropped as decided + quarantined.

    flagged     question id -> the kinds of identifying details found; None: not screened
    dropped     question id -> the id of the one that stands for it, as people decided
    near        pairs that may be one; `undecided` of them are kept and wait for a decision
    compared    the encoder whose cosines were taken; None: exact duplicates only
    """

    source: Path
    out: Path
    decisions: Path
    read: int
    questions: tuple[Question, ...]
    near: tuple[Near, ...]
    undecided: int
    dropped: dict[str, str]
    flagged: dict[str, list[str]] | None
    compared: str | None
    findings: list[Finding] = field(default_factory=list)

    @property
    def quarantined(self) -> int:
        """Records that are no questions; each is told, with its text, among the findings."""
        return sum(finding.outcome == QUARANTINED for finding in self.findings)

    @property
    def clean(self) -> bool:
        """Nothing was left out, mended, flagged or unknown, and no pair waits for a decision."""
        return not self.findings and not self.undecided

    def verdict(self) -> str:
        """The report in one sentence."""
        return (
            f"{len(self.questions):,} of {self.read:,} questions written, {len(self.dropped):,} dropped as decided, "
            f"{self.quarantined:,} left out; {self.undecided:,} of {len(self.near):,} near-duplicates undecided, "
            f"{'not screened' if self.flagged is None else f'{len(self.flagged):,} with identifying details'}."
        )

    def as_dict(self) -> dict[str, Any]:
        """The report for machines; what was dropped stands in the table of decisions, with its text."""
        return {
            "verdict": self.verdict(), "clean": self.clean, "source": str(self.source), "out": str(self.out),
            "decisions": str(self.decisions), "read": self.read, "written": len(self.questions),
            "quarantined": self.quarantined, "dropped": self.dropped, "near_duplicates": len(self.near),
            "undecided": self.undecided, "compared_by": self.compared, "identifying": self.flagged,
            "codes": dict(Counter(finding.code for finding in self.findings)),
            "findings": [asdict(finding) for finding in self.findings],
        }  # fmt: skip

    def as_text(self, most: int = 20) -> str:
        """The report for a terminal: verdict, what to do, the first `most` findings."""
        lines = [self.verdict()]
        if self.undecided:
            lines += [f"Fill the column 'decision' of {self.decisions} (keep_both, drop_first, drop_second) and run this again."]
        if self.compared is None:
            lines += ["Only exact duplicates were looked for."]
        lines += (
            ["", *(f"  {finding.outcome}: {finding.sentence()}" for finding in self.findings[:most])] if self.findings else []
        )
        if len(self.findings) > most:
            lines.append(f"  ... and {len(self.findings) - most:,} more; --json lists them all.")
        return "\n".join(lines)
