"""The validation tables and figures of a study, for an export. For a PI: they hold the judge's labels."""
