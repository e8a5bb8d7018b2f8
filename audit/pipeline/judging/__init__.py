"""Judging of answer pairs by a language model, or from the truth table of an example; writes releases, never opens the store."""
