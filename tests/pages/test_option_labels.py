"""Two options never have one label: the browser reports a choice by its label, and the first of two would always be chosen."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from pages._blinded.option_labels import distinct_labels


def test_a_name_that_two_options_have_is_followed_by_their_ids():
    names = {"q1": "May I swim?", "q2": "May I fly?", "q3": "May I swim?"}
    label = distinct_labels(names, names.__getitem__)
    assert [label(option) for option in names] == ["May I swim? (q1)", "May I fly?", "May I swim? (q3)"]


def test_a_number_stands_where_ids_must_not_be_seen():
    label = distinct_labels(["biased-judge", "control"], lambda _: "Round two", numbered=True)
    assert [label("biased-judge"), label("control")] == ["Round two (1)", "Round two (2)"]


def test_an_option_of_another_run_is_called_as_before():
    assert distinct_labels(["a"], str.upper)("left over") == "LEFT OVER"


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine draws the first ones slowly
@given(st.lists(st.sampled_from(["A", "A (1)", "A (a)", "a", "a (1)", "b", ""]), unique=True), st.booleans())
def test_no_two_labels_are_equal(options: list[str], numbered: bool):
    label = distinct_labels(options, lambda option: option.upper()[:3], numbered=numbered)
    assert len({label(option) for option in options}) == len(options)


def page() -> None:
    import streamlit

    from pages._shared.pickers import named_by, pick_one

    names = {"q1": "May I swim?", "q2": "May I swim?"}
    streamlit.write(pick_one("Question", list(names), "question", default="q1", format_func=named_by(names)))


def test_the_second_of_two_questions_with_the_same_words_can_be_chosen():
    app = AppTest.from_function(page).run()
    assert app.selectbox[0].options == ["May I swim? (q1)", "May I swim? (q2)"]
    app.selectbox[0].select("q2").run()
    assert app.markdown[0].value == "q2"
