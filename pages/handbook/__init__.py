"""Handbook: the page and its parts."""
