"""Whether there is anything to read in a reply at all."""

from __future__ import annotations

from audit.llm.calls import ANSWERED, CUT, Reply
from audit.llm.objects import spoken

EMPTY, THINKING = "empty", "thinking only"


def fault_of(reply: Reply) -> str | None:
    """Why there is nothing to read: refused, failed, cut, empty, or thinking only; None where there is a text."""
    if reply.outcome not in (ANSWERED, CUT):
        return reply.outcome
    text = reply.text or ""
    thought = bool(reply.usage.get("reasoning_tokens") or reply.error) or "<think>" in text  # the client notes where it went
    if not spoken(text) or ("<think>" in text and "</think>" not in text):
        return THINKING if thought else CUT if reply.outcome == CUT else EMPTY
    return None
