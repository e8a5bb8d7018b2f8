"""What a page may stand on that shows no verdict: people, sessions, the frame, safe text. Nothing here can reach a run.

text.py      untrusted text made safe for Markdown
people.py    the label store, who is signed in, who may see what
cookie.py    the browser keeps the session's token
frame.py     heading and errors of the pages around studies
labelling/   the keyboard component of the Annotate page
"""
