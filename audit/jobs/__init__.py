"""Background work: one row per job in a SQLite table, one process per running job.

Two kinds of work: judging the pairs of a run again, and building its themes.
"""
