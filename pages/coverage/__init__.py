"""Coverage: the page and its parts."""
