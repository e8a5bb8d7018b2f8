"""The load report: findings record by record, counts file by file, and checks of the totals."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from typing import Any

from audit.formatting import printable

QUARANTINED, REPAIRED, NOTED = "quarantined", "repaired", "noted"
WHOLE_FILE = "whole file"
RECORD_CUT = 2_000
MAX_FINDINGS = 20
MARKS = {True: "ok ", False: "GAP", None: "-  "}


@dataclass(frozen=True)
class Finding:
    """One finding. `outcome`: the record was quarantined, was loaded after a repair, or was loaded with a note."""

    file: str
    position: str
    outcome: str
    code: str
    message: str
    record: str | None = None

    def sentence(self) -> str:
        """Location, then message: one line for a terminal, even if a file name contains line ends."""
        return " ".join(printable(f"{self.file}, {self.position}: {self.message}").split())


@dataclass
class FileCount:
    """Records of one file: `read` always equals `loaded + quarantined`."""

    file: str
    kind: str
    read: int = 0
    loaded: int = 0
    quarantined: int = 0
    notes: str = ""


@dataclass(frozen=True)
class Check:
    """One count that should match: `ok` is None where there was nothing to compare it with."""

    name: str
    expected: int | None
    found: int | None
    ok: bool | None
    message: str


@dataclass
class LoadReport:
    """The load report of one release; stored with the run, printed, and shown on a page."""

    files: list[FileCount] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def count_findings(self, outcome: str) -> int:
        """How many findings have `outcome`."""
        return sum(finding.outcome == outcome for finding in self.findings)

    def totals(self) -> dict[str, dict[str, int]]:
        """Records read, loaded and quarantined per kind of record."""
        sums: dict[str, dict[str, int]] = {}
        for file in self.files:
            row = sums.setdefault(file.kind, {"files": 0, "read": 0, "loaded": 0, "quarantined": 0})
            row["files"] += 1
            for name in ("read", "loaded", "quarantined"):
                row[name] += getattr(file, name)
        return sums

    @property
    def clean(self) -> bool:
        """Nothing was quarantined or repaired, and all counts reconcile."""
        # A check whose ok is None had no reference count, which is not a fault of the release
        return not (self.count_findings(QUARANTINED) or self.count_findings(REPAIRED)) and all(
            check.ok is not False for check in self.checks
        )

    def verdict(self) -> str:
        """The report in one sentence."""
        totals = self.totals()
        read, loaded = (sum(row[name] for row in totals.values()) for name in ("read", "loaded"))
        failed = sum(check.ok is False for check in self.checks)
        kind, noun = _main_kind(totals)
        counts = totals.get(kind, {"loaded": 0, "quarantined": 0})
        parts = [f"{counts['loaded']:,} {noun} loaded, {counts['quarantined']:,} quarantined"]
        parts.append(f"{loaded:,} of {read:,} records in all")
        parts.append("all counts reconcile" if not failed else f"{failed} of {len(self.checks)} counts do not reconcile")
        return "; ".join(parts) + "."

    def as_dict(self) -> dict[str, Any]:
        """The report without its findings one by one (those are in the store's table), for JSON."""
        return {
            "verdict": self.verdict(),
            "clean": self.clean,
            "totals": self.totals(),
            "findings": {outcome: self.count_findings(outcome) for outcome in (QUARANTINED, REPAIRED, NOTED)},
            "checks": [asdict(check) for check in self.checks],
            "files": [asdict(file) for file in self.files],
        }


def _main_kind(totals: Collection[str]) -> tuple[str, str]:
    """The kind of record that a release is about, and what its records are called."""
    if "pair" in totals or not {"system", "stress_instance"} & set(totals):
        return "pair", "pairs"
    if "stress_instance" in totals and "system_answer" not in totals:
        return (
            ("stress_reply", "replies to stress tests") if "stress_reply" in totals else ("stress_instance", "stress instances")
        )
    return "system_answer", "answers of systems"


def report_as_text(report: LoadReport) -> str:
    """The report for a terminal: verdict, totals, checks, and the first findings."""
    lines = [report.verdict(), "", f"{'records':<16}{'files':>8}{'read':>12}{'loaded':>12}{'quarantined':>13}"]
    lines += [
        f"{kind:<16}{t['files']:>8,}{t['read']:>12,}{t['loaded']:>12,}{t['quarantined']:>13,}"
        for kind, t in report.totals().items()
    ]
    lines += ["", *(f"  {MARKS[check.ok]} {check.message}" for check in report.checks)]
    shown = sorted(report.findings, key=lambda finding: (QUARANTINED, REPAIRED, NOTED).index(finding.outcome))
    lines += ["", *(f"  {finding.outcome}: {finding.sentence()}" for finding in shown[:MAX_FINDINGS])] if shown else []
    if len(shown) > MAX_FINDINGS:
        lines.append(f"  ... and {len(shown) - MAX_FINDINGS:,} more findings; --json lists them all, the Runs page shows them.")
    return "\n".join(lines)
