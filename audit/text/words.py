"""Where the words of a text are, in any script: the one rule for what is searched, compared and counted.

Most scripts put spaces between words, and Tibetan a sign. Chinese, Japanese, Thai, Lao, Khmer and Burmese put nothing: there each
letter counts as a word, with the signs above and below it, and a search looks for pairs of neighbours (see `search_words`). A
segmenter would find longer words; two of them disagree on a tenth of medical terms, and pairs need no dictionary.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from math import ceil

# Unicode blocks of the scripts without spaces: Thai, Lao, Burmese, Khmer, signs of repetition, kana, and Chinese characters
SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
# Signs above, below and around letters. Python's \w leaves them out, which cuts Hindi and Tibetan in the middle of a word.
MARKS = "".join(
    chr(code) for first, last in ((0x300, 0x1C00), (0x1DC0, 0x1E00), (0xA600, 0xAC00), (0xFE20, 0xFE30))
    for code in range(first, last) if unicodedata.category(chr(code)).startswith("M")
)  # fmt: skip
_ALONE = rf"(?=[^\W\d_])[{SPACELESS}][{MARKS}]*"
# A raised digit is the mark of a note, or a power
_RAISED = "⁰¹²³⁴-⁹"


def _joined(letters: str) -> str:
    """The pattern of one word of these letters, with their marks and an apostrophe inside."""
    part = rf"{letters}+(?:[{MARKS}]+{letters}*)*"
    return rf"{part}(?:'{part})?"


WORD = re.compile(_joined(rf"[^\W\d_{SPACELESS}]") + "|" + _ALONE)
"""A word of letters."""
TOKEN = re.compile(_joined(rf"[^\W_{_RAISED}{SPACELESS}]") + "|" + _ALONE)
"""A word of letters and digits together, so that a name such as CYP3A5 stays one; no raised digits."""
PIECE = re.compile(rf"[^\s{SPACELESS}]+|[{SPACELESS}][{MARKS}]*")
"""What stands between spaces, with its signs; of scripts without spaces, each letter."""
IS_ALONE = re.compile(rf"[{SPACELESS}]")
"""A letter of a script without spaces."""
CHARACTERS_PER_TOKEN = 4.0
"""A rule of thumb for scripts with spaces; a letter of another script is about a token. A model's own are known to its server."""


def search_words(plain: str) -> Iterator[str]:
    """The words by which a text (see `plain_text`) is searched: tokens, and of letters without spaces each pair of neighbours.

    A letter that stands alone is itself a word: 藏药佐太 gives 藏药, 药佐 and 佐太.
    """
    previous, end, paired = "", -1, False
    for match in TOKEN.finditer(plain):
        word = match[0]
        if not IS_ALONE.match(word):
            if previous and not paired:
                yield previous
            previous, paired = "", False
            yield word
            continue
        if previous and match.start() == end:
            yield previous + word
            paired = True
        else:
            if previous and not paired:
                yield previous
            paired = False
        previous, end = word, match.end()
    if previous and not paired:
        yield previous


def estimated_tokens(text: str) -> int:
    """Roughly the tokens of a text for a model: a quarter of its characters, and one for each letter without spaces."""
    alone = 0 if text.isascii() else len(IS_ALONE.findall(text))
    return ceil((len(text) - alone) / CHARACTERS_PER_TOKEN) + alone
