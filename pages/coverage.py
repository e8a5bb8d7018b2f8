"""Coverage: what each handbook leaves out."""

from pages._shared.page import page

with page("Coverage", "What each {handbook} leaves out."):
    pass
