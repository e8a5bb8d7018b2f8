"""Answers from handbooks: what one handbook answers to one question, from retrieved passages. Never opens the store."""
