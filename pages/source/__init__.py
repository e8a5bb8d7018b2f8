"""Source: the page and its parts."""
