"""Topics: the page and its parts."""
