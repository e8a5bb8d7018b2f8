"""What `benchmarks.annotate` measures with.

office.py    a server, a study, and ratings that are stored already
served.py    the server, with a stopwatch at the script run and at the label store
wire.py      annotators without a browser: Streamlit's own protocol over websockets
keyboard.py  annotators with a browser: keys, and the page's own clock
bare.py      a labelling page of 40 lines to compare with
"""
