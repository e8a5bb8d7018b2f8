"""The store: one read-only DuckDB file per loaded run, named by the digest of its release.

schema.sql      every table on one page
connection.py   the only home of `duckdb`: open, cursor, fetch
runs.py         which runs there are, and the one a person means
ingest.py       release files -> a new store file, which appears complete or not at all
"""
