"""Runs stress tests with a model, or with readers without a model, and parses the replies."""
