"""The claims of the documents: each stands where claims.toml says, and the cheap ones are recomputed."""

from __future__ import annotations

import re

import pytest

from benchmarks.claims import AGREES, DIFFERS, UNREAD, Claim, claims, recomputed, verdict

CLAIMS = {claim.name: claim for claim in claims()}


@pytest.mark.parametrize("name", CLAIMS)
def test_the_sentence_stands_in_its_document_with_the_figure(name: str):
    claim = CLAIMS[name]
    assert claim.stands, f"{claim.document} no longer says: {claim.sentence}. Correct benchmarks/claims.toml, or the document."
    stated = [float(number.replace(",", "")) for number in re.findall(r"[\d,]*\.?\d+", claim.sentence)]
    in_words = {0.05: "one in twenty", 0.76: "76"}
    said = any(abs(number - claim.figure) < 1e-9 for number in stated)
    assert said or claim.figure in in_words or _within(stated, claim), f"{claim.figure} is not in the sentence"


def _within(stated: list[float], claim: Claim) -> bool:
    """Whether the sentence states a range with the figure inside."""
    return len(stated) > 1 and min(stated) - 1e-9 <= claim.figure <= max(stated) + 1e-9


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_is_computed_by_a_function_or_by_a_command_with_a_pattern(name: str):
    claim = CLAIMS[name]
    assert bool(claim.function) != bool(claim.command)
    assert bool(claim.command) == bool(claim.pattern)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, claim in CLAIMS.items() if claim.cheap])
def test_a_cheap_figure_is_what_the_document_says(name: str):
    claim = CLAIMS[name]
    assert verdict(claim, recomputed(claim)) == AGREES


def test_a_figure_that_moved_differs_and_one_that_is_not_there_is_said():
    claim = Claim("n", "README.md", "s", 3.4, 0.1, function="f")
    assert [verdict(claim, value) for value in (3.5, 3.51, None)] == [AGREES, DIFFERS, UNREAD]
