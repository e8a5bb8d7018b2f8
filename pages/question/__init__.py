"""Question: the page and its parts."""
