"""Protocol: the page and its parts."""
