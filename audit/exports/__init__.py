"""Tables that leave the house: CSV that a spreadsheet cannot be tricked by, Markdown, and JSON with its provenance."""
