"""What pages and metrics look up in a run: its questions and handbooks, one answer, one pair, its taxonomy."""
