"""Disagreements: the page and its parts."""
