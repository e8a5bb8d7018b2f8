"""As read: the page and its parts."""
