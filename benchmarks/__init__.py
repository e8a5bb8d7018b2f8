"""Side-by-side measurements: each prints ratios of CPU seconds taken in one run."""
