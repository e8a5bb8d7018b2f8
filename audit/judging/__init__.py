"""The judge: what a language model, or plain rules, say of pairs of answers. Writes releases, never opens the store."""
