"""People: the page and its parts."""
