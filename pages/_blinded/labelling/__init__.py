"""Labelling by keyboard: the widget in the browser, the labelling session on the server, and the rubric between them."""
