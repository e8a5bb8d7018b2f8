"""A model reads each answer once and merges what the answers to a question state into positions, of which pair labels follow."""
