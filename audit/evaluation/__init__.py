"""Evaluation of answering systems: criteria, composites, preferences. Frames and arrays in, numbers out."""
