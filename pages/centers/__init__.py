"""Centers: the page and its parts."""
