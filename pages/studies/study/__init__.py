"""Studies: the page and its parts."""
