"""Agreement: the page and its parts."""
