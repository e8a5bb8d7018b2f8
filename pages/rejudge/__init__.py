"""Re-judge: the page and its parts."""
