"""The four source papers: where the program departs from them, and how to have their way."""
