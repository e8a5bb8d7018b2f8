"""Answer: the page and its parts."""
