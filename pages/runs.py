"""Runs: what is loaded, and the load report."""

from pages._shared.page import page

with page("Runs", "Every loaded run and what the loader had to say."):
    pass
