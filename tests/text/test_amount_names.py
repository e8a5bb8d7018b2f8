"""An amount is named as texts write it, with its unit, and never by a part of a range or a bare token."""

from audit.text.amount_names import as_written
from audit.text.quantity import find_quantities


def test_a_name_is_a_value_with_its_unit_and_never_a_part_of_a_range_or_a_bare_token():
    def written(text):
        return as_written(find_quantities(text)[0], [text])

    assert written("Symptoms start between the ages of 6 and 45.") == "between the ages of 6 and 45"
    assert written("The tenant must be given 7 days to pay.") == "7 days"
    assert written("A pause lasts a few seconds to minutes.") is None
    assert written("Attacks last from a few hours to several days.") is None
    assert written("Take it daily.") is None


def test_the_spelling_of_most_texts_is_taken_with_what_is_counted():
    texts = ["Wait three months.", "Wait 3 months.", "Travel after 3 months."]
    assert as_written(find_quantities(texts[0])[0], texts) == "3 months"
    assert as_written(find_quantities("There are two types of it.")[0], ["There are two types of it."]) == "two types"
