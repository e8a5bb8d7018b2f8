"""Downloads: the page and its parts."""
