"""Organs: the page and its parts."""
