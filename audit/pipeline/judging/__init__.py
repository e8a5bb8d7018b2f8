"""Judging of answer pairs by a language model, or from the truth table of an example. Writes releases and never opens the store."""
