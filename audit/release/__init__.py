"""The release format: the only reader and writer of release files (data/README.md is its data card)."""
