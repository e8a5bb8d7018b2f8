"""The validation tables and figures of a study, as a part of an export. For PIs only: they contain the judge's labels."""
