"""The human side: blinded studies, ratings and adjudication, how far people agree, and what that means for the whole run.

It may use `audit`; nothing in `audit` imports it.
"""
