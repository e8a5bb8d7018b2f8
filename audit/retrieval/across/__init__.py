"""One question to several sources: which source to ask for how many passages, and the evidence that is left of them."""
