"""A table of labelled items: who gave which label to which item, and how the items were sampled."""
