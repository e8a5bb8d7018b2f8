"""Comparison of two texts: quantities, negations, differing words, citations; the masking of names. Standard library only."""
