"""Putting stress tests to a model, or to readers without a model, and parsing the replies."""
