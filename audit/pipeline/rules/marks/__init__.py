"""Marks of statements: which sources make them, and which contradict them."""
