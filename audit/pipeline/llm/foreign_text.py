"""Texts of others as a prompt shows them: no tag is closed in them, no turn of a conversation begins, and nothing is unseen."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from audit.text.blinding import HIDDEN_CONTACT, HIDDEN_NAME, HIDDEN_SOURCE

LINE_MARK = "¦ "
"""Before a line that could be taken for a heading or for the name of a speaker; left out again where a reply quotes it."""

# What a tokenizer reads and a person does not see: Default_Ignorable_Code_Point of Unicode (tags, joiners, marks of direction)
UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
NOT_LATIN = re.compile(r"[^\x00-\xff]")
SAME_LETTER = frozenset({"<wide>", "<small>", "<font>"})
"""Decompositions of Unicode that change how a sign looks only; raised digits and fractions are other amounts and stay."""
# `<` before a number is a comparison and stays, unless a tag could end behind it. Any other may open one (<|im_end|>, </think>).
TAG = re.compile(r"<(?!\s{0,3}=?\s{0,3}\d)|<(?=[^<>\n]{1,60}>)")
# One word in brackets ([INST], [/tool_results]): some models take these for the start of a turn. Numbers of passages stay, and
# what stands for a hidden name.
HIDDEN = "|".join(map(re.escape, (HIDDEN_NAME, HIDDEN_CONTACT, HIDDEN_SOURCE)))
TURN = re.compile(rf"(?!{HIDDEN})\[([ \t]{{0,3}}/?[ \t]{{0,3}}[^\W\d]{{2,30}}[ \t]{{0,3}})\]")
# A heading, or one or two words and a colon, as speakers are named: `### Instruction`, `User:`, `**System prompt**:`
SPEAKER = re.compile(r"^(?=[ \t]{0,8}(?:#|[^\w\n]{0,8}[^\W\d_]{3,30}(?: [^\W\d_]{3,30})?[^\w\n:]{0,8}:))", re.MULTILINE)


@lru_cache(4096)  # an answer appears in one prompt for each answer that it is compared with
def escaped(text: str) -> str:
    """The text without anything that could close its tag or open a turn of the conversation; `<` before a number stays."""
    text = UNSEEN.sub("", CONTROL.sub(" ", text.replace("\r\n", "\n")))
    text = NOT_LATIN.sub(lambda sign: _plain(sign[0]), text)
    return SPEAKER.sub(LINE_MARK, TURN.sub(r"(\1)", TAG.sub("‹", text))).strip()


@lru_cache(4096)
def _plain(sign: str) -> str:
    """A full-width, small or mathematical form as the sign that it is a form of; any other as it is."""
    form = unicodedata.decomposition(sign).partition(" ")[0]
    return unicodedata.normalize("NFKC", sign) if form in SAME_LETTER else sign
