"""Frame in, Plotly figure out. The only package that imports plotly; nothing here queries.

style.py     colours (colour-blind safe), label order, words, the common layout
names.py     handbooks by what tells them apart
bars.py      what was pre-screened, judged and unscored, and the labels of what was judged
rates.py     shares with their intervals: dots and lines
audit_rates.py  the four rates of the audit, their names and meanings
shares.py    label shares, one row per group, each column in the hue of its label
coverage.py  how much of each organ's questions each handbook leaves out; a click opens the handbook
profile.py   one handbook beside its peers
matrix.py    one question: handbook against handbook
transitions.py  two runs: what one says of each pair against what the other says
"""
