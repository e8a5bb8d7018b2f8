"""Writes the answers of handbooks to questions, from retrieved passages. Never opens the store."""
