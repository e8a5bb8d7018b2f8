"""Overview: what this run is, and its headline figures."""

from pages._shared.page import page

with page("Overview", "What this run holds."):
    pass
