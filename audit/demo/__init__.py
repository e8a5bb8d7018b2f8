"""The policy simulator: a synthetic release whose true relations are known (nothing in it is medical advice)."""
