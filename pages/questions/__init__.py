"""Questions: the page."""
