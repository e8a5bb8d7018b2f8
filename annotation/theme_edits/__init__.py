"""Curation: what people change about a taxonomy of themes, act by act, and the taxonomy that comes of it.

acts      an act, and what it changes
state     a taxonomy while acts are applied to it, one after another
replay    curated(taxonomy, acts): the curated taxonomy, and the conflicts; which acts an undo would pull away
record    the only module here that knows a database: an act is checked and written to the ledger
tables    every act as a frame, and as JSON lines
"""
