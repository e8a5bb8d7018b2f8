"""My account: the page and its parts."""
