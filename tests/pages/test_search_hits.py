"""The words of a search in both answers, inside and across other marks."""

from audit.text.comparison import DifferenceKind
from pages._shared.search import hits_html, words_of
from pages._shared.side_by_side import mark_differences
from tests.pages.test_disagreements import html_on


def test_what_is_searched_for_is_marked_and_every_other_character_is_escaped():
    assert hits_html("<b>Fly</b> & fly", ["fly", "<b>"]) == (
        '<mark class="hit">&lt;b&gt;Fly</mark>&lt;/b&gt; &amp; <mark class="hit">fly</mark>'
    )
    assert hits_html("<i>", ()) == "&lt;i&gt;"


def test_a_hit_may_begin_before_another_mark_and_end_inside_it():
    left, _ = mark_differences("wait 3 months", "wait", [DifferenceKind.NUMBER], ["it 3"])
    assert left.startswith('wa<mark class="hit">it </mark><mark class="number"')
    assert left.endswith('><mark class="hit">3</mark> months</mark>')


def test_words_are_taken_once_and_only_the_first_few():
    assert words_of(" fly  fly swim ") == ("fly", "swim")
    assert len(words_of(" ".join(map(str, range(20))))) == 8


def test_the_opened_pair_shows_the_words_in_question_verdict_and_answers(run, open_page):
    shown = html_on(open_page("disagreements", words="about handbook topic against", list="pairs"))
    for hit in ("about", "Handbook", "topic", "against"):
        assert f'<mark class="hit">{hit}</mark>' in shown
    assert 'class="hit"' not in html_on(open_page("disagreements", list="pairs"))
