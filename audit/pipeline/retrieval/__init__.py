"""Retrieval of the passages of a handbook that answer a question: HERO-QA and the baselines it is compared with."""
