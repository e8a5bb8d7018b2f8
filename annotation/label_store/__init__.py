"""Where human work is kept: studies, assignments, ratings, decisions, theme edits and accounts, in SQLite or PostgreSQL.

No table here has a verdict of the judge, and no module here may import one; verdicts are in `annotation.studies.verdict_store`.
"""
