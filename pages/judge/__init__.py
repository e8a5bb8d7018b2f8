"""Judge: the page and its parts."""
