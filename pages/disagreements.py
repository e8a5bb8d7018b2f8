"""Disagreements: the clinician's workbench."""

from pages._shared.page import page

with page("Disagreements", "Where {handbooks} disagree."):
    pass
