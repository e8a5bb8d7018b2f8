"""Labels of pairs of answers."""
