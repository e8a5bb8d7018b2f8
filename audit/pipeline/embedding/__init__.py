"""Texts as unit vectors: by a sentence model, or by shared words where no model is installed."""
