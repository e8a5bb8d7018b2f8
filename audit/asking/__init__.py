"""A question that no run has: what each handbook of a run says to it, how they relate, and one answer of all of them."""
