"""A run next to published figures, which stand in figures.csv."""
