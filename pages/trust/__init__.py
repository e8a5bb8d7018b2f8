"""Trust in the judge: the page and its parts."""
