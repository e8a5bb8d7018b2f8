"""Handbook: one handbook's profile."""

from pages._shared.page import page

with page("{Handbook}", "One {handbook}'s profile."):
    pass
