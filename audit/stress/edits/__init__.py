"""Rules that make a statement false by the smallest change: amount, unit, frequency, negation, direction."""
