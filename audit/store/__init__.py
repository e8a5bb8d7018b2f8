"""The store: one read-only DuckDB file per loaded run, rebuilt from release files at any time."""
