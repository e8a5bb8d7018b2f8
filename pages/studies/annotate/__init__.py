"""Annotate: the page and its parts."""
