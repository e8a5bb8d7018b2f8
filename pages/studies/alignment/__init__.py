"""The page Alignment: the judge's prompt improved from a study's labels, and proved on the others."""
