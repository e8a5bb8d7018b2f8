"""Sources: the page and its parts."""
