"""Comparison of two texts: quantities, negations, differing words, citations and masked names. Standard library only."""
