"""Sections on other subjects: a handbook needs some length, so that its words differ in how rare they are."""

from __future__ import annotations

OTHER_SUBJECTS = {
    "Travel": "Tell the clinic before you go abroad. Carry a letter that lists your medicines in your hand luggage.",
    "Teeth": "See a dentist twice a year. Brush in the morning and at night with a soft brush.",
    "Visitors": "Friends may come between noon and eight. Children under twelve come with an adult.",
    "Sun": "Wear a hat and cover your arms. Use sun cream with a factor of at least thirty.",
    "Pets": "Let somebody else clean the cage of a bird. Wash your hands when you have stroked a dog.",
    "Moods": "Many people feel low in the first weeks. The psychologist on the ward is there for you and your family.",
    "Money": "The social worker helps with forms for sick pay. Keep every bill in one folder.",
    "Sleep": "A dark and quiet room helps. Leave screens in another room for the last hour of the day.",
    "Garden": "Wear gloves when you touch soil. Leave compost heaps to others.",
    "Water": "Tap water in this country is safe. Boil the water of a private well for a minute.",
}
"""Heading -> text."""
