"""My items: the page and its parts."""
