"""Themes: what the sources disagree about, as a taxonomy that is built once, stored and never recomputed.

`build.build_taxonomy` clusters phrases, `assign.assign` puts new ones into a taxonomy, `taxonomy.read_taxonomy` reads one.
Reading needs nothing beyond the base install; the heavy libraries of the extra `themes` are imported inside functions only.
"""
