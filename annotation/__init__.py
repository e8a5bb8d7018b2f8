"""Human labels: blinded studies, ratings and adjudication, agreement, and estimates for the entire run.

It may use `audit`; nothing in `audit` imports it.
"""
