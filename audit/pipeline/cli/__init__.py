"""Commands that make releases."""
