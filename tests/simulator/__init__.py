"""The policy simulator: a synthetic release whose true relations are known (nothing in it is medical advice).

It wrote the demo that ships (data/demo), writes the demo at the published size for the benchmarks, and is the known truth that
metrics are tested against. `python -m tests.simulator --help` says how to run it.
"""
