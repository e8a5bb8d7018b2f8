"""Rules that make a statement false by a minimal change: amount, unit, frequency, negation, direction."""
