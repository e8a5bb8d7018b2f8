"""System answers: the page and its parts."""
