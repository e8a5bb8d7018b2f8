"""A model reads each answer once and merges the statements of all answers to a question into positions, which label pairs."""
