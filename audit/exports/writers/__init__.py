"""A table in each of the forms it leaves in: spreadsheets, LaTeX, Markdown, JSON and HTML."""
