"""Systems: the page and its parts."""
