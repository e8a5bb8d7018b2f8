"""Theme: the page and its parts."""
