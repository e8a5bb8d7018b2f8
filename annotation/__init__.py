"""The human side: what people say of a sample of pairs, how far they agree, and what that says of the whole run."""
