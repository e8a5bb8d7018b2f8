"""Glossary: the words of the audit in plain clinical English."""

from pages._shared.page import page

with page("Glossary", "One word, one meaning."):
    pass
