"""Theme edits: people's changes of a taxonomy of themes, and the curated taxonomy that results.

Edits are replayed instead of storing the result, so they survive a rebuilt taxonomy: what still fits is applied, the rest is
listed as a conflict.
"""
