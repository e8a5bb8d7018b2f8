"""Centers: rates per center."""

from pages._shared.page import page

with page("{Centers}", "Rates per {center}."):
    pass
