"""The claims of the project's documents, recomputed: the stated figure, the figure now, and whether they agree.

    python -m benchmarks.claims [--cheap] [NAME ...]

Claims are `claims.toml`. All of them take an hour or more, and some need data beside the checkout: what is missing is named and
not run. --cheap runs those that take less than a minute of CPU in all; names choose claims by a part of their name.
The exit code is 1 if a recomputed figure differs from the stated one.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import claim_figures

ROOT = Path(__file__).parents[1]
AGREES, DIFFERS, NOT_RUN, UNREAD = "agrees", "differs", "not run", "no figure in its output"


@dataclass(frozen=True)
class Claim:
    """One claim, as in claims.toml."""

    name: str
    document: str
    sentence: str
    figure: float
    tolerance: float
    function: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    command: Sequence[str] = ()
    pattern: str = ""
    needs: str = ""
    cheap: bool = False

    @property
    def stands(self) -> bool:
        """Whether the sentence is in its document, whatever its line breaks."""
        text = (ROOT / self.document).read_text(encoding="utf-8")
        return " ".join(self.sentence.split()) in " ".join(text.split())


def claims() -> list[Claim]:
    """Every claim, in the order of the file."""
    return [Claim(**entry) for entry in tomllib.loads((ROOT / "benchmarks/claims.toml").read_text("utf-8"))["claim"]]


def recomputed(claim: Claim) -> float | None:
    """The figure now; None where the output of its command has none."""
    if claim.function:
        return _value(claim.function, tuple(claim.options.items()))
    found = re.search(claim.pattern, _output(tuple(claim.command)))
    return float(found[1].replace(",", "")) if found else None


@cache
def _value(function: str, options: tuple[tuple[str, Any], ...]) -> float:
    return float(getattr(claim_figures, function)(**dict(options)))


@cache
def _output(command: tuple[str, ...]) -> str:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout


def verdict(claim: Claim, value: float | None) -> str:
    """AGREES, DIFFERS or UNREAD."""
    if value is None:
        return UNREAD
    # A figure such as 3.4 is not exact in binary
    return AGREES if abs(value - claim.figure) <= claim.tolerance + 1e-9 else DIFFERS


def cpu_seconds() -> float:
    """Of this process and of those that it waited for."""
    return sum(
        usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def main() -> int:
    """Read the command line; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only claims with this in their name")
    parser.add_argument("--cheap", action="store_true", help="only those that are cheap to compute")
    arguments = parser.parse_args()
    differ = 0
    print(f"{'claim':<62}{'document':<36}{'stated':>9}{'now':>9}  {'verdict':<10}{'CPU s':>7}")
    for claim in claims():
        if (arguments.cheap and not claim.cheap) or (arguments.names and not any(name in claim.name for name in arguments.names)):
            continue
        missing, before = bool(claim.needs) and not (ROOT / claim.needs).exists(), cpu_seconds()
        value = None if missing else recomputed(claim)
        word = f"{NOT_RUN}: needs {claim.needs}" if missing else verdict(claim, value)
        differ += word in (DIFFERS, UNREAD)
        shown = "-" if value is None else f"{value:.4g}"
        cost = f"{cpu_seconds() - before:>7.1f}"
        print(f"{claim.name:<62}{claim.document:<36}{claim.figure:>9g}{shown:>9}  {word:<10}{cost}", flush=True)
    return int(differ > 0)


if __name__ == "__main__":
    raise SystemExit(main())
