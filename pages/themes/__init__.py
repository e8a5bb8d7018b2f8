"""Themes: the page and its parts."""
