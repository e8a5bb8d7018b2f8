"""What the pages share.

loaders.py     the only caches: which runs there are, and metric(run, arguments) -> frame
url.py         the view lives in the address: reading and writing query parameters
pickers.py     the run picker and the filters, each kept in the address
page.py        `with page(title, lead) as run`: heading, empty state, synthetic notice, errors in one sentence
widgets.py     explain, how_counted, counts, chart, download, links to other pages
tables.py      tables with percentages and intervals, and rows that can be clicked
rates.py       the four rates, under the names that every page uses
words.py       untrusted text made safe for Markdown, a release's own terms
navigation.py  the menu
"""
