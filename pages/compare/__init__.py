"""Compare: the page and its parts."""
