"""Sign in: the page and its parts."""
