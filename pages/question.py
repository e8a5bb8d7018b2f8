"""Question: one question across all handbooks."""

from pages._shared.page import page

with page("Question", "One question across all {handbooks}."):
    pass
