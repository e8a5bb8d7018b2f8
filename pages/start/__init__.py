"""Start: the page and its parts."""
