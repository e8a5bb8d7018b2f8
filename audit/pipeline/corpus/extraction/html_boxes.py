"""Boxes beside or below each other as the items of what introduces them: "Call us if you notice:" above three cards."""

from __future__ import annotations

from typing import Any

from audit.pipeline.corpus.extraction.html_controls import HEADING_TAGS, leads_away
from audit.pipeline.corpus.extraction.html_text import INLINE, text_of

# Characters of a box, and boxes of one kind
MAX_BOX, MIN_BOXES = 200, 2
BOXES = ("div", "section", "article")
# What has a structure of its own
OTHERS = ("ul", "ol", "dl", "table", "pre", "details", "form", *HEADING_TAGS)


def list_boxes(content: Any) -> None:
    """What holds boxes of one kind and nothing else, right below a line that ends with a colon, is its list."""
    for parent in list(content.iter(*BOXES)):
        lead = parent.getprevious()
        if lead is None or lead.tag in OTHERS or (lead.tail or "").strip() or not text_of(lead).endswith(":"):
            continue
        boxes = list(parent)
        if _are_alike(parent, boxes) and all(_is_item(box) for box in boxes):
            parent.tag = "ul"
            for box in boxes:
                box.tag = "li"


def _are_alike(parent: Any, boxes: list[Any]) -> bool:
    kinds = {(box.tag, box.get("class")) for box in boxes}
    between = "".join((parent.text or "", *(box.tail or "" for box in boxes)))
    return len(boxes) >= MIN_BOXES and len(kinds) == 1 and boxes[0].tag in BOXES and not between.strip()


def _is_item(box: Any) -> bool:
    inside = list(box.iterdescendants())
    plain = all(part.tag in (*INLINE, "br", "p", "div") and not leads_away(part) for part in inside)
    return plain and 0 < len(text_of(box)) <= MAX_BOX
