"""Ask: the page and its parts."""
