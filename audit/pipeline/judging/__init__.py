"""Judging of answer pairs by a language model or by rules. Writes releases and never opens the store."""
