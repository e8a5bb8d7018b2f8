"""About: the page and its parts."""
