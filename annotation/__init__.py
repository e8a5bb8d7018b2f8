"""The human side: blinded studies, ratings, adjudication and what they say of the judge. Nothing in `audit` imports it."""
