"""Stress: the page and its parts."""
