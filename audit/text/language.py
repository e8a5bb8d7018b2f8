"""The language of a text, found offline by py3langid (BSD-3-Clause, 4.6 MB, in the extra `pipeline`).

Chosen over lingua (96 MB) and langdetect (no release since 2021, and random unless seeded). It also detects texts that are in no
language at all, such as those of a font without a table of its characters.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from audit.errors import MissingLibraryError
from audit.optional_imports import optional

# The library's code for a text in no language
NO_LANGUAGE = "zxx"
MIN_CONFIDENCE = 0.8
# This many characters identify the language of any text; more only take time
MAX_CHARACTERS = 20_000
# A text with fewer letters may be a name, a dose or an address
MIN_LETTERS = 40
NAMES = {
    "ar": "Arabic", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French",
    "ga": "Irish", "he": "Hebrew", "hi": "Hindi", "ht": "Haitian Creole", "hu": "Hungarian", "hy": "Armenian",
    "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "nb": "Norwegian", "ne": "Nepali",
    "nl": "Dutch", "nn": "Norwegian", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "so": "Somali", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "th": "Thai", "tl": "Tagalog",
    "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


def language_of(text: str) -> str | None:
    """The ISO 639 code of a text's language; None if it is too short or too mixed, or py3langid is not installed."""
    code, confidence = _classified(text)
    return code if confidence >= MIN_CONFIDENCE and code != NO_LANGUAGE else None


def is_gibberish(text: str) -> bool:
    """Whether a text of at least `MIN_LETTERS` letters is in no language; False for a shorter one."""
    code, confidence = _classified(text)
    return code == NO_LANGUAGE and confidence >= MIN_CONFIDENCE


def language_name(code: str) -> str:
    """`Spanish` for es; the code itself for a language without a name here."""
    return NAMES.get(code, code)


def _classified(text: str) -> tuple[str, float]:
    start = text[:MAX_CHARACTERS]
    if sum(map(str.isalpha, start)) < MIN_LETTERS or (identifier := _identifier()) is None:
        return "", 0.0
    code, confidence = identifier.classify(start)
    return str(code), float(confidence)


@cache  # reading the model takes a second
def _identifier() -> Any:
    # The base install reads questions and documents without it: their languages are then unknown
    try:
        library = optional("py3langid.langid", "The language of a text", "pipeline")
    except MissingLibraryError:
        return None
    return library.LanguageIdentifier.from_model_file(library.MODEL_FILE, norm_probs=True)
