"""Sign out: the page and its parts."""
