"""New questions, which are in no run: each handbook's answer, labels for all pairs, and one answer from all sources."""
