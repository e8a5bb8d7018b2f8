"""Prevalence: the page and its parts."""
