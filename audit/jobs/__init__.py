"""Background work: one row per job in a SQLite table, one process per running job, and judging the pairs of a run again."""
