"""Answers in the words of one handbook."""
