"""Statements of one handbook that do not agree."""
