"""The keyboard component of the Annotate page.

board.py, board.js, board.css  what the browser draws, and the keys
desk.py                        what the server does with the keys: every event names its item, and counts once
rubric.py                      the rubric of the protocol as the component shows it
"""
