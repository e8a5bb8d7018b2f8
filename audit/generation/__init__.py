"""Answers from handbooks: what one handbook says to one question, from retrieved passages. Never opens the store."""
