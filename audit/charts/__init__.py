"""Data frames in, Plotly figures out: the only package that imports plotly, and nothing in it queries a store."""
