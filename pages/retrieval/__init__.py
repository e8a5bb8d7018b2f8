"""Retrieval: the page and its parts."""
