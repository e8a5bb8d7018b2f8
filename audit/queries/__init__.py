"""Look-ups in a run for pages and metrics: its questions and handbooks, one answer, one pair, its taxonomy."""
