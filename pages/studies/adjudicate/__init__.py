"""Adjudicate: the page and its parts."""
