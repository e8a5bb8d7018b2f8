"""A new question that is not in any run: each handbook's answer, how the answers relate, and one answer from all of them."""
