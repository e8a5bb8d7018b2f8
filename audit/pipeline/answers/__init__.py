"""An answer: its evidence, its citations, its record, and whether it can be read."""
