"""Frame in, Plotly figure out. The only package that imports plotly; nothing here queries.

style.py     colours (colour-blind safe), label order, words, the common layout
bars.py      label shares as one stacked bar per row
rates.py     shares with their intervals: dots and lines
coverage.py  the handbook x question-organ absence heatmap, clickable
"""
