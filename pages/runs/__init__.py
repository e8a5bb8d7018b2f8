"""Runs: the page and its parts."""
