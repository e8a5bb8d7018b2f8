"""Camps are named by what their handbooks say, and never by anything else."""

from audit.text.group_names import GroupName, as_written, group_names
from audit.text.quantity import find_quantities

JUDGE = ["One says to wait 3 months before travel, the other 12 months."]


def names(*groups, reasonings=()):
    return [name.text for name in group_names([list(group) for group in groups], list(reasonings))]


def test_a_camp_goes_by_the_value_it_holds_as_most_of_it_spells_it():
    short = ["Wait three months.", "Travel after 3 months.", "Wait 3 months before a flight."]
    long = ["Wait one year.", "Wait 12 months.", "You can travel after 12 months."]
    assert names(short, long) == ["3 months", "12 months"]


def test_a_value_that_both_camps_state_names_neither():
    first = ["Take it twice a day for 3 months.", "Twice a day, for 3 months."]
    second = ["Take it twice a day for 6 months.", "Every 12 hours for 6 months."]
    assert names(first, second) == ["3 months", "6 months"]


def test_the_kind_of_value_that_sets_all_camps_apart_is_preferred():
    first = ["Lift up to 10 pounds and wait 3 months."] * 2
    second = ["Wait 12 months."] * 2
    assert names(first, second) == ["3 months", "12 months"]


def test_a_value_that_only_one_camp_states_counts_if_the_judge_cites_it():
    silent_on_time = ["Wait until you are well."] * 2
    assert names(["Wait 3 months."] * 2, silent_on_time, reasonings=JUDGE)[0] == "3 months"
    assert group_names([["Wait 3 months."] * 2, silent_on_time])[0].basis == "letter"


def test_counts_are_named_with_what_they_count():
    assert names(["There are two types of the disease."], ["There are three main types."]) == ["two types", "three main types"]


def test_a_name_is_a_value_with_its_unit_and_never_a_part_of_a_range_or_a_bare_token():
    def written(text):
        return as_written(find_quantities(text)[0], [text])

    assert written("Symptoms start between the ages of 6 and 45.") == "between the ages of 6 and 45"
    assert written("The tenant must be given 7 days to pay.") == "7 days"
    assert written("A pause lasts a few seconds to minutes.") is None
    assert written("Take it daily.") is None


def test_failing_a_value_a_camp_goes_by_a_letter():
    assert group_names([["Rest well."], ["Rest well."]]) == [GroupName("Group A", "letter"), GroupName("Group B", "letter")]


def test_two_camps_never_share_a_name_and_no_camp_needs_none():
    both = ["zinc zinc"]
    assert len(set(names(both, both, both, reasonings=["zinc"]))) == 3
    assert group_names([]) == []


def test_camps_without_any_text_go_by_letters():
    assert names(["", ""], [""]) == ["Group A", "Group B"]
