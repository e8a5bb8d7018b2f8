"""Topics: rates per topic and subtopic."""

from pages._shared.page import page

with page("{Topics}", "Rates per {topic}."):
    pass
